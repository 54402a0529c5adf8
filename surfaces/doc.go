// Package surfaces is the widget tree and the panels plugins draw with it.
//
// It owns plain data and the parsing of it, never a terminal.
package surfaces
