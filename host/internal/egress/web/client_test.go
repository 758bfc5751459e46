package web

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
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

// echo responds with the request line, a header and the body.
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
		SecretMark: "m4rk", Method: "post", URL: server.URL + "/a?k={{secret:KEY:m4rk}}&b=1",
		Body:   `{"t": "{{secret:KEY:m4rk}}"}`,
		Header: []engine.HTTPHeader{{Name: "x-key", Value: "Bearer {{secret:KEY:m4rk}}"}},
	})
	require.NoError(t, err)
	require.Equal(t, 200, res.Status)
	require.Equal(t, `POST /a?k={{secret:KEY}}&b=1 Bearer {{secret:KEY}} {"t": "{{secret:KEY}}"}`, res.Body)
	require.Contains(t, res.Header, engine.HTTPHeader{Name: "X-Seen", Value: "Bearer {{secret:KEY}}"})
}

func TestSecretIsEscapedForContext(t *testing.T) {
	const value = "a\"b\\c\n&d=e+f%20/é\""
	var query, body string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		query, body = r.URL.Query().Get("k"), string(data)
	}))
	defer server.Close()
	c := &Client{AllowPrivate: true, Secrets: secrets("KEY", value)}
	send := func(contentType, content string) {
		_, err := c.Do(t.Context(), &engine.HTTPRequest{
			SecretMark: "m4rk", Method: "POST", URL: server.URL + "?k={{secret:KEY:m4rk}}", Body: content,
			Header: []engine.HTTPHeader{{Name: "content-type", Value: contentType}},
		})
		require.NoError(t, err)
		require.Equal(t, value, query)
	}
	send("application/json; charset=utf-8", `{"t": "<{{secret:KEY:m4rk}}>"}`)
	var in struct{ T string }
	require.NoError(t, json.Unmarshal([]byte(body), &in), body)
	require.Equal(t, "<"+value+">", in.T)
	send("application/x-www-form-urlencoded", "t={{secret:KEY:m4rk}}&u=1")
	form, err := url.ParseQuery(body)
	require.NoError(t, err)
	require.Equal(t, value, form.Get("t"))
	send("text/plain", "{{secret:KEY:m4rk}}")
	require.Equal(t, value, body)
}

func TestSecretReachesTheServer(t *testing.T) {
	var seen string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request,
	) {
		seen = r.Header.Get("X-Key")
	}))
	defer server.Close()
	c := &Client{AllowPrivate: true, Secrets: secrets("KEY", "abcd1234")}
	_, err := c.Do(t.Context(), &engine.HTTPRequest{
		SecretMark: "m4rk", Method: "GET", URL: server.URL,
		Header: []engine.HTTPHeader{{Name: "X-Key", Value: "{{secret:KEY:m4rk}}"}},
	})
	require.NoError(t, err)
	require.Equal(t, "abcd1234", seen)
}

func TestMissingSecret(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	for _, c := range []*Client{{AllowPrivate: true}, {AllowPrivate: true, Secrets: secrets()}} {
		_, err := c.Do(t.Context(), &engine.HTTPRequest{
			SecretMark: "m4rk", Method: "GET",
			URL: server.URL + "/{{secret:KEY:m4rk}}",
		})
		require.ErrorContains(t, err, `secret "KEY"`)
	}
}

func TestRejectedAddresses(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(echo))
	defer server.Close()
	for _, c := range []struct{ name, url string }{
		{"loopback", server.URL},
		{"loopback by name", strings.Replace(server.URL, "127.0.0.1", "localhost", 1)},
		{"IPv6 loopback", "http://[::1]:80/"},
		{"IPv4 inside IPv6", "http://[::ffff:127.0.0.1]:80/"},
		{"a private network", "http://10.0.0.1/"},
		{"cloud metadata", "http://169.254.169.254/latest"},
		{"the unspecified address", "http://0.0.0.0:80/"},
		{"a file URL", "file:///etc/passwd"},
		{"no host", "http:///x"},
		{"a secret as host", "http://{{secret:KEY:m4rk}}/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := (&Client{Secrets: secrets("KEY", "127.0.0.1")}).Do(t.Context(),
				&engine.HTTPRequest{SecretMark: "m4rk", Method: "GET", URL: c.url})
			require.ErrorIs(t, err, ErrAddress)
		})
	}
}

