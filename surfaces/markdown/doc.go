// Package markdown turns Markdown and source code into lines of styled spans.
//
// It owns the styling by names of the theme, never a colour, and the wrapping by the
// width a screen measures. A Stream renders while text arrives and touches only the
// last block. All text comes out clean (see view.Clean), line by line.
//
// A link or image that is defined by a reference in another block is shown as it is
// written: blocks are rendered one by one.
package markdown
