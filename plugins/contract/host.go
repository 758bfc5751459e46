package contract

import (
	"slices"
	"strings"
)

// The hosts that a plugin may reach, and those that a secret may be sent to, are patterns: a host
// name or address (api.example.org, 10.0.0.7, [::1]), all hosts below a domain (*.example.org,
// without example.org itself) or * for every host; each but * may end in :port. Without a port a
// pattern matches every port. Case does not matter.

// CoversHost reports whether pattern allows every host that name allows; name may be a pattern or a
// host, with or without a port.
func CoversHost(pattern, name string) bool {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	if pattern == "*" || pattern == name {
		return true
	}
	if host, port := SplitPort(name); port != "" {
		if p, pp := SplitPort(pattern); pp == "" || pp == port {
			return CoversHost(p, host)
		}
		return false
	}
	below, ok := strings.CutPrefix(pattern, "*.")
	return ok && strings.HasSuffix(strings.TrimPrefix(name, "*"), "."+below)
}

// AnyCoversSecret reports whether one of the patterns allows a secret to be sent to host, which has
// a port: a pattern without a port matches the usual one, or every port if usual is empty.
func AnyCoversSecret(patterns []string, host, usual string) bool {
	name, port := SplitPort(host)
	return slices.ContainsFunc(patterns, func(p string) bool {
		if p == "*" {
			return true
		}
		if _, own := SplitPort(p); own == "" && usual != "" && port != usual {
			return false
		}
		return CoversHost(p, name+":"+port)
	})
}

// AnyCoversHost reports whether one of the patterns allows every host that name allows.
func AnyCoversHost(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return CoversHost(p, name) })
}

// SplitPort divides host:port; a bare IPv6 address has no port.
func SplitPort(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || strings.Contains(s[:i], ":") && !strings.HasSuffix(s[:i], "]") {
		return s, ""
	}
	return s[:i], s[i+1:]
}
