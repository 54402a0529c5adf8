package cli

import ucli "github.com/urfave/cli/v2"

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

func (n named) Names() []string { return n.names }

// namedList is the same of a list: what commas mean reaches only this type.
type namedList struct {
	*ucli.StringSliceFlag
	names []string
}

func (n namedList) Names() []string { return n.names }

// remember makes flags named ones.
func remember(flags []ucli.Flag) {
	for i, f := range flags {
		switch f := f.(type) {
		case *ucli.StringSliceFlag:
			flags[i] = namedList{f, f.Names()}
		case flag:
			flags[i] = named{f, f.Names()}
		}
	}
}
