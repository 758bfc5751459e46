// Package web sends the HTTP requests of canvases. It implements the HTTP port of the engine.
//
// URLs come from canvases and models and are not trusted: private, local and reserved addresses are
// rejected unless allowed. The address that is dialed counts, after name resolution and after each
// redirect. Response size, request time and the number of redirects are limited.
//
// A request refers to secrets by placeholders that carry the mark of its run, see
// engine.FillSecrets; any other placeholder is plain text. A placeholder is replaced only after the
// address was accepted, only for the origin of the first request and only for the hosts that the
// secret is bound to. Values are removed from the response.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/hostmatch"
	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
)

var (
	// ErrAddress means that the address is private, local or reserved; allow private addresses if
	// that is intended.
	ErrAddress = errors.New("address is not allowed")
	// ErrTooLarge means that the response exceeds the limit; raise the limit or request less.
	ErrTooLarge = errors.New("answer is too large")
	// ErrRedirects means that a request was redirected too often.
	ErrRedirects = errors.New("too many redirects")
	// ErrSecretHost means that a secret is not bound to the host of the request, and nothing was
	// sent; correct the URL, or add the host to the secret.
	ErrSecretHost = errors.New("secret is not bound to this host")
)

const (
	defaultTimeout = 60 * time.Second
	defaultLargest = 16 << 20
	maxRedirects   = 5
)

// Client implements the HTTP port of the engine. The zero value is ready to use without secrets.
type Client struct {
	AllowPrivate bool           // allow private and local addresses
	Loopback     uint16         // port of this machine that is allowed though it is local; 0 is none
	Largest      int64          // bytes of a response body; 0 means 16 MB
	Secrets      engine.Secrets // may be nil
}

var _ engine.HTTP = (*Client)(nil)

// Do sends a request and follows redirects. A response of any status is not an error.
func (c *Client) Do(ctx context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	timeout := req.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	e := &exchange{
		client: c, request: req, method: req.Method, body: req.Body,
		secrets: SecretBox{from: c.Secrets, mark: req.SecretMark},
	}
	res, err := e.follow(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, e.secrets.plain(plainURL(req.URL)), e.secrets.plainError(err))
	}
	return res, nil
}

// plainURL returns a URL without its query, for error messages.
func plainURL(s string) string {
	s, _, _ = strings.Cut(s, "?")
	return s
}

// exchange is a request with its redirects.
type exchange struct {
	client  *Client
	request *engine.HTTPRequest
	method  string
	body    string
	first   *url.URL // credentials are sent only to its origin
	crossed bool     // a redirect changed the origin
	secrets SecretBox
}

func (e *exchange) follow(ctx context.Context) (*engine.HTTPResponse, error) {
	address := e.request.URL
	for range maxRedirects + 1 {
		res, err := e.send(ctx, address)
		if err != nil {
			return nil, err
		}
		next := res.Header.Get("Location")
		if !isRedirect(res.StatusCode) || next == "" {
			return e.read(res)
		}
		_ = res.Body.Close()
		target, err := res.Request.URL.Parse(next)
		if err != nil {
			return nil, fmt.Errorf("redirect to %q: %w", next, err)
		}
		if res.StatusCode == http.StatusSeeOther || e.method == http.MethodPost && res.StatusCode <= http.StatusFound {
			e.method, e.body = http.MethodGet, ""
		}
		address = target.String()
	}
	return nil, fmt.Errorf("%w: more than %d", ErrRedirects, maxRedirects)
}

func isRedirect(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// send sends one request without following redirects.
func (e *exchange) send(ctx context.Context, address string) (*http.Response, error) {
	u, err := e.parse(address)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		DialContext: e.client.Dial, TLSHandshakeTimeout: 10 * time.Second,
		DisableKeepAlives: true,
	}
	e.secrets.also = nil
	if p := strings.TrimSpace(e.request.Proxy); p != "" {
		proxy, err := e.proxy(ctx, p)
		if err != nil {
			return nil, err
		}
		transport.Proxy = http.ProxyURL(proxy)
		if u.Scheme == "http" { // the proxy reads it
			e.secrets.also = append(e.secrets.also, hostmatch.Of(proxy))
		}
	}
	for _, h := range e.request.Header {
		// A server of many sites hands the request to the site of this name.
		if strings.EqualFold(h.Name, "Host") {
			e.secrets.also = append(e.secrets.also, hostmatch.Of(&url.URL{Scheme: u.Scheme, Host: h.Value}))
		}
	}
	if err := e.client.check(ctx, u.Hostname()); err != nil {
		return nil, err
	}
	req, err := e.build(ctx, u, address)
	if err != nil {
		return nil, err
	}
	return transport.RoundTrip(req)
}

