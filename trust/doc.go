// Package trust is the rules of what may be touched: now the path jail, through
// which every file of a workspace is opened.
//
// It owns rules and asks nobody. Failure: what it cannot tell to be allowed is
// refused with an error that says which path and why. Blocking: file calls
// block as the operating system does; devices and pipes are never opened for
// their content.
package trust
