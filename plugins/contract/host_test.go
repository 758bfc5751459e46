package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
