package login

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNextPlace(t *testing.T) {
	for text, want := range map[string]string{
		"/": home, "/a?b#c": "/a?b#c", "": home, "a": home, "//evil.org": home, "/\\evil.org": home,
		"https://evil.org/": home, "javascript:alert(1)": home, "/a\r\nSet-Cookie: x": home, "/\t/evil.org": home,
		"/login?once=x": home, "/login/oidc/evil@two": home, "/./login?once=x": home, "/x/../login/": home,
		"/%6Cogin?once=x": home, "/LOGIN": "/LOGIN", "/logins": "/logins",
	} {
		require.Equal(t, want, nextPlace(text), "%q", text)
	}
}
