// Package prompt reads the texts the system prompt is made of: instruction
// files and skills.
//
// It owns texts and their order, never the decision when they are sent, and it
// opens nothing outside the folders it is given.
//
// Failure: a file that cannot be read, or only in part, is a notice; the rest
// counts.
//
// Blocking: reading waits for the file system, never for a pipe or a device.
package prompt
