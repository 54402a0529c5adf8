// Package surfaces is what plugins show: widget trees as plain data, and the
// machine of model, update and view that keeps each panel.
//
// It owns the shapes, their parser, the messages, and what the host keeps of a
// widget (mark, text, opened branches, focus). It never draws: surfaces/tui, the
// web page, headless output and tests read the same tree.
//
// Failure: a failing update keeps the model, a failing view or a malformed tree
// is shown inside its own panel, once per version. Neither harms another panel.
//
// Blocking: what a screen calls takes short locks that no plugin ever holds, and
// waits for nothing. Plugins run on one goroutine per panel that has work.
package surfaces
