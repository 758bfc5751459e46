package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func secrets(pairs ...string) Environment {
	return Environment{Lookup: func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if "EASEL_SECRET_"+pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}}
}

// echo answers with the request line, two headers and the body.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Seen", r.Header.Get("X-Key"))
	_, _ = io.WriteString(w, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("X-Key")+" "+string(body))
}

func TestRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	c := &Client{AllowPrivate: true, Secrets: secrets("KEY", "abcd1234", "ID", "x/y")}
	res, err := c.Do(t.Context(), &engine.HTTPRequest{
		Method: "post", URL: server.URL + "/a?k={{secret:KEY}}&b=1", Body: `{"t": "{{secret:KEY}}"}`,
		Header: []engine.HTTPHeader{{Name: "x-key", Value: "Bearer {{secret:KEY}}"}},
	})
	require.NoError(t, err)
	require.Equal(t, 200, res.Status)
	require.Equal(t, `POST /a?k={{secret:KEY}}&b=1 Bearer {{secret:KEY}} {"t": "{{secret:KEY}}"}`, res.Body)
	require.Contains(t, res.Header, engine.HTTPHeader{Name: "X-Seen", Value: "Bearer {{secret:KEY}}"})
}

func TestSecretReachesTheServer(t *testing.T) {
	var seen string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Get("X-Key") }))
	defer server.Close()
	c := &Client{AllowPrivate: true, Secrets: secrets("KEY", "abcd1234")}
	_, err := c.Do(t.Context(), &engine.HTTPRequest{Method: "GET", URL: server.URL, Header: []engine.HTTPHeader{{Name: "X-Key", Value: "{{secret:KEY}}"}}})
	require.NoError(t, err)
	require.Equal(t, "abcd1234", seen)
}

func TestMissingSecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	for _, c := range []*Client{{AllowPrivate: true}, {AllowPrivate: true, Secrets: secrets()}} {
		_, err := c.Do(t.Context(), &engine.HTTPRequest{Method: "GET", URL: server.URL + "/{{secret:KEY}}"})
		require.ErrorContains(t, err, `secret "KEY"`)
	}
}

func TestRefusedAddresses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	for _, c := range []struct{ name, url string }{
		{"this machine", server.URL},
		{"this machine by name", strings.Replace(server.URL, "127.0.0.1", "localhost", 1)},
		{"IPv6 loopback", "http://[::1]:80/"},
		{"IPv4 inside IPv6", "http://[::ffff:127.0.0.1]:80/"},
		{"a private network", "http://10.0.0.1/"},
		{"cloud metadata", "http://169.254.169.254/latest"},
		{"everything", "http://0.0.0.0:80/"},
		{"a file", "file:///etc/passwd"},
		{"no host", "http:///x"},
		{"a host that is a secret", "http://{{secret:KEY}}/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := (&Client{Secrets: secrets("KEY", "127.0.0.1")}).Do(t.Context(), &engine.HTTPRequest{Method: "GET", URL: c.url})
			require.ErrorIs(t, err, ErrAddress)
		})
	}
}

func TestTheDialledAddressCounts(t *testing.T) {
	// A name that was public when it was looked at may lead elsewhere when it is dialled.
	err := (&Client{}).control("tcp4", "127.0.0.1:80", nil)
	require.ErrorIs(t, err, ErrAddress)
	require.NoError(t, (&Client{}).control("tcp4", "93.184.216.34:80", nil))
	require.NoError(t, (&Client{AllowPrivate: true}).control("tcp4", "127.0.0.1:80", nil))
}

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700::1111": true, "192.168.1.1": false, "172.16.0.1": false, "100.64.0.1": false,
		"224.0.0.1": false, "255.255.255.255": false, "fe80::1": false, "fd00::1": false, "::": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::ffff:10.0.0.1": false, "198.18.0.1": false,
	} {
		require.Equal(t, want, public(netip.MustParseAddr(address)), address)
	}
}

func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(echo))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/near":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/see":
			http.Redirect(w, r, "/end", http.StatusSeeOther)
		case "/far":
			http.Redirect(w, r, other.URL+"/far", http.StatusTemporaryRedirect)
		default:
			echo(w, r)
		}
	}))
	defer server.Close()
	c := &Client{AllowPrivate: true, Secrets: secrets("KEY", "abcd1234")}
	do := func(path, key, body string) (*engine.HTTPResponse, error) {
		return c.Do(t.Context(), &engine.HTTPRequest{Method: "POST", URL: server.URL + path, Body: body, Header: []engine.HTTPHeader{{Name: "X-Key", Value: key}}})
	}
	res, err := do("/near", "{{secret:KEY}}", "b")
	require.NoError(t, err)
	require.Equal(t, "POST /end {{secret:KEY}} b", res.Body)

	res, err = do("/see", "k", "b")
	require.NoError(t, err)
	require.Equal(t, "GET /end k ", res.Body)

	res, err = do("/far", "{{secret:KEY}}", "b")
	require.NoError(t, err)
	require.Equal(t, "POST /far  b", res.Body, "a secret header stays at home")

	_, err = do("/far", "k", "{{secret:KEY}}")
	require.ErrorContains(t, err, "the body holds a secret")

	_, err = do("/loop", "k", "")
	require.ErrorIs(t, err, ErrRedirects)
}

func TestLimits(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 1001))
	}))
	defer server.Close()
	c := &Client{AllowPrivate: true, Largest: 1000}
	_, err := c.Do(t.Context(), &engine.HTTPRequest{Method: "GET", URL: server.URL})
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = c.Do(t.Context(), &engine.HTTPRequest{Method: "GET", URL: server.URL + "/slow", Timeout: 50 * time.Millisecond})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "by proxy: "+r.URL.String())
	}))
	defer proxy.Close()
	res, err := (&Client{AllowPrivate: true}).Do(t.Context(), &engine.HTTPRequest{Method: "GET", URL: "http://example.invalid/x", Proxy: proxy.URL})
	require.NoError(t, err)
	require.Equal(t, "by proxy: http://example.invalid/x", res.Body)
	_, err = (&Client{AllowPrivate: true}).Do(t.Context(), &engine.HTTPRequest{Method: "GET", URL: "http://example.invalid/x", Proxy: "://"})
	require.ErrorContains(t, err, "is no address")
}

func TestErrorsHideSecrets(t *testing.T) {
	c := &Client{AllowPrivate: true, Secrets: secrets("KEY", "abcd1234")}
	_, err := c.Do(t.Context(), &engine.HTTPRequest{Method: "GET", URL: "http://127.0.0.1:1/p/{{secret:KEY}}"})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "abcd1234")
}
