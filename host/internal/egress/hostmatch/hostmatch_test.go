package hostmatch

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOf(t *testing.T) {
	for address, want := range map[string]string{
		"http://a.example/x": "a.example:80", "https://a.example.": "a.example:443", "https://[::1]/": "[::1]:443",
		"http://a:8080": "a:8080",
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, want, Of(u))
	}
}

func TestCheck(t *testing.T) {
	for _, good := range []string{
		"*", "example.org", "a_b.Example.org:8443", "*.example.org", "*.example.org:443",
		"10.0.0.7", "[::1]", "[::1]:80", "localhost",
	} {
		require.NoError(t, Check(good), good)
	}
	for _, bad := range []string{
		"", " ", "https://example.org", "example.org/", "a..b", "*.", "a.*.b", "*a.example",
		"a:0", "a:b", "a:", "::1", "[::1", "a b", "user@host", "*:80",
	} {
		require.Error(t, Check(bad), bad)
	}
}
