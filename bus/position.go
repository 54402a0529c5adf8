package bus

import "encoding/binary"

// Class is the first part of the static order: whose component it is.
type Class byte

// The classes, in the order in which their listeners run.
const (
	ClassHost      Class = 1 + iota // the program's own guards and registries
	ClassEmbedded                   // Go components of an embedding program
	ClassHome                       // plugins of the home
	ClassWorkspace                  // plugins of the workspace
	ClassFlag                       // files named with --plugin
	ClassLast                       // host components a plugin may take the place of
)

// Position is a place in the static order. Positions compare with < and never
// depend on the order in which things happened to load.
type Position string

// At gives the position of a top-level component: by class, then by index
// (mount order or argument order; 0 where names decide), then by name.
func At(class Class, index int, name string) Position {
	b := make([]byte, 0, 6+len(name))
	b = append(b, byte(class))
	b = binary.BigEndian.AppendUint32(b, uint32(index))
	b = append(b, name...)
	return Position(append(b, 0))
}

// Child gives the position of the i-th child: behind its parent, before the
// parent's next sibling.
func (p Position) Child(i int) Position {
	return Position(binary.BigEndian.AppendUint32([]byte(p), uint32(i)))
}
