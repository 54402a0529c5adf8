// Package markdown turns Markdown and source code into lines of styled spans.
//
// It owns the styling by names of the theme, never a colour, and the wrapping by the
// width a screen measures. A Stream renders while text arrives and touches only the
// last block. All text comes out clean (see view.Clean), line by line.
//
// The parser is our own. It reads CommonMark with tables, tasks and strikethrough in
// time in proportion to the text, to a depth of 16. References are not resolved: a link
// that is defined elsewhere, and its definition, are shown as they are written.
package markdown
