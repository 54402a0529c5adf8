//go:build unix && !linux && !darwin

package shell

import "os"

// processTable is empty: only the group of a command can be reached here.
func processTable() []entry { return nil }

// processesFrom leaves it to the whole table: nobody tells the newest number.
func processesFrom(int) ([]entry, bool) { return nil, false }

// pipeWriters finds nobody: the system does not tell who holds a pipe.
func pipeWriters() map[uint64][]int { return nil }

// nameOf knows no names here.
func nameOf(int) string { return "" }

// environOf reads nothing: here a process that left its session, its parent and the
// pipes is lost.
func environOf(int) []byte { return nil }

// startOf is not needed where no environment can be read.
func startOf(int) uint64 { return 0 }

// markFile makes no file: there is nobody who could read its name.
func markFile(string) *os.File { return nil }

func markFileOf(int) string { return "" }