// proxy returns the URL of a proxy, whose user name and password may be secrets.
func (e *exchange) proxy(ctx context.Context, text string) (*url.URL, error) {
	proxy, err := url.Parse(e.secrets.cover(text))
	if err != nil || proxy.Host == "" || e.secrets.covered(proxy.Host) {
		return nil, fmt.Errorf("proxy %q is not an address", redact.Address(e.secrets.plain(text)))
	}
	if !e.secrets.in(text) {
		return proxy, nil
	}
	full, err := e.secrets.put(ctx, proxy, text, "")
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	if proxy, err = url.Parse(full); err != nil {
		return nil, fmt.Errorf("proxy %q is not an address; a secret in it must be escaped for URLs",
			redact.Address(e.secrets.plain(text)))
	}
	return proxy, nil
}

func (e *exchange) parse(address string) (*url.URL, error) {
	u, err := url.Parse(e.secrets.cover(address))
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("scheme %q: %w: expected http or https", u.Scheme, ErrAddress)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%w: it names no host", ErrAddress)
	case e.secrets.covered(u.Host):
		return nil, fmt.Errorf("%w: the host must not be a secret", ErrAddress)
	}
	return u, nil
}

// contentType returns the Content-Type of the request, or "".
func (e *exchange) contentType() string {
	for _, h := range e.request.Header {
		if strings.EqualFold(h.Name, "Content-Type") {
			return h.Value
		}
	}
	return ""
}

// build creates a request with its secrets filled in. Secrets are meant for the origin that the
// canvas names: after a redirect to another origin, headers with a secret or with the name of a
// credential are dropped, and a body with a secret is not sent.
func (e *exchange) build(ctx context.Context, u *url.URL, address string) (*http.Request, error) {
	if e.first == nil {
		e.first = u
	}
	e.crossed = e.crossed || !reach.SameOrigin(e.first, u)
	if e.crossed && e.secrets.in(e.body) {
		return nil, fmt.Errorf("redirect to %s: %w: the body holds a secret that is meant for %s", u.Host, ErrAddress,
			e.first.Host)
	}
	body, err := e.secrets.put(ctx, u, e.body, e.contentType())
	if err != nil {
		return nil, err
	}
	full, err := e.secrets.putAddress(ctx, u, address)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(e.method), full, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	for _, h := range e.request.Header {
		if e.crossed && (e.secrets.in(h.Value) || reach.IsCredential(h.Name)) {
			continue
		}
		value, err := e.secrets.put(ctx, u, h.Value, "")
		if err != nil {
			return nil, err
		}
		if strings.EqualFold(h.Name, "Host") {
			req.Host = value
			continue
		}
		req.Header.Add(h.Name, value)
	}
	return req, nil
}

// read reads the response and removes secrets from it.
func (e *exchange) read(res *http.Response) (*engine.HTTPResponse, error) {
	defer res.Body.Close()
	largest := e.client.Largest
	if largest <= 0 {
		largest = defaultLargest
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, largest+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > largest {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, largest)
	}
	out := &engine.HTTPResponse{Status: res.StatusCode, Body: e.secrets.plain(string(body))}
	for name, values := range res.Header {
		for _, v := range values {
			out.Header = append(out.Header, engine.HTTPHeader{Name: name, Value: e.secrets.plain(v)})
		}
	}
	sortHeader(out.Header)
	return out, nil
}

// Dial connects to an address if it is allowed. Each resolved address is checked when it is dialed.
// Unix sockets are refused even where private addresses are allowed: a server may take everybody
// who reaches its socket for the user of this process.
func (c *Client) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil, fmt.Errorf("%w: %s %s is not an address of a network", ErrAddress, network, address)
	}
	d := net.Dialer{Timeout: 10 * time.Second, Control: c.control}
	return d.DialContext(ctx, network, address)
}
