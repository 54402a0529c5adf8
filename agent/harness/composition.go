package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"time"

	"starling/bus/compose"
	"starling/script"
	"starling/script/bind"
	"starling/script/discover"
	"starling/trust"
)

// plugin is one file that was found, as it was read: the bytes that are approved
// are the bytes that run.
type plugin struct {
	file    discover.File
	prog    *script.Program // nil when it could not be read
	err     error
	bundle  trust.Bundle
	realms  map[string]string // as plugins.json and the file say
	content trust.Digest      // of files and settings: another one is a replacement
	version trust.Digest      // of content, whether it is off, and realms
}

// runs tells whether nothing on disk speaks against running it.
func (pl plugin) runs() bool { return pl.err == nil && pl.file.Off == "" }

// composition is everything on disk that decides which plugins run and how, read
// at one moment.
type composition struct {
	plugins  []plugin
	settings discover.Settings
	notices  []string
	faults   []error // of configuration files; what they name does not apply
	skipped  int     // workspace files that nobody approved
	digest   trust.Digest
	units    []unit // what of the workspace needs approval, with the answers
}

// unit is one thing of a workspace that needs approval.
type unit struct {
	name    string // as in the trust store
	path    string
	bundle  trust.Bundle
	plugin  *plugin // nil for a configuration file
	verdict trust.Verdict
}

// source reads compositions. Files are read once a composition.
type source struct {
	options Options
	store   *trust.Store
	// trusted are the units that counted at the first reading: with --trust-edits
	// their edits do too. nil before it.
	trusted map[string]bool
	// edits are the units whose edits a person trusts in this session.
	edits map[string]bool
	// last are the plugins of the latest reading, by path: what did not change
	// since is not parsed again.
	last map[string]plugin
	// left is what the latest reading found on the disk.
	left footprint
}

func (s *source) find(approved func(discover.File) bool) discover.Options {
	return discover.Options{
		Home: s.options.Home, Workspace: s.options.Workspace, Cwd: s.options.Cwd,
		Flags: s.options.Plugins, Discover: !s.options.NoPlugins, Approved: approved,
	}
}

// read reads the composition as it stands on disk. An error means that a plugin
// folder could not be listed.
func (s *source) read() (composition, error) {
	s.left = footprint{}
	began := time.Now()          // of the files' clock, not of what plugins see
	files := map[string]plugin{} // by path, so that every pass sees one content
	seen, units, err := s.units(files)
	if err != nil {
		return composition{}, err
	}
	digest := digestOf(units)
	verdictOf := s.verdicts(units, digest)
	o := s.find(func(f discover.File) bool {
		return verdictOf(trust.PluginUnit(f.Name), s.load(files, f).bundle) == trust.Approved
	})
	if seen == nil {
		if seen, err = s.look(o, func(name string, b trust.Bundle) bool { return verdictOf(name, b) == trust.Approved }); err != nil {
			return composition{}, err
		}
	}
	c := composition{digest: digest, units: units, settings: seen.settings}
	joined, faults := c.settings.Join(o, seen.found)
	c.notices = joined.Notices
	for _, u := range c.settings.Units {
		if !u.Applied {
			c.skipped++
		}
	}
	for _, u := range units {
		if u.name == trust.UnitText && u.verdict != trust.Approved {
			c.notices = append(c.notices, "the commands of this workspace (.starling/commands) are left out: not approved; starling plugin trust asks about them")
		}
	}
	c.faults = append(append(c.faults, c.settings.Errors...), faults...)
	for _, f := range joined.Files {
		pl := s.load(files, f)
		pl.file = f
		if f.Err != nil {
			pl.err = f.Err
		}
		if f.Off == discover.NotApproved {
			c.skipped++
			if verdictOf(trust.PluginUnit(f.Name), pl.bundle) == trust.Refused {
				pl.file.Off = string(trust.Refused)
			}
		}
		if pl.err == nil && f.Origin == discover.Workspace && pl.prog != nil {
			pl.err = raised(pl.prog)
		}
		pl.finish(c.settings)
		c.plugins = append(c.plugins, pl)
	}
	s.last = files
	s.left = s.footprint(began, c)
	return c, nil
}

// verdicts gives every unit its verdict, and returns what tells that of a unit with these
// bytes. What the first reading approves is what --trust-edits is about.
func (s *source) verdicts(units []unit, whole trust.Digest) func(name string, b trust.Bundle) trust.Verdict {
	given := map[string]trust.Verdict{}
	trusted := map[string]bool{}
	for i, u := range units {
		v := s.verdict(u, whole)
		units[i].verdict = v
		given[u.name+"\x00"+string(u.bundle.Digest())] = v
		trusted[u.name] = v == trust.Approved
	}
	if s.trusted == nil {
		s.trusted = trusted
	}
	return func(name string, b trust.Bundle) trust.Verdict { return given[name+"\x00"+string(b.Digest())] }
}

