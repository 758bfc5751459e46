package plugin

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/hostmatch"
	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Bounds of one request of a plugin.
const (
	maxHops     = 5
	maxResponse = 10 << 20
	fetchFor    = 10 * time.Second
)

// fetchRequest is the request of http.fetch.
type fetchRequest struct {
	URL     string
	Method  string
	Headers map[string]string
	Stream  bool
	body    []byte
}

// fetched is the result of http.fetch.
type fetched struct {
	Status  int
	Headers map[string]string
	Stream  int // for http.read, instead of a body
	body    []byte
}

// readFetch reads the arguments of http.fetch, or of an http_request of Extism.
func readFetch(op string, args engine.Value) (r fetchRequest, err error) {
	for name, into := range map[string]*string{"url": &r.URL, "method": &r.Method} {
		if *into, err = textOf(op, args, name); err != nil {
			return r, err
		}
	}
	headers := args.Get("headers")
	if !headers.IsNull() && headers.Kind() != engine.KindObject {
		return r, contract.Errorf(contract.InvalidArgument, "%s: headers is not an object", op)
	}
	r.Headers = make(map[string]string, headers.Len())
	for name := range headers.Fields() {
		if r.Headers[name], err = textOf(op+": headers", headers, name); err != nil {
			return r, err
		}
	}
	return r, nil
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
func (r *requests) fetchOp(args engine.Value) (engine.Value, error) {
	in, err := readFetch("http.fetch", args)
	if err != nil {
		return engine.Null, err
	}
	in.Stream = args.Get("stream").True()
	body, err := textOf("http.fetch", args, "body")
	if err != nil {
		return engine.Null, err
	}
	in.body = []byte(body)
	if encoded := args.Get("body_base64").Str(); encoded != "" {
		if in.body, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return engine.Null, contract.Errorf(contract.InvalidArgument, "http.fetch: body_base64: %v", err)
		}
	}
	out, e := r.fetch(in)
	if e != nil {
		return engine.Null, e
	}
	answer := engine.NewObject(3).Set("status", engine.Int(int64(out.Status))).Set("headers", headerObject(out.Headers))
	if out.Stream > 0 {
		return answer.Set("stream", engine.Int(int64(out.Stream))).Value(), nil
	}
	return bodyMember(answer, out.body).Value(), nil
}

// fetch runs a request and its redirects, each checked against the grant.
func (r *requests) fetch(in fetchRequest) (*fetched, *contract.Error) {
	g := r.g
	if g.grant.HTTP == nil {
		return nil, contract.Errorf(contract.Denied, "http.fetch is not granted")
	}
	var out *fetched
	var e *contract.Error
	g.outside(func() {
		ctx, stop := g.hostContext()
		late := time.AfterFunc(fetchFor, stop)
		defer late.Stop()
		t := newTrip(ctx, stop, g.m.host.fetcher, in)
		t.grant, t.secrets, t.mark, t.hold = g.grant, g.req.Services.Secrets, g.req.SecretMark, r.hold
		if out, e = t.follow(); e != nil {
			e.Message = string(t.used.mask([]byte(e.Message)))
		}
		if e != nil || out.Stream == 0 { // the body of a stream is still to come
			stop()
		}
		if e == nil && g.m.decodeText {
			out.asUTF8()
		}
	})
	return out, e
}

// headerObject writes headers by name.
func headerObject(headers map[string]string) engine.Value {
	b := engine.NewObject(len(headers))
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		b.Set(name, engine.String(headers[name]))
	}
	return b.Value()
}

// trip is one request with its hops, in the name of a plugin.
type trip struct {
	ctx     context.Context
	stop    context.CancelFunc // of ctx
	clients *fetcher
	grant   *contract.Permissions // HTTP is granted
	secrets Secrets               // nil: none
	mark    string                // of the placeholders that count
	// hold keeps the body of a stream; nil where streams are not supported.
	hold    func(*trip, *http.Response) (int, *contract.Error)
	request fetchRequest
	method  string
	body    []byte
	used    hidden // secret values put in, to be masked in what comes back
	strange bool   // the origin has changed on the way
}

func newTrip(ctx context.Context, stop context.CancelFunc, clients *fetcher, r fetchRequest) *trip {
	return &trip{ctx: ctx, stop: stop, clients: clients, request: r, method: r.Method, body: r.body}
}

