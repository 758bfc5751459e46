package plugin

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/hostmatch"
	"github.com/easel-canvas/easel/host/internal/reach"
)

// Bounds of one request of a plugin.
const (
	maxHops     = 5
	maxResponse = 10 << 20
	fetchFor    = 10 * time.Second
)

// fetchRequest is what http.fetch takes.
type fetchRequest struct {
	URL        string            `json:"url"`
	Method     string            `json:"method"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
	BodyBase64 string            `json:"body_base64"`
	Stream     bool              `json:"stream"`
	body       []byte
}

// fetched is what http.fetch gives.
type fetched struct {
	Status     int               `json:"status"`
	Headers    map[string]string `json:"headers"`
	Body       *string           `json:"body,omitempty"`
	BodyBase64 string            `json:"body_base64,omitempty"`
	Stream     int               `json:"stream,omitempty"` // for http.read, in place of a body
	body       []byte
}

// fetcher holds two clients that share nothing: a connection made for a plugin
// that may reach private addresses must not serve one that may not.
type fetcher struct{ public, private *http.Client }

func newFetcher(resolve func(context.Context, string) ([]netip.Addr, error), standIn http.RoundTripper) *fetcher {
	client := func(private bool) *http.Client {
		if standIn != nil {
			return &http.Client{Transport: standIn, CheckRedirect: eachHop}
		}
		d := dialer{resolve: resolve, private: private}
		return &http.Client{
			Transport: &http.Transport{
				DialContext: d.dial, ForceAttemptHTTP2: true, MaxIdleConns: 64, IdleConnTimeout: 30 * time.Second,
				TLSHandshakeTimeout: 5 * time.Second, MaxResponseHeaderBytes: 256 << 10,
			},
			CheckRedirect: eachHop,
		}
	}
	return &fetcher{public: client(false), private: client(true)}
}

// eachHop leaves redirects to the caller, because each has to be checked.
func eachHop(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (f *fetcher) close() {
	f.public.CloseIdleConnections()
	f.private.CloseIdleConnections()
}

// fetchOp is http.fetch.
func (g *guest) fetchOp(r fetchRequest) (any, *Error) {
	r.body = []byte(r.Body)
	if r.BodyBase64 != "" {
		var err error
		if r.body, err = base64.StdEncoding.DecodeString(r.BodyBase64); err != nil {
			return nil, fail(InvalidArgument, "http.fetch: body_base64: %v", err)
		}
	}
	out, e := g.fetch(r)
	if e != nil || out.Stream > 0 {
		return out, e
	}
	if utf8.Valid(out.body) {
		text := string(out.body)
		out.Body = &text
	} else {
		out.BodyBase64 = base64.StdEncoding.EncodeToString(out.body)
	}
	return out, nil
}

// fetch runs a request and its redirects, each checked against the grant.
func (g *guest) fetch(r fetchRequest) (*fetched, *Error) {
	if g.grant.HTTP == nil {
		return nil, fail(Denied, "http.fetch is not granted")
	}
	var out *fetched
	var e *Error
	g.outside(func() {
		ctx, stop := g.hostContext()
		late := time.AfterFunc(fetchFor, stop)
		defer late.Stop()
		t := &trip{g: g, ctx: ctx, stop: stop, request: r, method: r.Method, body: r.body}
		if out, e = t.follow(); e != nil {
			e.Message = string(t.used.mask([]byte(e.Message)))
		}
		if e != nil || out.Stream == 0 { // the body of a stream is still to come
			stop()
		}
	})
	return out, e
}

// trip is one request with its hops.
type trip struct {
	g       *guest
	ctx     context.Context
	stop    context.CancelFunc // of ctx
	request fetchRequest
	method  string
	body    []byte
	used    hidden // secret values put in, to be masked in what comes back
	strange bool   // the origin has changed on the way
}

func (t *trip) follow() (*fetched, *Error) {
	if t.method == "" {
		t.method = http.MethodGet
	}
	next := t.request.URL
	var from *url.URL
	for hop := 0; hop <= maxHops; hop++ {
		u, e := t.check(from, next)
		if e != nil {
			return nil, e
		}
		t.strange = t.strange || from != nil && !reach.SameOrigin(from, u)
		res, e := t.hop(u)
		if e != nil {
			return nil, e
		}
		location := res.Header.Get("Location")
		if !redirects(res.StatusCode) || location == "" {
			return t.take(res)
		}
		if err := res.Body.Close(); err != nil {
			return nil, fail(Upstream, "http.fetch: %v", err)
		}
		if res.StatusCode == http.StatusSeeOther || t.method == http.MethodPost && res.StatusCode < 307 {
			t.method, t.body = http.MethodGet, nil
		}
		from, next = u, location
	}
	return nil, fail(Upstream, "http.fetch: more than %d redirects", maxHops)
}

func redirects(status int) bool {
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308
}

// check resolves next against the last hop and refuses what is not granted.
func (t *trip) check(from *url.URL, next string) (*url.URL, *Error) {
	u, err := url.Parse(next)
	if err == nil && from != nil {
		u = from.ResolveReference(u)
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, fail(InvalidArgument, "http.fetch: want an http or https URL without user name")
	}
	p := t.g.grant.HTTP
	if !hostmatch.Any(p.Hosts, hostmatch.Of(u)) {
		return nil, fail(Denied, "http.fetch: host %s is not granted; granted are %s", u.Host, strings.Join(p.Hosts, ", "))
	}
	if methods := p.methods(); !slices.Contains(methods, t.method) && !slices.Contains(methods, "*") {
		return nil, fail(Denied, "http.fetch: method %s is not granted; granted are %s", t.method, strings.Join(methods, ", "))
	}
	return u, nil
}

// hop sends the request to one host, with the secrets bound to it.
func (t *trip) hop(u *url.URL) (*http.Response, *Error) {
	fill := &filler{t: t, host: hostmatch.Of(u)}
	target := *u
	if mark := t.g.req.SecretMark; mark != "" && strings.Contains(u.Path, mark) { // no place for a secret
		target.Path, target.RawPath = engine.UnmarkSecrets(u.Path, mark), ""
	}
	target.RawQuery = fill.query(u.RawQuery)
	body := fill.body(t.body, t.request.Headers)
	req, err := http.NewRequestWithContext(t.ctx, t.method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fail(InvalidArgument, "http.fetch: %v", err)
	}
	for name, value := range t.request.Headers {
		if t.strange && t.private(name, value) || ours(name) {
			continue
		}
		req.Header.Set(name, fill.header(value))
	}
	if fill.err != nil {
		return nil, fill.err
	}
	client := t.g.m.host.fetcher.public
	if t.g.grant.HTTP.Private {
		client = t.g.m.host.fetcher.private
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, t.failure(err)
	}
	return res, nil
}

// ours reports whether a header is the host's own: the name that was checked, and an encoding that
// can be read here.
func ours(name string) bool {
	return strings.EqualFold(name, "Host") || strings.EqualFold(name, "Accept-Encoding")
}

// private reports whether a header must not follow a redirect to another origin.
func (t *trip) private(name, value string) bool {
	return reach.IsCredential(name) || engine.HasSecret(value, t.g.req.SecretMark)
}

// failure explains why there was no response. Its text holds no URL, which may
// carry a secret.
func (t *trip) failure(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if t.ctx.Err() != nil {
		return fail(Upstream, "http.fetch: no answer in time")
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fail(Upstream, "http.fetch: %s", t.used.mask([]byte(err.Error())))
}

// take reads a response, at most maxResponse bytes of it, or keeps the body as a stream.
func (t *trip) take(res *http.Response) (*fetched, *Error) {
	out := &fetched{Status: res.StatusCode, Headers: map[string]string{}}
	for name, values := range res.Header {
		out.Headers[name] = string(t.used.mask([]byte(strings.Join(values, ", "))))
	}
	if encoding := res.Header.Get("Content-Encoding"); encoding != "" && len(t.used.values) > 0 {
		return nil, dropped(res, fail(Upstream, "http.fetch: the response to a secret is encoded as %s, which cannot be masked", encoding))
	}
	if t.request.Stream {
		var e *Error
		if out.Stream, e = t.g.hold(t, res, t.stop); e != nil {
			return nil, dropped(res, e)
		}
		return out, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, t.failure(fmt.Errorf("read: %w", err))
	}
	if len(body) > maxResponse {
		return nil, fail(Upstream, "http.fetch: response of more than %d bytes; read it in pieces with stream and http.read", maxResponse)
	}
	out.body = t.used.mask(body)
	return out, nil
}

// dropped closes a response without a reader, for the reason e.
func dropped(res *http.Response, e *Error) *Error {
	_ = res.Body.Close() // e says more
	return e
}
