package trust

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"
)

// NeedsError is the refusal of something no word allows. It names the narrowest
// word that would.
type NeedsError struct{ Word string }

func (e *NeedsError) Error() string { return fmt.Sprintf("needs %q in uses", e.Word) }

// needs names the word of that kind and scope; without the scope where such a
// word could not be written.
func needs(k Kind, scope string) error {
	if scope != "" && !k.takes(scope) {
		scope = ""
	}
	return &NeedsError{Word: Word{Kind: k, Scope: scope}.String()}
}

// Folders are where the scopes of a path word start. Both are absolute; where
// checked paths have their links resolved, so must these.
type Folders struct {
	Workspace string
	Home      string // of the person, what "~/" stands for; "" for none
}

// Abs returns the absolute form of a path a plugin named: relative to the
// workspace, "~/" in the home, or absolute. It is cleaned as text; links are
// the caller's.
func (f Folders) Abs(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("path is empty: name a file")
	case strings.IndexByte(name, 0) >= 0:
		return "", fmt.Errorf("path %q holds a zero byte", name)
	case name == "~" || strings.HasPrefix(name, "~/"):
		if f.Home == "" {
			return "", fmt.Errorf("path %q: there is no home folder", name)
		}
		return path.Join(f.Home, name[1:]), nil
	case strings.HasPrefix(name, "/"):
		return path.Clean(name), nil
	}
	return path.Join(f.Workspace, name), nil
}

// AllowsRead tells whether a file may be read or a folder listed; the error
// names the word to add. It judges names: the caller resolves links first, or
// opens below Word.Root, so that no link leads from an allowed name to another.
func (w Words) AllowsRead(at Folders, name string) error { return w.allowsPath(FSRead, at, name) }

// AllowsWrite tells whether a file may be written or removed, as AllowsRead.
func (w Words) AllowsWrite(at Folders, name string) error { return w.allowsPath(FSWrite, at, name) }

func (w Words) allowsPath(k Kind, at Folders, name string) error {
	abs, err := at.Abs(name)
	if err != nil {
		return err
	}
	for _, word := range w {
		if word.Kind == k && word.coversPath(at, abs) {
			return nil
		}
	}
	return needs(k, at.namedScope(k, abs))
}

// namedScope is the narrowest scope a word of that kind can name abs with:
// itself or, where its name cannot be written, a folder around it.
func (f Folders) namedScope(k Kind, abs string) string {
	scope := f.scopeOf(abs)
	for scope != "" && !k.takes(scope) && abs != "/" {
		abs = path.Dir(abs)
		scope = f.folderScope(abs)
	}
	return scope
}

func (k Kind) takes(scope string) bool {
	_, err := ParseWord(Word{Kind: k, Scope: scope}.String())
	return err == nil
}

func (w Word) coversPath(at Folders, abs string) bool {
	base, glob, ok := w.start(at)
	if !ok {
		return false
	}
	rest, inside := pathBelow(abs, base)
	switch {
	case !inside:
		return false
	case glob == "":
		return true
	case matchPath(glob, rest):
		return true
	case w.Kind != FSRead:
		return false
	}
	// docs/** also lists docs itself, which shows nothing that reading below it
	// would not.
	folder, all := strings.CutSuffix("/"+glob, "/**")
	return all && matchPath(strings.TrimPrefix(folder, "/"), rest)
}

// start splits a path word into the folder its scope starts from and the glob
// below it.
func (w Word) start(at Folders) (base, glob string, ok bool) {
	switch {
	case strings.HasPrefix(w.Scope, "~/"):
		return at.Home, w.Scope[2:], at.Home != ""
	case strings.HasPrefix(w.Scope, "/"):
		return "/", w.Scope[1:], true
	}
	return at.Workspace, w.Scope, at.Workspace != ""
}

// Root of a path word is the deepest folder its scope names without a wildcard,
// absolute: what a rooted open may start from. It is empty for other words and
// where there is no home to start from.
func (w Word) Root(at Folders) string {
	base, glob, ok := w.start(at)
	if !ok || w.Kind != FSRead && w.Kind != FSWrite {
		return ""
	}
	parts := strings.Split(glob, "/")
	for _, part := range parts[:len(parts)-1] {
		if hasWildcard(part) {
			break
		}
		base = path.Join(base, part)
	}
	return base
}

// pathBelow returns abs relative to base, "" for base itself.
func pathBelow(abs, base string) (string, bool) {
	base = path.Clean(base)
	if abs == base {
		return "", true
	}
	return strings.CutPrefix(abs, strings.TrimSuffix(base, "/")+"/")
}

