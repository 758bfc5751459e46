package plugin

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// keys is a Secrets over a map.
type keys map[string]string

func (k keys) Secret(_ context.Context, name string) (engine.Secret, bool, error) {
	v, ok := k[name]
	return engine.Secret{Value: v, Hosts: k.hosts(name)}, ok, nil
}

// hosts binds the secret BOUND to another host than the tests'.
func (keys) hosts(name string) []string {
	if name == "BOUND" {
		return []string{"other.example"}
	}
	return nil
}

// callMark is the mark of the calls of the tests.
const callMark = "m4rk"

// web is a server and a resolver that sends every name to it.
type web struct {
	*httptest.Server
	mux  *http.ServeMux
	port string
	mu   sync.Mutex
	hits []string // host and path of each request
}

func newWeb(t *testing.T) *web {
	mux := http.NewServeMux()
	w := &web{mux: mux}
	mux.HandleFunc("/hello", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "hello") })
	mux.HandleFunc("/binary", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte{0xff, 0}) })
	mux.HandleFunc("/echo", func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		rw.Header().Set("X-Echo", r.Header.Get("X-Key"))
		fmt.Fprintf(rw, "%s %s auth=%s key=%s body=%s", r.Method, r.URL.RawQuery, r.Header.Get("Authorization"), r.Header.Get("X-Key"), body)
	})
	mux.HandleFunc("/to", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, r.URL.Query().Get("url"), http.StatusFound)
	})
	mux.HandleFunc("/loop", func(rw http.ResponseWriter, r *http.Request) { http.Redirect(rw, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/hang", func(rw http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(rw).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/big", func(rw http.ResponseWriter, _ *http.Request) {
		for range maxResponse/1024 + 2 {
			if _, err := rw.Write(make([]byte, 1024)); err != nil {
				return
			}
		}
	})
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.hits = append(w.hits, r.Host+r.URL.Path)
		w.mu.Unlock()
		mux.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.Close)
	_, w.port, _ = net.SplitHostPort(w.Listener.Addr().String())
	return w
}

// Handle adds a page.
func (w *web) Handle(path string, f http.HandlerFunc) { w.mux.HandleFunc(path, f) }

// at is the address of a page under a name that leads here.
func (w *web) at(host, path string) string { return "http://" + host + ":" + w.port + path }

