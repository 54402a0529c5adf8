// Package kit is what every part of the terminal draws with: theme, widths, cells,
// signs, keys and the shape of a part.
//
// Everything runs on the event loop and waits for nothing. Colours stand in the theme
// only; whatever else is drawn has a name of the theme.
package kit