// raised refuses limits that only home and --plugin files may set.
func raised(p *script.Program) error {
	if names := p.Decl().Limits.Raised(); len(names) > 0 {
		return fmt.Errorf("%s: limits: a plugin of a workspace may lower limits, not raise or switch off %v", p.Path(), names)
	}
	return nil
}

// finish works out the realms and the digests.
func (pl *plugin) finish(settings discover.Settings) {
	name := pl.file.Name
	var declared map[string]string
	if pl.prog != nil {
		declared = pl.prog.Decl().Isolate
	}
	pl.realms = settings.Rows[name].Realms(declared)
	b := trust.Bundle{"config": fmt.Appendf(nil, "%#v", settings.Config(name))}
	for file, data := range pl.bundle {
		b["file/"+file] = data
	}
	pl.content = b.Digest()
	pl.version = trust.Bundle{
		"content": []byte(pl.content), "off": []byte(pl.file.Off), "realms": fmt.Appendf(nil, "%#v", pl.realms),
	}.Digest()
}

// looked is what one look at the folders found.
type looked struct {
	found    discover.Found
	settings discover.Settings
}

// look lists the plugins and reads the settings; approved says which of the
// workspace's count.
func (s *source) look(o discover.Options, approved func(unit string, b trust.Bundle) bool) (*looked, error) {
	found, err := discover.Find(o)
	if err != nil {
		return nil, err
	}
	if s.options.NoPlugins {
		// --plugin files keep their settings.
		o = discover.Options{Home: s.options.Home}
	}
	return &looked{found, discover.ReadSettings(o, approved)}, nil
}

// units lists what of the workspace needs approval, approving nothing. Where there
// are no such plugins and settings the look is returned too: a second one, with what
// was approved, would find the same.
func (s *source) units(files map[string]plugin) (*looked, []unit, error) {
	if s.options.NoPlugins {
		return nil, nil, nil
	}
	o := s.find(nil)
	var units []unit
	l, err := s.look(o, func(name string, b trust.Bundle) bool {
		units = append(units, unit{name: name, bundle: b})
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	for i, u := range l.settings.Units {
		units[i].path = u.Path
	}
	joined, _ := l.settings.Join(o, l.found) // faults are told by the pass that counts
	seen := map[string]bool{}
	for _, list := range [][]discover.File{l.found.Files, joined.Files} {
		for _, f := range list {
			if f.Origin != discover.Workspace || seen[f.Name+"\x00"+f.Real] {
				continue
			}
			seen[f.Name+"\x00"+f.Real] = true
			pl := s.load(files, f)
			pl.file = f
			units = append(units, unit{name: trust.PluginUnit(f.Name), path: f.Path, bundle: pl.bundle, plugin: &pl})
		}
	}
	if len(units) > 0 {
		l = nil
	}
	if text, ok := s.textUnit(); ok {
		units = append(units, text)
	}
	sort.SliceStable(units, func(i, j int) bool { return units[i].name < units[j].name })
	return l, units, nil
}

// digestOf is the fingerprint of everything a workspace brings.
func digestOf(units []unit) trust.Digest {
	all := trust.Bundle{}
	for _, u := range units {
		for name, data := range u.bundle {
			all[u.name+"/"+name] = data
		}
	}
	return all.Digest()
}

// verdict says whether a unit counts: by a flag of this run, else by the answers
// of the person.
func (s *source) verdict(u unit, whole trust.Digest) trust.Verdict {
	switch o := s.options; {
	case o.TrustPlugins, o.TrustDigest != "" && o.TrustDigest == whole:
		return trust.Approved
	case o.TrustEdits && s.trusted[u.name], s.edits[u.name]:
		return trust.Approved
	case s.store == nil:
		return trust.Unknown
	}
	return s.store.Decide(s.options.Workspace, u.name, u.bundle.Digest()).Verdict
}

// load reads, parses and resolves one plugin; it runs nothing.
func (s *source) load(files map[string]plugin, f discover.File) plugin {
	if pl, ok := files[f.Path]; ok {
		return pl
	}
	pl, same := s.unchanged(f)
	if !same {
		pl = parse(f, diskReader(f))
	}
	files[f.Path] = pl
	return pl
}

// unchanged returns the plugin as it was read before if every file of it still
// has the same content.
func (s *source) unchanged(f discover.File) (plugin, bool) {
	pl, ok := s.last[f.Path]
	if !ok || pl.err != nil || pl.prog == nil || pl.file.Name != f.Name || pl.file.Dir != f.Dir {
		return plugin{}, false
	}
	read := diskReader(f)
	for name, had := range pl.bundle {
		if data, err := read(name); err != nil || !bytes.Equal(data, had) {
			return plugin{}, false
		}
	}
	pl.file = f
	return pl, true
}

// reader returns the bytes of a file of a plugin, by its name in the plugin's
// folder.
type reader func(name string) ([]byte, error)

// diskReader reads regular files of at most 1 MiB: of a directory plugin those
// below its folder, out of which no link leads; of a single file itself.
func diskReader(f discover.File) reader {
	return func(name string) ([]byte, error) {
		if name == filepath.Base(f.Path) {
			return discover.ReadSource(f.Path)
		}
		folder, err := trust.NewJail(f.Dir)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		data, err := folder.ReadFile(filepath.FromSlash(name), discover.SourceLimit)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("there is no file %s in %s", name, f.Dir)
		}
		return data, err
	}
}

// memoryReader reads what was read before.
func memoryReader(b trust.Bundle) reader {
	return func(name string) ([]byte, error) {
		if data, ok := b[name]; ok {
			return data, nil
		}
		return nil, fmt.Errorf("there was no file %s", name)
	}
}

func parse(f discover.File, read reader) plugin {
	pl := plugin{file: f, bundle: trust.Bundle{}}
	main := filepath.Base(f.Path)
	src, err := read(main)
	if err != nil {
		if f.Err == nil {
			pl.err = fmt.Errorf("plugin %s: %w", f.Name, err)
		}
		return pl
	}
	pl.bundle[main] = src
	if pl.prog, pl.err = script.Parse(f.Name, f.Path, src); pl.err != nil {
		return pl
	}
	if len(pl.prog.Loads()) > 0 && f.Dir != "" {
		pl.err = pl.prog.Link(func(name string) ([]byte, error) {
			data, err := read(name)
			if err == nil {
				pl.bundle[name] = data
			}
			return data, err
		})
		if pl.err != nil {
			return pl
		}
	}
	pl.err = bind.Compile(pl.prog)
	return pl
}

// declaredClosed finds fail_closed in a file that cannot be read as a plugin,
// anywhere in a line that is no comment.
var declaredClosed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`fail_closed\s*=([^=\r\n][^\r\n]*|[\r\n]|$)`)
})