// scopeOf is the scope that names exactly abs, "" for the workspace itself.
func (f Folders) scopeOf(abs string) string {
	if rest, inside := pathBelow(abs, f.Workspace); inside && f.Workspace != "" {
		if quoted, tilde := strings.CutPrefix(quoteGlob(rest), "~"); tilde {
			return "[~]" + quoted // a folder of that name, not the home
		}
		return quoteGlob(rest)
	}
	if rest, inside := pathBelow(abs, f.Home); inside && f.Home != "" {
		if rest == "" {
			return "~/**"
		}
		return "~/" + quoteGlob(rest)
	}
	if abs == "/" {
		return "/**"
	}
	return quoteGlob(abs)
}

// folderScope is the scope of everything below abs, "" for the workspace.
func (f Folders) folderScope(abs string) string {
	scope := f.scopeOf(abs)
	if scope == "" || strings.HasSuffix(scope, "/**") {
		return scope
	}
	return scope + "/**"
}

// outside tells whether the scope of a path word starts outside the workspace.
func outside(scope string) bool {
	return strings.HasPrefix(scope, "/") || strings.HasPrefix(scope, "~/")
}

// AllowsExec tells whether a program may be started with an argument list. Only
// bare exec allows a path: with exec:git, a file called git somewhere else is
// another program.
func (w Words) AllowsExec(program string) error {
	if w.AllowsShell() == nil {
		return nil
	}
	if strings.ContainsAny(program, `/\`) {
		return fmt.Errorf(`%w: %q is a path, and words with a scope start programs by their name alone`, needs(Exec, ""), program)
	}
	for _, word := range w {
		if word.Kind == Exec && word.Scope == program && program != "" {
			return nil
		}
	}
	return needs(Exec, program)
}

// AllowsShell tells whether a command line may be given to a shell: only bare
// exec allows it.
func (w Words) AllowsShell() error { return w.allowsBare(Exec) }

// AllowsPrompt tells whether prompts may be typed.
func (w Words) AllowsPrompt() error { return w.allowsBare(Prompt) }

// AllowsSteer tells whether what the model reads may be changed.
func (w Words) AllowsSteer() error { return w.allowsBare(Steer) }

// AllowsPermit tells whether permission questions may be answered.
func (w Words) AllowsPermit() error { return w.allowsBare(Permit) }

func (w Words) allowsBare(k Kind) error {
	for _, word := range w {
		if word.Kind == k && word.Scope == "" {
			return nil
		}
	}
	return needs(k, "")
}

func checkProgram(name string) error {
	switch {
	case strings.ContainsAny(name, `/\`):
		return fmt.Errorf("a program is named without its path; write %q", "exec:"+path.Base(strings.ReplaceAll(name, `\`, "/")))
	case strings.ContainsAny(name, " \t"):
		return fmt.Errorf("one program without arguments; write %q", "exec:"+strings.Fields(name)[0])
	case hasWildcard(name) || strings.ContainsAny(name, "\"'`$&|;<>(){}\\:,") || name == "." || name == ".." || strings.HasPrefix(name, "-"):
		return errors.New(`is no name of one program; write "exec:NAME", one word for each program, or "exec"`)
	}
	return nil
}

// AllowsNet tells whether a host may be talked to. port is the one that will be
// used, the scheme's own included.
func (w Words) AllowsNet(host string, port int) error {
	wanted, number := cleanHost(host), strconv.Itoa(port)
	if wanted == "" {
		return errors.New("host is empty: name the host to talk to")
	}
	for _, word := range w {
		if word.Kind != Net {
			continue
		}
		if word.Scope == "" {
			return nil
		}
		pattern, only, err := splitHost(word.Scope)
		if err == nil && (only == "" || only == number) && matchHost(pattern, wanted) {
			return nil
		}
	}
	if addr, err := netip.ParseAddr(wanted); err == nil && addr.Is6() {
		wanted = "[" + wanted + "]"
	}
	if port != 80 && port != 443 {
		wanted += ":" + number
	}
	return needs(Net, wanted)
}

// cleanHost brings the spellings of one host together.
func cleanHost(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String()
	}
	return host
}

// matchHost compares cleaned hosts. *.example.org stands for hosts below
// example.org, not for it: its owner may differ.
func matchHost(pattern, host string) bool {
	if domain, wild := strings.CutPrefix(pattern, "*."); wild {
		return strings.HasSuffix(host, "."+domain) && len(host) > len(domain)+1
	}
	return pattern == host
}

