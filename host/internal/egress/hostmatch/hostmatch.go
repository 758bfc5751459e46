// Package hostmatch compares hosts of requests with patterns: the hosts a plugin may reach and the
// hosts a secret may go to.
//
// A pattern is a host name or address (api.example.org, 10.0.0.7, [::1]), all hosts below a domain
// (*.example.org, without example.org itself) or * for every host; each but * may end in :port.
// Without a port a pattern matches every port. Case does not matter. What a pattern covers is
// defined by the plugin contract, see [contract.CoversHost].
package hostmatch

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/plugins/contract"
)

// Of writes the host of an http or https URL always with its port, as [Any] takes it.
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
func Any(patterns []string, name string) bool { return contract.AnyCoversHost(patterns, name) }

// Check returns an error for a text that is not a pattern.
func Check(pattern string) error {
	bad := func(why string) error {
		return fmt.Errorf("host %q: %s; use example.org, example.org:8443, *.example.org or *", pattern, why)
	}
	host, port := contract.SplitPort(pattern)
	if n, err := strconv.Atoi(port); (port != "" || strings.HasSuffix(pattern, ":")) &&
		(err != nil || n < 1 || n > 65535) {
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
		if label == "" || len(label) > 63 || strings.Trim(strings.ToLower(label),
			"abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return bad("it is not a host name without scheme and path")
		}
	}
	return nil
}
