// Package hostmatch compares hosts of requests with patterns: the hosts a plugin may reach and the
// hosts a secret may go to.
//
// A pattern is a host name or address (api.example.org, 10.0.0.7, [::1]), all hosts below a domain
// (*.example.org, without example.org itself) or * for every host; each but * may end in :port.
// Without a port a pattern stands for every port. Case does not matter.
package hostmatch

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Of writes the host of an http or https URL always with its port, as [Covers] takes it.
func Of(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return strings.TrimSuffix(host, ".") + ":" + port
}

// Any reports whether one of the patterns covers name.
func Any(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Covers(p, name) })
}

// Covers reports whether pattern allows every host that name allows; name may be a pattern or a
// host, with or without a port.
func Covers(pattern, name string) bool {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	if pattern == "*" || pattern == name {
		return true
	}
	if host, port := splitPort(name); port != "" {
		if p, pp := splitPort(pattern); pp == "" || pp == port {
			return Covers(p, host)
		}
		return false
	}
	below, ok := strings.CutPrefix(pattern, "*.")
	return ok && strings.HasSuffix(strings.TrimPrefix(name, "*"), "."+below)
}

// Check returns an error for a text that is not a pattern.
func Check(pattern string) error {
	bad := func(why string) error {
		return fmt.Errorf("host %q: %s; use example.org, example.org:8443, *.example.org or *", pattern, why)
	}
	host, port := splitPort(pattern)
	if n, err := strconv.Atoi(port); (port != "" || strings.HasSuffix(pattern, ":")) && (err != nil || n < 1 || n > 65535) {
		return bad("the port is not a number from 1 to 65535")
	}
	if pattern == "*" {
		return nil
	}
	if strings.Contains(host, ":") {
		address, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if err != nil || host != "["+address.String()+"]" {
			return bad("it is not an IPv6 address in brackets")
		}
		return nil
	}
	for _, label := range strings.Split(strings.TrimPrefix(host, "*."), ".") {
		if label == "" || len(label) > 63 || strings.Trim(strings.ToLower(label), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return bad("it is not a host name without scheme and path")
		}
	}
	return nil
}

// splitPort divides host:port; a bare IPv6 address has no port.
func splitPort(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.Contains(s[:i], ":") && !strings.HasSuffix(s[:i], "]") {
		return s, ""
	}
	return s[:i], s[i+1:]
}