// splitHost reads the scope of a net word: HOST, *.DOMAIN, with a port or not.
func splitHost(scope string) (host, port string, err error) {
	if _, rest, ok := strings.Cut(scope, "://"); ok {
		rest, _, _ = strings.Cut(rest, "/")
		return "", "", fmt.Errorf("a host, not an address of a page; write %q", "net:"+rest)
	}
	if before, _, ok := strings.Cut(scope, "/"); ok {
		return "", "", fmt.Errorf("a host has no path; write %q", "net:"+before)
	}
	if scope == "*" {
		return "", "", errors.New(`for every host write "net"`)
	}
	if host, port, err = splitPort(scope); err != nil {
		return "", "", err
	}
	host = cleanHost(host)
	if _, err := netip.ParseAddr(host); err == nil {
		return host, port, nil
	}
	for _, label := range strings.Split(strings.TrimPrefix(host, "*."), ".") {
		if !hostLabel(label) {
			return "", "", errors.New(`is no host name; write "net:example.org", "net:*.example.org", "net:127.0.0.1:8080" or "net:[::1]:8080" (other alphabets in their xn-- form)`)
		}
	}
	return host, port, nil
}

func hostLabel(label string) bool {
	ok := label != "" && len(label) <= 63
	for _, r := range label {
		ok = ok && (r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}
	return ok
}

// splitPort takes the port off; a bare IPv6 address has none.
func splitPort(s string) (host, port string, err error) {
	if _, err := netip.ParseAddr(s); err == nil {
		return s, "", nil
	}
	host = s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.HasSuffix(s, "]") {
		host, port = s[:i], s[i+1:]
		if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 || strconv.Itoa(n) != port {
			return "", "", fmt.Errorf("%q is no port", port)
		}
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		if host, ok = strings.CutSuffix(inner, "]"); !ok {
			return "", "", errors.New("a bracket is open")
		}
	}
	return host, port, nil
}

// AllowsListen tells whether an address such as "127.0.0.1:8080" may be served.
// Without a word that names more, only loopback addresses are allowed.
func (w Words) AllowsListen(addr string) error {
	if strings.HasPrefix(addr, ":") {
		addr = "0.0.0.0" + addr // what an empty host means to the system
	}
	host, port, err := splitListen(addr)
	if err != nil {
		return fmt.Errorf("address %q: %w", addr, err)
	}
	for _, word := range w {
		if word.Kind == Listen && word.coversListen(host, port) {
			return nil
		}
	}
	if host.IsLoopback() && !w.Has(Listen) {
		return needs(Listen, "")
	}
	scope := host.String()
	if port != "" {
		scope = netip.AddrPortFrom(host, portNumber(port)).String()
	}
	return needs(Listen, scope)
}

func (w Word) coversListen(host netip.Addr, port string) bool {
	if w.Scope == "" {
		return host.IsLoopback()
	}
	named, only, err := splitListen(w.Scope)
	if err != nil || only != "" && only != port {
		return false
	}
	return named == host || named.IsUnspecified()
}

// splitListen reads ADDR or ADDR:PORT; localhost is 127.0.0.1.
func splitListen(s string) (host netip.Addr, port string, err error) {
	if strings.HasPrefix(s, ":") {
		return host, "", fmt.Errorf(`names no address; write "listen:127.0.0.1%s", or "listen:0.0.0.0%s" to be reached from outside`, s, s)
	}
	if _, err := strconv.Atoi(s); err == nil {
		return host, "", fmt.Errorf(`names no address; write "listen:127.0.0.1:%s"`, s)
	}
	text, port, err := splitPort(s)
	if err != nil {
		return host, "", err
	}
	if strings.EqualFold(text, "localhost") {
		text = "127.0.0.1"
	}
	host, err = netip.ParseAddr(text)
	if err != nil || host.Zone() != "" {
		return host, "", errors.New(`is no address of this machine; write "listen:127.0.0.1:8080"`)
	}
	return host.Unmap(), port, nil
}

func portNumber(s string) uint16 {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0
	}
	return uint16(n)
}

// ModelCeiling returns what asking models may cost in one session, in US
// dollars; limited is false when the words set no ceiling. Of several ceilings
// the highest counts.
func (w Words) ModelCeiling() (usd float64, limited bool, err error) {
	if !w.Has(Model) {
		return 0, false, needs(Model, "")
	}
	for _, word := range w {
		if word.Kind != Model {
			continue
		}
		if word.Scope == "" {
			return 0, false, nil
		}
		if one, err := parseUSD(word.Scope); err == nil && one > usd {
			usd = one
		}
	}
	return usd, true, nil
}

// AllowsEnv tells whether an environment variable may be read. One that holds a
// key must be named exactly: no wildcard yields it.
func (w Words) AllowsEnv(name string) error {
	key := IsKeyVariable(name)
	for _, word := range w {
		if word.Kind != Env {
			continue
		}
		if word.Scope == name || !key && (word.Scope == "" || matchPart(word.Scope, name)) {
			return nil
		}
	}
	return needs(Env, name)
}
