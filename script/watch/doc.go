// Package watch turns changes of plugin folders into reload requests.
//
// It owns the quiet time and the rescan, never the reload itself.
package watch
