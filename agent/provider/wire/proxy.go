package wire

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// proxies returns which proxy a request goes through, as curl and most programs
// read the environment: lower case first, HTTPS_PROXY or HTTP_PROXY by the
// request's scheme, then ALL_PROXY; NO_PROXY takes out hosts, domains and
// networks; the machine itself is never behind one.
func proxies(env func(string) string) func(*http.Request) (*url.URL, error) {
	get := func(name string) string {
		if v := env(strings.ToLower(name)); v != "" {
			return v
		}
		return env(name)
	}
	all := get("ALL_PROXY")
	via := map[string]string{"http": get("HTTP_PROXY"), "https": get("HTTPS_PROXY")}
	direct := strings.FieldsFunc(get("NO_PROXY"), func(r rune) bool { return r == ',' || r == ' ' })
	return func(req *http.Request) (*url.URL, error) {
		proxy := via[req.URL.Scheme]
		if proxy == "" {
			proxy = all
		}
		if proxy == "" || bypasses(direct, req.URL) {
			return nil, nil
		}
		if !strings.Contains(proxy, "://") {
			proxy = "http://" + proxy
		}
		u, err := url.Parse(proxy)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("the proxy of the environment is no address such as http://host:port")
		}
		return u, nil
	}
}

func bypasses(direct []string, u *url.URL) bool {
	host, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	address, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && address.IsLoopback() {
		return true
	}
	for _, entry := range direct {
		entry = strings.ToLower(entry)
		if entry == "*" {
			return true
		}
		if network, bad := netip.ParsePrefix(entry); bad == nil {
			if err == nil && network.Contains(address) {
				return true
			}
			continue
		}
		name := entry
		if h, p, bad := net.SplitHostPort(entry); bad == nil {
			if p != port {
				continue
			}
			name = h
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "*"), ".")
		if name != "" && (host == name || err != nil && strings.HasSuffix(host, "."+name)) {
			return true
		}
	}
	return false
}