func TestRejectedAddressNamesTheFlag(t *testing.T) {
	_, err := (&Client{}).Do(t.Context(), &engine.HTTPRequest{Method: "GET", URL: "http://localhost:80/"})
	require.ErrorContains(t, err, "; allow such addresses with --allow-private")
}

func TestDialedAddressIsChecked(t *testing.T) {
	// A name may resolve to another address when it is dialed than when it was checked.
	err := (&Client{}).control("tcp4", "127.0.0.1:80", nil)
	require.ErrorIs(t, err, ErrAddress)
	require.ErrorContains(t, err, "127.0.0.1 is private or reserved; allow such addresses with --allow-private")
	require.NoError(t, (&Client{}).control("tcp4", "93.184.216.34:80", nil))
	require.NoError(t, (&Client{AllowPrivate: true}).control("tcp4", "127.0.0.1:80", nil))
	one := &Client{Loopback: 80}
	for address, allowed := range map[string]bool{
		"127.0.0.1:80": true, "[::1]:80": true, "127.0.0.1:81": false, "10.0.0.1:80": false,
		"169.254.169.254:80": false,
	} {
		require.Equal(t, allowed, one.control("tcp", address, nil) == nil, address)
	}
}

func TestDialReachesNoSockets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	defer l.Close()
	for _, network := range []string{"unix", "unixpacket", "unixgram", "udp", "ip"} {
		_, err := (&Client{AllowPrivate: true}).Dial(t.Context(), network, path)
		require.ErrorIs(t, err, ErrAddress, network)
	}
}

func TestRedirects(t *testing.T) {
	var home string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/back" {
			http.Redirect(w, r, home+"/end", http.StatusTemporaryRedirect)
			return
		}
		echo(w, r)
	}))
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
		case "/there-and-back":
			http.Redirect(w, r, other.URL+"/back", http.StatusTemporaryRedirect)
		default:
			echo(w, r)
		}
	}))
	defer server.Close()
	home = server.URL
	c := &Client{AllowPrivate: true, Secrets: secrets("KEY", "abcd1234")}
	do := func(path, key, body string) (*engine.HTTPResponse, error) {
		return c.Do(t.Context(), &engine.HTTPRequest{
			SecretMark: "m4rk", Method: "POST", URL: server.URL + path,
			Body: body, Header: []engine.HTTPHeader{{Name: "X-Key", Value: key}},
		})
	}
	res, err := do("/near", "{{secret:KEY:m4rk}}", "b")
	require.NoError(t, err)
	require.Equal(t, "POST /end {{secret:KEY}} b", res.Body)

	res, err = do("/see", "k", "b")
	require.NoError(t, err)
	require.Equal(t, "GET /end k ", res.Body)

	res, err = do("/far", "{{secret:KEY:m4rk}}", "b")
	require.NoError(t, err)
	require.Equal(t, "POST /far  b", res.Body, "a header with a secret is not sent to another origin")

	res, err = do("/far", "k", "b")
	require.NoError(t, err)
	require.Equal(t, "POST /far  b", res.Body, "nor is a header with the name of a credential")

	res, err = do("/there-and-back", "k", "b")
	require.NoError(t, err)
	require.Equal(t, "POST /end  b", res.Body, "even if the other server redirects back")

	_, err = do("/far", "k", "{{secret:KEY:m4rk}}")
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
	_, err := c.Do(t.Context(), &engine.HTTPRequest{SecretMark: "m4rk", Method: "GET", URL: server.URL})
	require.ErrorIs(t, err, ErrTooLarge)
	_, err = c.Do(t.Context(), &engine.HTTPRequest{
		SecretMark: "m4rk", Method: "GET", URL: server.URL + "/slow",
		Timeout: 50 * time.Millisecond,
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "by proxy: "+r.URL.String())
	}))
	defer proxy.Close()
	res, err := (&Client{AllowPrivate: true}).Do(t.Context(),
		&engine.HTTPRequest{SecretMark: "m4rk", Method: "GET", URL: "http://example.invalid/x", Proxy: proxy.URL})
	require.NoError(t, err)
	require.Equal(t, "by proxy: http://example.invalid/x", res.Body)
	for _, wrong := range []string{"://", "http://sesame@%zz", "//sesame:open@"} {
		_, err = (&Client{AllowPrivate: true}).Do(t.Context(),
			&engine.HTTPRequest{SecretMark: "m4rk", Method: "GET", URL: "http://example.invalid/x", Proxy: wrong})
		require.ErrorContains(t, err, "is not an address")
		require.NotContains(t, err.Error(), "sesame")
	}
}

