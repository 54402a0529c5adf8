package tui

import "starling/surfaces/tui/command"

// Driver is what a terminal session needs of the engine; it stands where the commands
// can see it.
type Driver = command.Driver
