// Package markdown turns Markdown and source code into styled spans.
//
// It owns the styling by theme names, never a colour.
package markdown