func (w *web) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	if strings.HasSuffix(host, ".missing") {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func TestFetch(t *testing.T) {
	w := newWeb(t)
	h := newHost(t, Config{Resolve: w.resolve})
	asks := func(plain bool, host string) map[string]any {
		return map[string]any{"hosts": []string{host}, "plain": plain, "reason": "r"}
	}
	plain := asks(true, "good.example:"+w.port)
	permissions := func(private bool) map[string]any {
		return map[string]any{"permissions": map[string]any{
			"http": map[string]any{"hosts": []string{"good.example", "*.cdn.example", "127.0.0.1", "gone.missing"}, "methods": []string{"GET", "POST"}, "private": private, "reason": "r"},
			"secrets": map[string]any{
				"KEY": plain, "NONE": plain, "BOUND": plain, "SEALED": asks(false, "good.example:"+w.port),
				"USUAL": asks(true, "good.example"), "LOCAL": asks(false, "127.0.0.1:"+w.port),
			},
		}}
	}
	open, closed := load(t, h, relay, permissions(true)), load(t, h, relay, permissions(false))
	at := w.at
	fetch := func(m *Module, r fetchArgs) (fetchAnswer, *contract.Error) {
		args, err := json.Marshal(r)
		require.NoError(t, err)
		res, err := m.Call(context.Background(), CallRequest{
			Input: fmt.Appendf(nil, `{"op":"http.fetch","args":%s}`, args), SecretMark: callMark, Services: Services{Secrets: keys{
				"KEY": "s3cr&t\"x", "BOUND": "hush-hush", "SEALED": "sealed-key", "USUAL": "usual-key", "LOCAL": "local-key",
			}},
		})
		require.NoError(t, err)
		var out struct {
			OK    fetchAnswer
			Error *contract.Error
		}
		require.NoError(t, json.Unmarshal(res.Output, &out), string(res.Output))
		return out.OK, out.Error
	}
	for _, c := range []struct {
		name    string
		module  *Module
		request fetchArgs
		body    string
		code    contract.Code
		message string
	}{
		{"a granted host answers", open, fetchArgs{URL: at("good.example", "/hello")}, "hello", "", ""},
		{
			"a host that matches a granted pattern answers",
			open,
			fetchArgs{URL: at("a.cdn.example", "/hello")},
			"hello", "", "",
		},
		{
			"another host is denied", open,
			fetchArgs{URL: at("evil.example", "/hello")},
			"", contract.Denied,
			"host evil.example:" + w.port + " is not granted",
		},
		{
			"a host with a granted suffix is denied", open,
			fetchArgs{URL: at("evilgood.example", "/hello")},
			"",
			contract.Denied, "not granted",
		},
		{
			"another method is denied", open,
			fetchArgs{URL: at("good.example", "/echo"), Method: "DELETE"},
			"",
			contract.Denied, "method DELETE",
		},
		{
			"a redirect to a granted host is followed", open,
			fetchArgs{URL: at("good.example", "/to?url="+at("x.cdn.example", "/hello"))},
			"hello", "", "",
		},
		{
			"a redirect to a denied host is denied", open,
			fetchArgs{URL: at("good.example", "/to?url="+at("evil.example",
				"/hello"))},
			"", contract.Denied, "evil.example",
		},
		{
			"a redirect to a file is refused", open,
			fetchArgs{URL: at("good.example", "/to?url=file:///etc/passwd")},
			"",
			contract.InvalidArgument, "http or https",
		},
		{
			"endless redirects are stopped", open,
			fetchArgs{URL: at("good.example", "/loop")},
			"", contract.Upstream,
			"more than 5 redirects",
		},
		{
			"a name that resolves to a private address is denied", closed,
			fetchArgs{URL: at("good.example", "/hello")},
			"", contract.Denied, "private or special address 127.0.0.1",
		},
		{
			"a private address is denied", closed,
			fetchArgs{URL: at("127.0.0.1", "/hello")},
			"", contract.Denied,
			"private or special address",
		},
		{
			"an unknown host is an upstream error", open,
			fetchArgs{URL: at("gone.missing", "/")},
			"",
			contract.Upstream, "no such host",
		},
		{
			"a user name in the URL is refused", open,
			fetchArgs{URL: "http://u:p@good.example/"},
			"", contract.InvalidArgument,
			"without user name",
		},
		{
			"too large a response", open,
			fetchArgs{URL: at("good.example", "/big")},
			"", contract.Upstream,
			"more than",
		},
		{
			"a secret is inserted and masked in the response", open,
			fetchArgs{
				URL:     at("good.example", "/echo"),
				Headers: map[string]string{"X-Key": "{{secret:KEY:m4rk}}"},
			},
			"GET  auth= key=*** body=", "", "",
		},
		{
			"a secret in the query is escaped", open,
			fetchArgs{URL: at("good.example", "/echo?k={{secret:KEY:m4rk}}")},
			"GET k=*** auth= key= body=", "", "",
		},
		{
			"a secret in a JSON body is escaped", open,
			fetchArgs{
				URL: at("good.example", "/echo"), Method: "POST",
				Headers: map[string]string{"Content-Type": "application/json"}, Body: `{"k":"{{secret:KEY:m4rk}}"}`,
			},
			`POST  auth= key= body={"k":"***"}`, "", "",
		},
		{
			"a secret is sent to its hosts only", open,
			fetchArgs{
				URL:     at("a.cdn.example", "/echo"),
				Headers: map[string]string{"X-Key": "{{secret:KEY:m4rk}}"},
			},
			"", contract.Denied,
			"not bound to host a.cdn.example",
		},
		{
			"a secret is sent over https only", open,
			fetchArgs{URL: at("good.example", "/echo"), Headers: map[string]string{"X-Key": "{{secret:SEALED:m4rk}}"}},
			"", contract.Denied, "secret SEALED goes to host good.example:" + w.port + " over https only",
		},
		{
			"a secret is sent to the default port only", open,
			fetchArgs{URL: at("good.example", "/echo"), Headers: map[string]string{"X-Key": "{{secret:USUAL:m4rk}}"}},
			"", contract.Denied, "secret USUAL is not bound to host good.example:" + w.port,
		},
		{
			"a secret for this machine is sent over http", open,
			fetchArgs{URL: at("127.0.0.1", "/echo"), Headers: map[string]string{"X-Key": "{{secret:LOCAL:m4rk}}"}},
			"GET  auth= key=*** body=", "", "",
		},
		{"a secret that was not granted", open, fetchArgs{
			URL:     at("good.example", "/echo"),
			Headers: map[string]string{"X-Key": "{{secret:OTHER:m4rk}}"},
		}, "", contract.Denied, "OTHER is not granted"},
		{
			"a secret that is not configured", open,
			fetchArgs{
				URL:     at("good.example", "/echo"),
				Headers: map[string]string{"X-Key": "{{secret:NONE:m4rk}}"},
			},
			"", contract.Unauthorized,
			"NONE is not configured",
		},
		{
			"a secret bound to another host", open,
			fetchArgs{
				URL:     at("good.example", "/echo"),
				Headers: map[string]string{"X-Key": "{{secret:BOUND:m4rk}}"},
			},
			"", contract.Denied,
			"BOUND is bound to other.example, not to host good.example",
		},
		{
			"a placeholder without the mark is plain text", open,
			fetchArgs{
				URL:     at("good.example", "/echo"),
				Headers: map[string]string{"X-Key": "{{secret:KEY}}{{secret:KEY:}}{{secret:KEY:m}}{{secret:KEY:m4rk4}}"},
			},
			"GET  auth= key={{secret:KEY}}{{secret:KEY:}}{{secret:KEY:m}}{{secret:KEY4}} body=", "", "",
		},
		{
			"a placeholder without the mark in the query is plain text", open,
			fetchArgs{URL: at("good.example",
				"/echo?k=%7B%7Bsecret%3AKEY%7D%7D{{secret:KEY}}")},
			"GET k=%7B%7Bsecret%3AKEY%7D%7D{{secret:KEY}} auth= key= body=", "", "",
		},
		{
			"a placeholder without the mark in a body is plain text", open,
			fetchArgs{
				URL: at("good.example", "/echo"), Method: "POST",
				Headers: map[string]string{"Content-Type": "application/json"},
				Body:    `{"k":"{{secret:KEY}}","l":"{{sec\u0072et:KEY:m4rk}}"}`,
			},
			`POST  auth= key= body={"k":"{{secret:KEY}}","l":"{{sec\u0072et:KEY}}"}`, "", "",
		},
		{
			"keys are not sent to another host after a redirect", open,
			fetchArgs{
				URL:     at("good.example", "/to?url="+at("b.cdn.example", "/echo")),
				Headers: map[string]string{"X-Key": "plain"},
			},
			"GET  auth= key= body=", "", "",
		},
		{
			"secrets are not sent to another host after a redirect", open,
			fetchArgs{
				URL: at("good.example", "/to?url="+at("b.cdn.example", "/echo")),
				Headers: map[string]string{
					"X-Key":         "{{secret:KEY:m4rk}}",
					"Authorization": "Bearer x",
				},
			},
			"GET  auth= key= body=", "", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, e := fetch(c.module, c.request)
			if c.code != "" {
				require.NotNil(t, e)
				require.Equal(t, c.code, e.Code)
				require.Contains(t, e.Message, c.message)
				return
			}
			require.Nil(t, e)
			require.Equal(t, c.body, *out.Body)
		})
	}
	for _, hit := range w.hits {
		require.NotContains(t, hit, "evil", "no request reached a denied host")
	}
	t.Run("bytes that are not text are sent in base64", func(t *testing.T) {
		out, e := fetch(open, fetchArgs{URL: at("good.example", "/binary")})
		require.Nil(t, e)
		require.Equal(t, "/wA=", out.BodyBase64)
	})
	t.Run("a slow server does not outlast the deadline", func(t *testing.T) {
		began := time.Now()
		_, err := open.Call(context.Background(), CallRequest{Input: fmt.Appendf(nil, `{"op":"http.fetch","args":{"url":%q}}`, at("good.example", "/slow")), Timeout: 100 * time.Millisecond})
		require.ErrorIs(t, err, contract.Timeout)
		require.Less(t, time.Since(began), patience, "the service never answers")
	})
}