// failClosed tells whether the absence of the plugin refuses what it guards. Of a
// file that cannot be parsed, every other value than False counts: who wrote the
// line wanted a guard.
func (pl plugin) failClosed() bool {
	if pl.prog != nil {
		return pl.prog.Decl().FailClosed
	}
	// An editor that saves UTF-16 puts a NUL beside each letter.
	source := bytes.ReplaceAll(pl.bundle[filepath.Base(pl.file.Path)], []byte{0}, nil)
	for _, at := range declaredClosed().FindAllSubmatchIndex(source, -1) {
		before := source[bytes.LastIndexAny(source[:at[0]], "\r\n")+1 : at[0]]
		if bytes.HasPrefix(bytes.TrimSpace(before), []byte("#")) {
			continue
		}
		if !bytes.HasPrefix(bytes.TrimSpace(source[at[2]:at[3]]), []byte("False")) {
			return true
		}
	}
	return false
}

// component of the plugin: a broken one is listed with its reason.
func (pl plugin) component(binder *bind.Binder, config map[string]any) compose.Component {
	c := compose.Component{Name: pl.file.Name, Origin: string(pl.file.Origin), Position: pl.file.Position(), Off: pl.file.Off}
	if pl.prog != nil {
		c = binder.Component(pl.prog, pl.file, bind.Settings{Config: config, Realms: pl.realms})
	}
	c.Version, c.Path = string(pl.content), pl.file.Path
	if pl.prog != nil {
		c.Description = strings.Join(strings.Fields(pl.prog.Decl().Doc), " ")
	}
	if c.Broken == nil {
		c.Broken = pl.err
	}
	return c
}

// announced is every custom event some plugin that may run declares.
func (c composition) announced() map[string]bool {
	all := map[string]bool{}
	for _, pl := range c.plugins {
		if pl.prog == nil || pl.err != nil || pl.file.Off != "" {
			continue
		}
		for _, name := range pl.prog.Decl().Emits {
			all[name] = true
		}
	}
	return all
}
