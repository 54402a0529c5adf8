// Package panel draws the panels of plugins on a terminal and routes keys, pastes and
// the mouse to them.
//
// Layout is a pure function; a View draws one widget tree and keeps what it drew until
// the panel, its size or its looks change; a Manager owns which panel is where and who
// has the keys.
//
// Blocking: everything runs on the event loop and waits for nothing. A plugin's answer
// comes back through the queue the app gave.
package panel
