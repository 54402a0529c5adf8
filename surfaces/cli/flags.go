package cli

import (
	"sync"

	ucli "github.com/urfave/cli/v2"
)

// flag is every interface the flags of urfave/cli have.
type flag interface {
	ucli.ActionableFlag
	ucli.CategorizableFlag
	ucli.DocGenerationFlag
	ucli.RequiredFlag
}

// named is a flag that knows its names. The library works them out with a regular
// expression at each look, thousands of times for one command line.
type named struct {
	flag
	names []string
}

func (n *named) Names() []string { return n.names }

// namedList is the same of a list: what commas mean reaches only this type.
type namedList struct {
	*ucli.StringSliceFlag
	names []string
}

func (n *namedList) Names() []string { return n.names }

// remember makes flags named ones. The types are named, since a start would look up
// at run time which of them are a flag.
func remember(flags []ucli.Flag) {
	for i, f := range flags {
		switch f := f.(type) {
		case *ucli.StringSliceFlag:
			flags[i] = &namedList{f, names(f.Name, f.Aliases)}
		case *ucli.StringFlag:
			flags[i] = &named{f, names(f.Name, f.Aliases)}
		case *ucli.BoolFlag:
			flags[i] = &named{f, names(f.Name, f.Aliases)}
		case *ucli.IntFlag:
			flags[i] = &named{f, names(f.Name, f.Aliases)}
		case *ucli.Float64Flag:
			flags[i] = &named{f, names(f.Name, f.Aliases)}
		case *ucli.DurationFlag:
			flags[i] = &named{f, names(f.Name, f.Aliases)}
		}
	}
}

// rememberAdded does the same for the two flags that the library adds.
var rememberAdded = sync.OnceFunc(func() {
	added := []ucli.Flag{ucli.HelpFlag, ucli.VersionFlag}
	remember(added)
	ucli.HelpFlag, ucli.VersionFlag = added[0], added[1]
})

func names(name string, aliases []string) []string { return append([]string{name}, aliases...) }