func TestErrorsHideSecrets(t *testing.T) {
	c := &Client{AllowPrivate: true, Secrets: secrets("KEY", "abcd1234")}
	_, err := c.Do(t.Context(), &engine.HTTPRequest{
		SecretMark: "m4rk", Method: "GET",
		URL: "http://127.0.0.1:1/p/{{secret:KEY:m4rk}}",
	})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "abcd1234")
}

// TestPlaceholdersWithoutTheMarkArePlain sends foreign placeholders together with one of the
// canvas.
func TestPlaceholdersWithoutTheMarkArePlain(t *testing.T) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		uri, _ := url.QueryUnescape(r.URL.RequestURI())
		seen = []string{r.Header.Get("X-Key"), uri, r.Header.Get("X-Own"), string(body)}
	}))
	defer server.Close()
	const foreign = "{{secret:KEY}}{{secret:KEY:}}{{secret:KEY:n}}{{secret:KEY:m4rkm4rk}}"
	for _, mark := range []string{"m4rk", ""} {
		c := &Client{AllowPrivate: true, Secrets: secrets("KEY", "abcd1234")}
		own := "{{secret:KEY:" + mark + "}}"
		_, err := c.Do(t.Context(), &engine.HTTPRequest{
			SecretMark: mark, Method: "POST", URL: server.URL + "/" + foreign + "?q=" + foreign, Body: foreign,
			Header: []engine.HTTPHeader{{Name: "X-Key", Value: foreign}, {Name: "X-Own", Value: own}},
		})
		require.NoError(t, err)
		require.Equal(t, []string{foreign, "/" + foreign + "?q=" + foreign}, seen[:2])
		require.Equal(t, foreign, seen[3])
		require.Equal(t, map[string]string{"m4rk": "abcd1234", "": own}[mark], seen[2])
	}
}

// bound is a secret store whose secret KEY is bound to hosts.
type bound []string

func (b bound) Secret(context.Context, string) (engine.Secret, error) {
	return engine.Secret{Value: "abcd1234", Hosts: b}, nil
}

func TestSecretsAreBoundToHosts(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked++; r.URL.Path == "/away" {
			http.Redirect(w, r, strings.Replace("http://"+r.Host, "127.0.0.1", "localhost", 1)+"/",
				http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, r.Header.Get("X-Key"))
	}))
	defer server.Close()
	here := strings.TrimPrefix(server.URL, "http://")
	do := func(hosts []string, address, body string) (*engine.HTTPResponse, error) {
		c := &Client{AllowPrivate: true, Secrets: bound(hosts)}
		return c.Do(t.Context(), &engine.HTTPRequest{
			SecretMark: "m4rk", Method: "POST", URL: address,
			Header: []engine.HTTPHeader{{Name: "X-Key", Value: "{{secret:KEY:m4rk}}"}}, Body: body,
		})
	}
	for _, hosts := range [][]string{nil, {here}, {"127.0.0.1"}, {"api.example", "*"}} {
		res, err := do(hosts, server.URL, "")
		require.NoError(t, err)
		require.Equal(t, "{{secret:KEY}}", res.Body, "the server received the value")
	}
	asked = 0
	for _, hosts := range [][]string{{"api.example"}, {"127.0.0.1:1"}} {
		_, err := do(hosts, server.URL, "")
		require.ErrorIs(t, err, ErrSecretHost)
		require.ErrorContains(t, err, `secret "KEY"`)
		require.ErrorContains(t, err, here)
	}
	require.Zero(t, asked, "no request is sent")

	res, err := do([]string{here}, server.URL+"/away", "")
	require.NoError(t, err)
	require.Empty(t, res.Body, "a header with a secret is dropped by a redirect to another origin")
	_, err = do([]string{here}, server.URL+"/away", "{{secret:KEY:m4rk}}")
	require.ErrorContains(t, err, "the body holds a secret")
}

