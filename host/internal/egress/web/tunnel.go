package web

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
)

// ErrProxy means that the proxy of the operator did not connect; check HTTPS_PROXY and what the
// proxy allows.
var ErrProxy = errors.New("the proxy does not connect")

// proxyTimeout bounds connecting to a proxy and through it.
const proxyTimeout = 10 * time.Second

// maxProxyAnswer bounds the header of a proxy's response.
const maxProxyAnswer = 16 << 10

// Through returns t with the proxies that proxyOf returns, such as [http.ProxyFromEnvironment].
// Names are resolved here and a proxy gets an address that was accepted, by CONNECT for plain HTTP
// too: one that resolved names itself could be led into its own network. With AllowPrivate it gets
// the name, as from any client of Go.
func (c *Client) Through(proxyOf func(*http.Request) (*url.URL, error), t *http.Transport) http.RoundTripper {
	if c.AllowPrivate {
		t.Proxy = proxyOf
		return t
	}
	secure := t.Clone()
	t.DialContext, secure.DialContext = c.tunnel("http", proxyOf), c.tunnel("https", proxyOf)
	return byScheme{plain: t, secure: secure}
}

// byScheme has a transport for each scheme: proxies are chosen by it, and it is not known where
// connections are made.
type byScheme struct{ plain, secure *http.Transport }

func (b byScheme) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme == "https" {
		return b.secure.RoundTrip(r)
	}
	return b.plain.RoundTrip(r)
}

// CloseIdleConnections closes connections that no request uses.
func (b byScheme) CloseIdleConnections() {
	b.plain.CloseIdleConnections()
	b.secure.CloseIdleConnections()
}

// tunnel returns a function like [Client.Dial] that connects through the proxy for an address;
// without one it dials.
func (c *Client) tunnel(scheme string, proxyOf func(*http.Request) (*url.URL, error)) func(
	ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		proxy, err := proxyOf(&http.Request{URL: &url.URL{Scheme: scheme, Host: address}})
		if err != nil {
			return nil, fmt.Errorf("%w: its address is not valid", ErrProxy)
		}
		if proxy == nil {
			return c.Dial(ctx, network, address)
		}
		accepted, err := c.accepted(ctx, host)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, proxyTimeout)
		defer cancel()
		conn, err := tunnel(ctx, proxy, net.JoinHostPort(accepted.String(), port))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrProxy, redact.Address(proxy.String()), err)
		}
		return conn, nil
	}
}

// accepted returns an address of a host, all of whose addresses must be public.
func (c *Client) accepted(ctx context.Context, host string) (netip.Addr, error) {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.Addr{}, err
	}
	for _, a := range addresses {
		if !reach.Public(a) {
			return a, notPublic(host + " is " + a.Unmap().String() + ", which is")
		}
	}
	return addresses[0].Unmap(), nil
}

// tunnel connects to an address through a proxy.
func tunnel(ctx context.Context, proxy *url.URL, address string) (_ net.Conn, err error) {
	secure := proxy.Scheme == "https"
	if !secure && proxy.Scheme != "http" {
		return nil, fmt.Errorf("scheme %q: expected http or https", proxy.Scheme)
	}
	port := proxy.Port()
	if port == "" {
		if port = "80"; secure {
			port = "443"
		}
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(proxy.Hostname(), port))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends what waits
	defer stop()
	if secure {
		conn = tls.Client(conn, &tls.Config{ServerName: proxy.Hostname(), MinVersion: tls.VersionTLS12})
	}
	if err := connect(conn, proxy, address); err != nil {
		return nil, err
	}
	if !stop() {
		return nil, ctx.Err()
	}
	return conn, conn.SetDeadline(time.Time{})
}

// connect requests a connection of a proxy.
func connect(conn net.Conn, proxy *url.URL, address string) error {
	req := &http.Request{
		Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{},
	}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		token := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		req.Header.Set("Proxy-Authorization", "Basic "+token)
	}
	if err := req.Write(conn); err != nil {
		return err
	}
	from := bufio.NewReader(io.LimitReader(conn, maxProxyAnswer))
	res, err := http.ReadResponse(from, req)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK || from.Buffered() > 0 { // servers of models wait for a request
		return fmt.Errorf("status %d %s", res.StatusCode, http.StatusText(res.StatusCode))
	}
	return nil
}
