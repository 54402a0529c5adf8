package permit

// Rules are what a person said about calls.
type Rules struct{}
