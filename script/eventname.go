package script

// CheckEventName tells whether name can be the name of a custom event.
func CheckEventName(name string) error { return checkEmits(name) }