// fetchArgs are the arguments of http.fetch.
type fetchArgs struct {
	URL     string            `json:"url"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

// fetchAnswer is the response of http.fetch.
type fetchAnswer struct {
	Headers    map[string]string `json:"headers"`
	Body       *string           `json:"body"`
	BodyBase64 string            `json:"body_base64"`
}

// TestSecretsAreMasked uses a service that returns secrets in every possible form.
func TestSecretsAreMasked(t *testing.T) {
	const secret = `pa&ss"wörd/1`
	w := newWeb(t)
	var seen http.Header
	w.Handle("/mirror", func(rw http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		key, auth := r.Header.Get("X-Key"), r.Header.Get("Authorization")
		rw.Header().Set("X-Key", key)
		rw.Header().Set("X-Auth", auth)
		rw.Header().Add("X-Two", "a")
		rw.Header().Add("X-Two", base64.URLEncoding.EncodeToString([]byte(key)))
		text, _ := json.Marshal(map[string]string{"key": key})
		fmt.Fprintf(rw, "%s|%s|%s|%s|%s|%s", key, auth, url.QueryEscape(key), url.PathEscape(key), text, base64.StdEncoding.EncodeToString([]byte("12"+key+"345")))
	})
	w.Handle("/away", func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "http://"+r.URL.Query().Get("k")+".evil.example/", http.StatusFound)
	})
	w.Handle("/packed", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "br")
		fmt.Fprint(rw, r.Header.Get("X-Key"))
	})
	w.Handle("/gzip", func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(rw)
		fmt.Fprint(z, r.Header.Get("X-Key"), r.Header.Get("Accept-Encoding"))
		_ = z.Close()
	})
	log := &bytes.Buffer{}
	h := newHost(t, Config{Resolve: w.resolve, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	bound := map[string]any{"hosts": []string{"good.example:" + w.port}, "plain": true, "reason": "r"}
	m := load(t, h, relay, map[string]any{"permissions": map[string]any{
		"http":    map[string]any{"hosts": []string{"good.example"}, "private": true, "reason": "r"},
		"secrets": map[string]any{"KEY": bound, "SHORT": bound},
	}})
	fetch := func(path string, headers map[string]string) string {
		t.Helper()
		args, err := json.Marshal(fetchArgs{URL: w.at("good.example", path), Headers: headers})
		require.NoError(t, err)
		res, err := m.Call(context.Background(), CallRequest{
			Input: fmt.Appendf(nil, `{"op":"http.fetch","args":%s}`, args), SecretMark: callMark, Services: Services{Secrets: keys{"KEY": secret, "SHORT": "hush-hush"}},
		})
		require.NoError(t, err)
		for _, form := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret), "hush-hush"} {
			require.NotContains(t, string(res.Output), form)
			require.NotContains(t, log.String(), form)
		}
		return string(res.Output)
	}
	t.Run("in headers and bodies, escaped or in base64", func(t *testing.T) {
		out := fetch("/mirror", map[string]string{"X-Key": "{{secret:KEY:m4rk}}", "Authorization": "Basic {{base64:user:{{secret:KEY:m4rk}}}}"})
		require.Equal(t, secret, seen.Get("X-Key"), "the service itself gets it")
		user, password, ok := (&http.Request{Header: seen}).BasicAuth()
		require.True(t, ok)
		require.Equal(t, []string{"user", secret}, []string{user, password})
		var got struct{ OK fetchAnswer }
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		require.Equal(t, "***", got.OK.Headers["X-Key"])
		require.Equal(t, "Basic ***", got.OK.Headers["X-Auth"])
		require.Equal(t, "a, ***", got.OK.Headers["X-Two"])
		require.Regexp(t, `^\*\*\*\|Basic \*\*\*\|\*\*\*\|\*\*\*\|{"key":"\*\*\*"}\|.{2,3}\*\*\*.{4,6}$`, *got.OK.Body)
	})
	t.Run("in the name of a host", func(t *testing.T) {
		require.Contains(t, fetch("/away?k={{secret:SHORT:m4rk}}", nil), `"message":"http.fetch: host ***.evil.example is not granted`)
	})
	t.Run("in errors of the transport", func(t *testing.T) {
		require.Contains(t, fetch("/mirror", map[string]string{"X-Key": "{{secret:KEY:m4rk}}\n"}), `"code":"upstream"`)
	})
	t.Run("what cannot be read is refused", func(t *testing.T) {
		require.Contains(t, fetch("/packed", map[string]string{"X-Key": "{{secret:KEY:m4rk}}"}), "encoded as br")
	})
	t.Run("compression is the host's", func(t *testing.T) {
		require.Contains(t, fetch("/gzip", map[string]string{"X-Key": "{{secret:KEY:m4rk}}", "Accept-Encoding": "br"}), `"body":"***gzip"`)
	})
	t.Run("base64 counts around a secret only", func(t *testing.T) {
		fetch("/mirror", map[string]string{"Authorization": "Basic {{base64:user:{{secret:KEY}}}}", "X-Key": "{{base64:user:open}}"})
		require.Equal(t, "Basic {{base64:user:{{secret:KEY}}}}", seen.Get("Authorization"))
		require.Equal(t, "{{base64:user:open}}", seen.Get("X-Key"))
	})
}
