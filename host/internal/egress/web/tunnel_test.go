package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http/httpproxy"
)

// proxied returns a proxy that connects everything to one server, and what was asked of it.
func proxied(t *testing.T, server string) (*url.URL, func() []string) {
	t.Helper()
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Method+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		mu.Unlock()
		if server == "" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		to, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() { _, _ = io.Copy(to, conn); _ = to.Close() }()
		_, _ = io.Copy(conn, to)
		_ = conn.Close()
	}))
	t.Cleanup(proxy.Close)
	u, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	return u, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), asked...)
	}
}

// The proxy gets an address, not a name, and is asked for public ones only.
func TestTunnel(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "for "+r.Host)
	}))
	t.Cleanup(server.Close)
	proxy, asked := proxied(t, server.Listener.Addr().String())
	proxy.User = url.UserPassword("easel", "sesame")
	c := &Client{}
	transport := c.Through(func(*http.Request) (*url.URL, error) { return proxy, nil }, c.Transport())
	t.Cleanup(transport.(interface{ CloseIdleConnections() }).CloseIdleConnections)
	get := func(address string) (string, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		res, err := transport.RoundTrip(req)
		if err != nil {
			return "", err
		}
		defer res.Body.Close() //nolint:errcheck // it was read
		body, err := io.ReadAll(res.Body)
		return string(body), err
	}
	text, err := get("http://93.184.216.34:8000/v1")
	require.NoError(t, err)
	require.Equal(t, "for 93.184.216.34:8000", text)
	require.Equal(t, []string{"CONNECT 93.184.216.34:8000 Basic ZWFzZWw6c2VzYW1l"}, asked())
	for _, address := range []string{
		"http://127.0.0.1:8000/", "http://10.0.0.1/", "http://[::1]/", "http://localhost/", "http://169.254.169.254/",
		"http://[::ffff:10.0.0.1]/", "http://0.0.0.0/", "http://[fd00::1]/",
	} {
		_, err := get(address)
		require.ErrorIs(t, err, ErrAddress, address)
	}
	require.Len(t, asked(), 1, "nothing else reached the proxy")
}

func TestTunnelFailures(t *testing.T) {
	refusing, _ := proxied(t, "")
	refusing.User = url.UserPassword("easel", "sesame")
	byToken := *refusing
	byToken.User = url.User("sesame")
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	for _, proxy := range []*url.URL{
		refusing, &byToken,
		{Scheme: "http", Host: silent.Addr().String()},
		{Scheme: "socks5", Host: "127.0.0.1:1"},
		{Scheme: "http", Host: "127.0.0.1:1"},
	} {
		dial := new(Client).tunnel("https", func(*http.Request) (*url.URL, error) { return proxy, nil })
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := dial(ctx, "tcp", "93.184.216.34:443")
		cancel()
		require.ErrorIs(t, err, ErrProxy)
		require.NotContains(t, err.Error(), "sesame")
	}
}

// Proxies are chosen as by each program in Go: by the scheme and not by the port, except those that
// NO_PROXY names.
func TestProxiesOfTheEnvironment(t *testing.T) {
	for _, env := range []httpproxy.Config{
		{HTTPProxy: "http://plain:3128", HTTPSProxy: "http://secure:3128"},
		{HTTPProxy: "plain:3128"},
		{HTTPSProxy: "https://token@secure"},
		{
			HTTPProxy: "plain:3128", HTTPSProxy: "secure:3128",
			NoProxy: "example.com:8000, .lan, *.corp, 93.184.0.0/16, [2606:4700::1]:443, bücher.example",
		},
		{HTTPProxy: "plain:3128", HTTPSProxy: "secure:3128", NoProxy: "*"},
		{},
	} {
		of := env.ProxyFunc()
		for _, address := range []string{
			"http://example.com/v1", "http://example.com:8000/v1", "http://example.com:443/",
			"https://example.com/",
			"https://example.com:80/", "https://example.com:8443/", "http://sub.example.com:8000/",
			"http://EXAMPLE.com:8000/",
			"http://gpu.lan:8000/", "https://a.corp/", "https://corp/", "http://93.184.216.34:8000/",
			"https://[2606:4700::1]/", "https://[2606:4700::1]:8443/", "http://bücher.example/",
			"http://localhost:8000/", "http://127.0.0.1/",
		} {
			target, err := url.Parse(address)
			require.NoError(t, err)
			want, err := of(target)
			require.NoError(t, err)
			var got *url.URL
			asked := false
			c := &Client{}
			transport := c.Through(func(r *http.Request) (*url.URL, error) {
				asked = true
				got, err = of(r.URL)
				require.NoError(t, err)
				return nil, io.EOF // before it connects
			}, c.Transport())
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
			require.NoError(t, err)
			_, err = transport.RoundTrip(req) //nolint:bodyclose // it fails
			require.ErrorIs(t, err, ErrProxy)
			require.True(t, asked)
			require.Equal(t, want, got, "%s with %+v", address, env)
		}
	}
}

// With AllowPrivate a proxy gets requests as from any client: those of plain HTTP as they are.
func TestProxyWithPrivateAddresses(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
	}))
	t.Cleanup(proxy.Close)
	to, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	c := &Client{AllowPrivate: true}
	transport := c.Through(func(*http.Request) (*url.URL, error) { return to, nil }, c.Transport())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://gpu.example:8000/v1", nil)
	require.NoError(t, err)
	res, err := transport.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "http://gpu.example:8000/v1", asked)
}
