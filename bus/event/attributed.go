package event

// Attributed is a Run that can act in somebody's name. A bridge that hands cx to
// a plugin hands on what As returns, so that a limit the plugin runs into can
// name it. Run handles of the loop are Attributed.
type Attributed interface {
	Run
	// As returns the same run; what is asked through it is asked by plugin.
	As(plugin string) Run
}
