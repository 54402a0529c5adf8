// Package view is the plain rows a screen reads: the roster of plugins and,
// with the screens that show them, models, sessions, processes and decisions.
//
// It owns shapes only; whoever has the data fills them.
package view
