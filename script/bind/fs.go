package bind

import (
	"fmt"
	"io/fs"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"starling/trust"
)

const (
	readLimit             = 8 << 20 // bytes: the length of the longest text
	filePerm  fs.FileMode = 0o644
)

// fsWord makes one word of the fs module; do runs outside the plugin's
// computing time.
func fsWord(name string, word trust.Kind, params []string, do func(p *Plugin, args []string) (starlark.Value, error)) builtin {
	return builtin{name: "fs." + name, run: func(p *Plugin, c *call, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := p.needs(word); err != nil {
			return nil, fmt.Errorf("fs.%s %w", name, err)
		}
		texts := make([]string, len(params))
		pairs := make([]any, 0, 2*len(params))
		for i := range params {
			pairs = append(pairs, params[i], &texts[i])
		}
		if err := starlark.UnpackArgs("fs."+name, args, kwargs, pairs...); err != nil {
			return nil, err
		}
		if err := p.allowsPath(word, texts[0]); err != nil {
			return nil, fmt.Errorf("fs.%s: %w", name, err)
		}
		var v starlark.Value
		var err error
		c.Host(func() { v, err = do(p, texts) })
		if err != nil {
			return nil, fmt.Errorf("fs.%s: %w", name, err)
		}
		return v, nil
	}}
}

func fsWords() []builtin {
	return []builtin{
		fsWord("read", trust.FSRead, []string{"path"}, func(p *Plugin, a []string) (starlark.Value, error) {
			data, err := p.host.Jail.ReadFile(a[0], readLimit)
			return starlark.String(data), err
		}),
		fsWord("exists", trust.FSRead, []string{"path"}, func(p *Plugin, a []string) (starlark.Value, error) {
			ok, err := p.host.Jail.Exists(a[0])
			return starlark.Bool(ok), err
		}),
		fsWord("list", trust.FSRead, []string{"path"}, func(p *Plugin, a []string) (starlark.Value, error) {
			entries, err := p.host.Jail.List(a[0])
			if err != nil {
				return nil, err
			}
			names := make([]starlark.Value, len(entries))
			for i, e := range entries {
				names[i] = starlark.String(e.Name())
			}
			return starlark.NewList(names), nil
		}),
		fsWord("stat", trust.FSRead, []string{"path"}, func(p *Plugin, a []string) (starlark.Value, error) {
			info, err := p.host.Jail.Stat(a[0])
			if err != nil {
				return nil, err
			}
			return starlarkstruct.FromStringDict(starlark.String("stat"), starlark.StringDict{
				"name":   starlark.String(info.Name()),
				"size":   starlark.MakeInt64(info.Size()),
				"is_dir": starlark.Bool(info.IsDir()),
				"mtime":  starlark.MakeInt64(info.ModTime().Unix()),
			}), nil
		}),
		fsWord("write", trust.FSWrite, []string{"path", "text"}, func(p *Plugin, a []string) (starlark.Value, error) {
			return starlark.None, p.host.Jail.WriteFile(a[0], []byte(a[1]), filePerm)
		}),
		fsWord("append", trust.FSWrite, []string{"path", "text"}, func(p *Plugin, a []string) (starlark.Value, error) {
			return starlark.None, p.host.Jail.Append(a[0], []byte(a[1]), filePerm)
		}),
		fsWord("remove", trust.FSWrite, []string{"path"}, func(p *Plugin, a []string) (starlark.Value, error) {
			return starlark.None, p.host.Jail.Remove(a[0])
		}),
	}
}