func (t *trip) follow() (*fetched, *contract.Error) {
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
			return nil, contract.Errorf(contract.Upstream, "http.fetch: %v", err)
		}
		if res.StatusCode == http.StatusSeeOther || t.method == http.MethodPost && res.StatusCode < 307 {
			t.method, t.body = http.MethodGet, nil
		}
		from, next = u, location
	}
	return nil, contract.Errorf(contract.Upstream, "http.fetch: more than %d redirects", maxHops)
}

func redirects(status int) bool {
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308
}

// check resolves next against the last hop and refuses addresses that are not granted.
func (t *trip) check(from *url.URL, next string) (*url.URL, *contract.Error) {
	u, err := url.Parse(next)
	if err == nil && from != nil {
		u = from.ResolveReference(u)
	}
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, contract.Errorf(contract.InvalidArgument, "http.fetch: want an http or https URL without user name")
	}
	p := t.grant.HTTP
	if !hostmatch.Any(p.Hosts, hostmatch.Of(u)) {
		return nil, contract.Errorf(contract.Denied, "http.fetch: host %s is not granted; granted are %s", u.Host,
			strings.Join(p.Hosts, ", "))
	}
	if methods := p.AllowedMethods(); !slices.Contains(methods, t.method) && !slices.Contains(methods, "*") {
		return nil, contract.Errorf(contract.Denied, "http.fetch: method %s is not granted; granted are %s", t.method,
			strings.Join(methods, ", "))
	}
	return u, nil
}

// hop sends the request to one host, with the secrets bound to it.
func (t *trip) hop(u *url.URL) (*http.Response, *contract.Error) {
	fill := newFiller(t, u)
	target := *u
	if mark := t.mark; mark != "" && strings.Contains(u.Path, mark) { // no place for a secret
		target.Path, target.RawPath = engine.UnmarkSecrets(u.Path, mark), ""
	}
	target.RawQuery = fill.query(u.RawQuery)
	body := fill.body(t.body, t.request.Headers)
	req, err := http.NewRequestWithContext(t.ctx, t.method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, contract.Errorf(contract.InvalidArgument, "http.fetch: %v", err)
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
	client := t.clients.public
	if t.grant.HTTP.Private {
		client = t.clients.private
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
	return reach.IsCredential(name) || engine.HasSecret(value, t.mark)
}

// failure explains why there was no response. Its text holds no URL, which may
// carry a secret.
func (t *trip) failure(err error) *contract.Error {
	var own *contract.Error
	if errors.As(err, &own) {
		return own
	}
	if t.ctx.Err() != nil {
		return contract.Errorf(contract.Upstream, "http.fetch: no answer in time")
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return contract.Errorf(contract.Upstream, "http.fetch: %s", t.used.mask([]byte(err.Error())))
}

// take reads a response, at most maxResponse bytes of it, or keeps the body as a stream.
func (t *trip) take(res *http.Response) (*fetched, *contract.Error) {
	out := &fetched{Status: res.StatusCode, Headers: map[string]string{}}
	for name, values := range res.Header {
		out.Headers[name] = string(t.used.mask([]byte(strings.Join(values, ", "))))
	}
	if encoding := res.Header.Get("Content-Encoding"); encoding != "" && len(t.used.values) > 0 {
		return nil, dropped(res, contract.Errorf(contract.Upstream,
			"http.fetch: the response to a secret is encoded as %s, which cannot be masked", encoding))
	}
	if t.request.Stream {
		var e *contract.Error
		if out.Stream, e = t.hold(t, res); e != nil {
			return nil, dropped(res, e)
		}
		return out, nil
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, t.failure(fmt.Errorf("read: %w", err))
	}
	if len(body) > maxResponse {
		return nil, contract.Errorf(contract.Upstream,
			"http.fetch: response of more than %d bytes; read it in pieces with stream and http.read", maxResponse)
	}
	out.body = t.used.mask(body)
	return out, nil
}

// dropped closes a response without a reader, for the reason e.
func dropped(res *http.Response, e *contract.Error) *contract.Error {
	_ = res.Body.Close() // e is more specific
	return e
}
