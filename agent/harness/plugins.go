package harness

import (
	"fmt"
	"os"

	"starling/bus/compose"
	"starling/script"
	"starling/script/bind"
	"starling/script/discover"
)

// plugin is one file that was found: what could be read of it, and why not.
type plugin struct {
	file discover.File
	prog *script.Program // nil when it could not be read
	err  error
}

// read parses and resolves every file; it runs nothing.
func read(files []discover.File) []plugin {
	list := make([]plugin, len(files))
	for i, f := range files {
		list[i] = readOne(f)
	}
	return list
}

func readOne(f discover.File) plugin {
	pl := plugin{file: f, err: f.Err}
	if pl.err != nil {
		return pl
	}
	src, err := os.ReadFile(f.Path)
	if err != nil {
		pl.err = fmt.Errorf("plugin %s: %w", f.Name, err)
		return pl
	}
	if pl.prog, pl.err = script.Parse(f.Name, f.Path, src); pl.err != nil {
		return pl
	}
	pl.err = bind.Compile(pl.prog)
	return pl
}

// component of the file: a broken one is listed with its reason.
func (pl plugin) component(make func(*script.Program, discover.File) compose.Component) compose.Component {
	c := compose.Component{Name: pl.file.Name, Origin: string(pl.file.Origin), Position: pl.file.Position(), Off: pl.file.Off}
	if pl.prog != nil {
		c = make(pl.prog, pl.file)
	}
	if c.Broken == nil {
		c.Broken = pl.err
	}
	return c
}

// announced is every custom event some plugin declares.
func announced(plugins []plugin) map[string]bool {
	all := map[string]bool{}
	for _, pl := range plugins {
		if pl.prog == nil || pl.err != nil || pl.file.Off != "" {
			continue
		}
		for _, name := range pl.prog.Decl().Emits {
			all[name] = true
		}
	}
	return all
}
