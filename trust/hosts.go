package trust

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

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
