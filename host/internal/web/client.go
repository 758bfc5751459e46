// Package web sends the HTTP requests of canvases behind the engine's HTTP port.
//
// The addresses come from canvases and from models, so they are not trusted: private, local and
// reserved addresses are refused unless allowed. What counts is the address that is really dialled,
// after names are resolved and after each redirect. Answers have a largest size, requests a longest
// time, redirects a largest number.
//
// Secrets stand in a request as placeholders with the mark of its run, see engine.FillSecrets; any
// other placeholder is plain text. They are put in only when the address has been accepted, only
// for the first origin of a request and only for the hosts a secret is bound to, and removed from
// the answer again.
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
	"github.com/easel-canvas/easel/host/internal/reach"
)

var (
	// ErrAddress means that the address is private, local or reserved; allow private addresses if
	// it is meant.
	ErrAddress = errors.New("address is not allowed")
	// ErrTooLarge means that the answer is larger than accepted; raise the limit or ask for less.
	ErrTooLarge = errors.New("answer is too large")
	// ErrRedirects means that one redirect followed another too often.
	ErrRedirects = errors.New("too many redirects")
	// ErrSecretHost means that a secret is bound to other hosts than the one it was to be sent to,
	// and nothing was sent; correct the address, or add the host to the secret.
	ErrSecretHost = errors.New("secret is not bound to this host")
)

const (
	defaultTimeout = 60 * time.Second
	defaultLargest = 16 << 20
	maxRedirects   = 5
)

// Client answers the engine's HTTP port. The zero value is ready; it knows no secrets.
type Client struct {
	AllowPrivate bool           // private and local addresses are reached too
	Largest      int64          // bytes of an answer; 0 is 16 MB
	Secrets      engine.Secrets // nil knows none
}

var _ engine.HTTP = (*Client)(nil)

// Do sends one request. Any status is an answer; an error means that there is none.
func (c *Client) Do(ctx context.Context, req *engine.HTTPRequest) (*engine.HTTPResponse, error) {
	timeout := req.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	e := &exchange{client: c, request: req, method: req.Method, body: req.Body, secrets: SecretBox{from: c.Secrets, mark: req.SecretMark}}
	res, err := e.follow(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", req.Method, e.secrets.plain(plainURL(req.URL)), e.secrets.plainError(err))
	}
	return res, nil
}

// plainURL is an address without what stands behind its path, for messages.
func plainURL(s string) string {
	s, _, _ = strings.Cut(s, "?")
	return s
}

// exchange is one request with its redirects.
type exchange struct {
	client  *Client
	request *engine.HTTPRequest
	method  string
	body    string
	first   *url.URL // whose origin gets credentials
	strange bool     // the origin has changed on the way
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

// send makes one request to one address, without following anything.
func (e *exchange) send(ctx context.Context, address string) (*http.Response, error) {
	u, err := e.parse(address)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DialContext: e.client.Dial, TLSHandshakeTimeout: 10 * time.Second, DisableKeepAlives: true}
	if p := strings.TrimSpace(e.request.Proxy); p != "" {
		proxy, err := e.proxy(ctx, p)
		if err != nil {
			return nil, err
		}
		transport.Proxy = http.ProxyURL(proxy)
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

// proxy is the address of a proxy, whose user name and password may be secrets.
func (e *exchange) proxy(ctx context.Context, text string) (*url.URL, error) {
	proxy, err := url.Parse(e.secrets.cover(text))
	if err != nil || proxy.Host == "" || e.secrets.covered(proxy.Host) {
		return nil, fmt.Errorf("proxy %q is not an address", e.secrets.plain(text))
	}
	if !e.secrets.in(text) {
		return proxy, nil
	}
	full, err := e.secrets.put(ctx, proxy, text, "")
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	if proxy, err = url.Parse(full); err != nil {
		return nil, fmt.Errorf("proxy %q is not an address; a secret in it must be escaped for URLs", e.secrets.plain(text))
	}
	return proxy, nil
}

func (e *exchange) parse(address string) (*url.URL, error) {
	u, err := url.Parse(e.secrets.cover(address))
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("scheme %q: %w: http or https is needed", u.Scheme, ErrAddress)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%w: it names no host", ErrAddress)
	case e.secrets.covered(u.Host):
		return nil, fmt.Errorf("%w: the host must not be a secret", ErrAddress)
	}
	return u, nil
}

// contentType says how the body is written.
func (e *exchange) contentType() string {
	for _, h := range e.request.Header {
		if strings.EqualFold(h.Name, "Content-Type") {
			return h.Value
		}
	}
	return ""
}

// build puts the secrets in. They are meant for the origin the canvas names: once a redirect has
// led to another, headers that hold one, or by their name may carry a credential, are left out, and
// a body that holds one is not sent.
func (e *exchange) build(ctx context.Context, u *url.URL, address string) (*http.Request, error) {
	if e.first == nil {
		e.first = u
	}
	e.strange = e.strange || !reach.SameOrigin(e.first, u)
	if e.strange && e.secrets.in(e.body) {
		return nil, fmt.Errorf("redirect to %s: %w: the body holds a secret that is meant for %s", u.Host, ErrAddress, e.first.Host)
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
		if e.strange && (e.secrets.in(h.Value) || reach.IsCredential(h.Name)) {
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

// read takes the answer in, with secrets taken out.
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

// Dial connects to an address, if it is accepted: each address that a name resolves to is checked
// when it is dialled.
func (c *Client) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, Control: c.control}
	return d.DialContext(ctx, network, address)
}
