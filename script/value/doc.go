// Package value carries data between Go and Starlark: copies, plain Go data,
// JSON, printing and read-only views of payloads.
//
// It owns the budgets of every such walk and never runs plugin code, never
// freezes a value a plugin made and never prints one with its own String, since
// sharing inside a value makes all three explode.
//
// Failure: an error names the path of the part that does not fit, such as
// "[2].x: a function cannot cross to another plugin". Blocking: nothing waits.
package value