// A bound secret reaches no other host by a proxy that reads the request, or by a Host header.
func TestBoundSecretsTakeNoDetour(t *testing.T) {
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Host+" "+r.Header.Get("X-Key"))
	}))
	defer server.Close()
	here := strings.TrimPrefix(server.URL, "http://")
	do := func(hosts []string, proxy, name string) error {
		c := &Client{AllowPrivate: true, Secrets: bound(hosts)}
		r := &engine.HTTPRequest{
			SecretMark: "m4rk", Method: "GET", URL: server.URL + "/", Proxy: proxy,
			Header: []engine.HTTPHeader{{Name: "X-Key", Value: "{{secret:KEY:m4rk}}"}},
		}
		if name != "" {
			r.Header = append(r.Header, engine.HTTPHeader{Name: "host", Value: name})
		}
		_, err := c.Do(t.Context(), r)
		return err
	}
	proxy := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	for _, c := range []struct{ proxy, name string }{
		{proxy, ""}, {"", "evil.example"}, {"", "127.0.0.1:1"}, {"", "127.0.0.1:1@" + here}, {proxy, here},
	} {
		require.ErrorIs(t, do([]string{here}, c.proxy, c.name), ErrSecretHost, "%v", c)
	}
	require.Empty(t, seen)
	require.NoError(t, do([]string{here, "localhost"}, proxy, ""))
	require.NoError(t, do([]string{here}, "", here))
	require.NoError(t, do(nil, proxy, "any.example"))
	require.Len(t, seen, 3)
}

func TestProxyPasswordMayBeASecret(t *testing.T) {
	var seen string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request,
	) {
		seen = r.Header.Get("Proxy-Authorization")
	}))
	defer proxy.Close()
	at := "http://u:{{secret:KEY:m4rk}}@" + strings.TrimPrefix(proxy.URL, "http://")
	c := &Client{AllowPrivate: true, Secrets: secrets("KEY", "abcd1234")}
	_, err := c.Do(t.Context(), &engine.HTTPRequest{
		SecretMark: "m4rk", Method: "GET", URL: "http://example.invalid/",
		Proxy: at,
	})
	require.NoError(t, err)
	require.Equal(t, "Basic "+base64.StdEncoding.EncodeToString([]byte("u:abcd1234")), seen)
	c.Secrets = bound{"other.example"}
	_, err = c.Do(t.Context(), &engine.HTTPRequest{
		SecretMark: "m4rk", Method: "GET", URL: "http://example.invalid/",
		Proxy: at,
	})
	require.ErrorIs(t, err, ErrSecretHost)
}

func TestEnvironmentBindsSecrets(t *testing.T) {
	e := secrets("KEY", "v", "KEY_HOSTS", "api.example, *.other.example:8443", "BAD", "v", "BAD_HOSTS", "https://x",
		"FREE", "v")
	got, err := e.Secret(t.Context(), "KEY")
	require.NoError(t, err)
	require.Equal(t, engine.Secret{Value: "v", Hosts: []string{"api.example", "*.other.example:8443"}}, got)
	got, err = e.Secret(t.Context(), "FREE")
	require.NoError(t, err)
	require.Equal(t, engine.Secret{Value: "v"}, got)
	_, err = e.Secret(t.Context(), "BAD")
	require.ErrorContains(t, err, "EASEL_SECRET_BAD_HOSTS")
	_, err = e.Secret(t.Context(), "KEY_HOSTS")
	require.ErrorIs(t, err, ErrNoSecret)
}
