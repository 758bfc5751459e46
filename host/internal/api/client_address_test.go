package api

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClientAddress(t *testing.T) {
	trusted, err := ParseProxies([]string{"10.0.0.0/8", " 192.0.2.7", "2001:db8::/32", "::ffff:172.16.0.1"})
	require.NoError(t, err)
	for _, c := range []struct {
		name, peer string
		header     []string
		want       string
	}{
		{"headers of unknown clients are ignored", "203.0.113.5:1", []string{"X-Forwarded-For", "1.1.1.1", "Forwarded", "for=1.1.1.1"}, "203.0.113.5"},
		{"the header of a trusted proxy", "10.0.0.1:1", []string{"X-Forwarded-For", "203.0.113.5"}, "203.0.113.5"},
		{"a trusted proxy without a header", "10.0.0.1:1", nil, "10.0.0.1"},
		{"forged hops are left of the real one", "10.0.0.1:1", []string{"X-Forwarded-For", "127.0.0.1, 10.9.9.9, 203.0.113.5"}, "203.0.113.5"},
		{"forged hops in a separate header", "10.0.0.1:1", []string{"X-Forwarded-For", "127.0.0.1", "X-Forwarded-For", "203.0.113.5"}, "203.0.113.5"},
		{"several proxies", "10.0.0.1:1", []string{"X-Forwarded-For", "203.0.113.5, 192.0.2.7,10.2.3.4"}, "203.0.113.5"},
		{"a proxy written as IPv6", "[::ffff:10.0.0.1]:1", []string{"X-Forwarded-For", "::ffff:203.0.113.5"}, "203.0.113.5"},
		{"a trusted address written as IPv6", "172.16.0.1:1", []string{"X-Forwarded-For", "203.0.113.5"}, "203.0.113.5"},
		{"a port", "10.0.0.1:1", []string{"X-Forwarded-For", "203.0.113.5:443"}, "203.0.113.5"},
		{"IPv6", "[2001:db8::1]:1", []string{"X-Forwarded-For", "2001:db9::5"}, "2001:db9::5"},
		{"IPv6 with a port", "10.0.0.1:1", []string{"X-Forwarded-For", "[2001:db9::5]:443"}, "2001:db9::5"},
		{"a zone", "10.0.0.1:1", []string{"X-Forwarded-For", "fe80::1%eth0"}, "fe80::1"},
		{"only trusted proxies", "10.0.0.1:1", []string{"X-Forwarded-For", "10.1.1.1, 10.2.2.2"}, "10.1.1.1"},
		{"invalid address", "10.0.0.1:1", []string{"X-Forwarded-For", "203.0.113.5, unknown"}, "10.0.0.1"},
		{"invalid address behind a second proxy", "10.0.0.1:1", []string{"X-Forwarded-For", "1.1.1.1, <script>, 10.2.2.2"}, "10.2.2.2"},
		{"an empty header", "10.0.0.1:1", []string{"X-Forwarded-For", ""}, "10.0.0.1"},
		{"an octal address is invalid", "10.0.0.1:1", []string{"X-Forwarded-For", "0177.0.0.1"}, "10.0.0.1"},
		{"Forwarded", "10.0.0.1:1", []string{"Forwarded", `for=1.1.1.1, for="[2001:db9::5]:47011";proto=https;by=10.0.0.1`}, "2001:db9::5"},
		{"Forwarded with mixed case and spaces", "10.0.0.1:1", []string{"Forwarded", `proto=http; For=203.0.113.5 `}, "203.0.113.5"},
		{"a hop without for", "10.0.0.1:1", []string{"Forwarded", `for=1.1.1.1, for=_hidden`}, "10.0.0.1"},
		{"separators inside quotes", "10.0.0.1:1", []string{"Forwarded", `for=203.0.113.5;host="a,for=1.1.1.1;for=1.1.1.1\""`}, "203.0.113.5"},
		{"unclosed quotes", "10.0.0.1:1", []string{"Forwarded", `for="203.0.113.5`}, "203.0.113.5"},
		{"both headers", "10.0.0.1:1", []string{"Forwarded", `for=1.1.1.1`, "X-Forwarded-For", "203.0.113.5"}, "203.0.113.5"},
		{"invalid port", "203.0.113.5", nil, "203.0.113.5"},
		{"invalid network", "@", nil, "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		for i := 0; i < len(c.header); i += 2 {
			r.Header.Add(c.header[i], c.header[i+1])
		}
		require.Equal(t, c.want, proxies(trusted).client(r).String(), c.name)
	}
	for _, bad := range []string{"", "10.0.0.0/33", "proxy.example.org", "10.0.0.1:80", "fe80::1%eth0", "::ffff:10.0.0.0/104", "10.0.0.1 10.0.0.2"} {
		_, err := ParseProxies([]string{"10.0.0.1", bad})
		require.Error(t, err, bad)
	}
}

// Addresses before the hop that the proxy adds are not trusted.
func FuzzClientAddress(f *testing.F) {
	for _, s := range []string{"", "1.1.1.1", "10.0.0.1, 10.0.0.2", `"`, `for="\`, ";;,,", "[", "unknown"} {
		f.Add(s)
	}
	trusted, err := ParseProxies([]string{"10.0.0.0/8"})
	require.NoError(f, err)
	want := netip.MustParseAddr("203.0.113.5")
	f.Fuzz(func(t *testing.T, sent string) {
		r := &http.Request{RemoteAddr: "10.0.0.1:1", Header: http.Header{"X-Forwarded-For": {sent, "203.0.113.5"}}}
		require.Equal(t, want, proxies(trusted).client(r))
		r.Header = http.Header{"Forwarded": {sent}}
		proxies(trusted).client(r)
		if !strings.ContainsAny(sent, `"\`) {
			r.Header = http.Header{"Forwarded": {sent, "for=203.0.113.5"}}
			require.Equal(t, want, proxies(trusted).client(r))
		}
	})
}
