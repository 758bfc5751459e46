package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnyCoversSecret(t *testing.T) {
	for _, c := range []struct {
		pattern, host, usual string
		want                 bool
	}{
		{"a.example", "a.example:443", "443", true},
		{"a.example", "a.example:8443", "443", false},
		{"a.example:8443", "a.example:8443", "443", true},
		{"a.example:8443", "a.example:443", "443", false},
		{"*.example", "a.example:443", "443", true},
		{"*.example", "a.example:80", "443", false},
		{"*.example:80", "a.example:80", "443", true},
		{"a.example", "a.example:80", "80", true},
		{"[::1]", "[::1]:443", "443", true},
		{"[::1]", "[::1]:9", "443", false},
		{"*", "a.example:9", "443", true},
		{"127.0.0.1", "127.0.0.1:9", "", true},
		{"127.0.0.1:8", "127.0.0.1:9", "", false},
	} {
		require.Equal(t, c.want, AnyCoversSecret([]string{"other.example", c.pattern}, c.host, c.usual), "%v", c)
	}
}

func TestCoversHost(t *testing.T) {
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
		require.Equal(t, c.want, CoversHost(c.pattern, c.name), "%s covers %s", c.pattern, c.name)
	}
}
