package reach

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ErrRedirect means that a server redirects a request with credentials to another origin, which
// must not receive them; configure the target of the redirect.
var ErrRedirect = errors.New("redirect to another origin")

// SameOrigin reports whether two addresses have the same scheme, host and port.
func SameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// SameAddress reports whether two URLs lead requests to the same place, so that a credential that
// was entered for one may be sent to the other. Scheme, host, port, user name, path and query have
// to be equal: hosts ignore case, the default port of a scheme may be written or left out, and an
// empty path is "/". Everything else counts as another address, also a trailing dot of the host:
// only the owner of the credential can judge whether the two are the same. Texts that are not URLs
// with a host have to be equal.
func SameAddress(a, b string) bool {
	if a == b {
		return true
	}
	x, err := url.Parse(a)
	if err != nil || x.Host == "" {
		return false
	}
	y, err := url.Parse(b)
	if err != nil || !SameOrigin(x, y) {
		return false
	}
	return userOf(x) == userOf(y) && pathOf(x) == pathOf(y) && x.RawQuery == y.RawQuery && x.Fragment == y.Fragment
}

func userOf(u *url.URL) string {
	if u.User == nil {
		return ""
	}
	return u.User.String()
}

func pathOf(u *url.URL) string {
	if path := u.EscapedPath(); path != "" {
		return path
	}
	return "/"
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// maxRedirects bounds the redirects that a client with credentials follows.
const maxRedirects = 5

// StayAtOrigin returns a CheckRedirect function for clients that send credentials: it follows
// redirects within the origin of the first request and rejects others. By default, net/http also
// sends credentials to other ports of the same host, and sends credential headers that it does not
// recognize to any host.
//
// Errors: [ErrRedirect].
func StayAtOrigin(next *http.Request, past []*http.Request) error {
	if first := past[0].URL; !SameOrigin(first, next.URL) {
		return fmt.Errorf("%w: %s://%s redirects to %s://%s; use that address if it is meant",
			ErrRedirect, first.Scheme, first.Host, next.URL.Scheme, next.URL.Host)
	}
	if len(past) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	return nil
}

// credentialWords are substrings of the names of headers that carry credentials, such as X-Api-Key
// and Private-Token.
var credentialWords = []string{
	"auth", "cookie", "token", "secret", "password", "credential", "session", "signature",
}

// IsCredential reports whether a header may carry a credential, judged by its name: such a header
// must not follow a redirect to another origin. The JavaScript counterpart is
// wasm/js/src/origin.ts.
func IsCredential(header string) bool {
	name := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(header))
	for _, word := range credentialWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasSuffix(name, "key")
}
