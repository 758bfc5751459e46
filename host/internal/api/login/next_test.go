package login

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNextPlace(t *testing.T) {
	for text, want := range map[string]string{
		"/": "/", "/a?b#c": "/a?b#c", "": "/", "a": "/", "//evil.org": "/", "/\\evil.org": "/", "https://evil.org/": "/", "javascript:alert(1)": "/", "/a\r\nSet-Cookie: x": "/", "/\t/evil.org": "/",
	} {
		require.Equal(t, want, nextPlace(text), "%q", text)
	}
}
