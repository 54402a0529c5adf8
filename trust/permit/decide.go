package permit

// Decide tells what becomes of a call.
func Decide(c Call, p Policy, plugins Verdicts) Decision {
	return Decision{Effect: Ask, By: "mode " + string(p.Mode), Reasons: []string{c.Tool + " asks"}}
}
