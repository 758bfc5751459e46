package hostmatch

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "anything.example", true},
		{"a.example", "a.example", true},
		{"A.Example", "a.example", true},
		{"a.example", "a.example:443", true},
		{"a.example:443", "a.example:443", true},
		{"a.example:443", "a.example:80", false},
		{"a.example:443", "a.example", false},
		{"*.example", "a.example", true},
		{"*.example", "a.b.example:80", true},
		{"*.example", "example", false},
		{"*.example", "badexample", false},
		{"*.a.example", "*.example", false},
		{"*.example", "*.a.example", true},
		{"a.example", "b.a.example", false},
		{"[::1]", "[::1]:80", true},
		{"", "a.example", false},
	} {
		require.Equal(t, c.want, Covers(c.pattern, c.name), "%s covers %s", c.pattern, c.name)
	}
}

func TestOf(t *testing.T) {
	for address, want := range map[string]string{
		"http://a.example/x": "a.example:80", "https://a.example.": "a.example:443", "https://[::1]/": "[::1]:443", "http://a:8080": "a:8080",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, want, Of(u))
	}
}

func TestCheck(t *testing.T) {
	for _, good := range []string{"*", "example.org", "a_b.Example.org:8443", "*.example.org", "*.example.org:443", "10.0.0.7", "[::1]", "[::1]:80", "localhost"} {
		require.NoError(t, Check(good), good)
	}
	for _, bad := range []string{"", " ", "https://example.org", "example.org/", "a..b", "*.", "a.*.b", "*a.example", "a:0", "a:b", "a:", "::1", "[::1", "a b", "user@host", "*:80"} {
		require.Error(t, Check(bad), bad)
	}
}
