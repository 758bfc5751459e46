// Package mcp lets canvases use tools of MCP servers, through the official SDK.
//
// A [Server] is what a tenant has written down about one: address, transport,
// headers. [Client] connects, lists tools and calls them. A connection is kept
// until its run ends ([Client.End]) or nobody has used it for a while, so that
// the calls of one run share a session, and ask for the list of tools once.
// Connections are never shared between tenants or runs.
//
// What a server reports as an error is the answer's text, for the model to
// read; an error of this package means that the server did not answer.
// Addresses are checked by the transport that the host gives, when they are
// dialled.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/reach"
)

// Types of servers, as they are written down.
const (
	TypeSSE        = "sse"
	TypeStreamable = "streamable-http"
)

var (
	// ErrType says that the transport is neither sse nor streamable-http.
	ErrType = errors.New("unsupported MCP server type")
	// ErrAddress says that the address is no http or https URL.
	ErrAddress = errors.New("invalid MCP server address")
	// ErrServer says that the server did not answer as it should; try again or
	// check its address.
	ErrServer = errors.New("MCP server does not answer")
)

// Server is how a server is reached.
type Server struct {
	ID      string
	Name    string
	Type    string
	URL     string
	Headers map[string]string // values may hold {{name}} of Values
	Values  map[string]string
}

// Check says whether type and address can be used at all.
func (s *Server) Check() error {
	if s.Type != TypeSSE && s.Type != TypeStreamable {
		return fmt.Errorf("%w: %.40q", ErrType, s.Type)
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(s.URL) > 2048 {
		return fmt.Errorf("%w: %.80q", ErrAddress, s.URL)
	}
	return nil
}

// Client connects to servers. The zero value uses a plain transport; a host
// sets one that refuses private addresses.
type Client struct {
	Transport http.RoundTripper
	// Timeout bounds a call; 0 means 60 s.
	Timeout time.Duration
	// ListTimeout bounds how long an agent waits for the list of a server's
	// tools, connecting included; 0 means 10 s.
	ListTimeout time.Duration
	// Idle is how long a connection is kept after its last call; 0 means 5
	// minutes.
	Idle time.Duration
	// Version is sent to servers.
	Version string

	mu    sync.Mutex
	lines map[string]*line
	life  context.Context // ends with Close; nil until somebody needs it
	end   context.CancelFunc
}

// line is one connection of one user to one server.
type line struct {
	ready   chan struct{} // closed when session or err is set
	session *sdk.ClientSession
	err     error
	offer   offer
	users   int
	timer   *time.Timer
}

// orElse is a setting, or what it means when it is not set.
func orElse(set, standard time.Duration) time.Duration {
	if set > 0 {
		return set
	}
	return standard
}

// bounded ends a caller's context after a time, and with the client: closing a
// session waits for the answers to all that was asked on it.
func (c *Client) bounded(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, done := context.WithTimeout(ctx, most)
	stop := context.AfterFunc(c.alive(), done)
	return ctx, func() { stop(); done() }
}

// alive is a context that lasts until Close.
func (c *Client) alive() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life == nil {
		c.life, c.end = context.WithCancel(context.Background())
	}
	return c.life
}

// Tools asks a server for its tools as it describes them: {name, description,
// inputSchema, annotations, ...}.
func (c *Client) Tools(ctx context.Context, owner string, s Server) ([]engine.Value, error) {
	ctx, done := c.bounded(ctx, orElse(c.Timeout, time.Minute))
	defer done()
	var out []engine.Value
	err := c.use(ctx, owner, s, func(l *line) (err error) {
		out, err = listTools(ctx, l.session)
		return err
	})
	return out, err
}

// Offered is like Tools, but asks once per connection, and again when the
// server has said on it that its tools have changed.
func (c *Client) Offered(ctx context.Context, owner string, s Server) ([]engine.Value, error) {
	ctx, done := c.bounded(ctx, orElse(c.ListTimeout, 10*time.Second))
	defer done()
	var out []engine.Value
	err := c.use(ctx, owner, s, func(l *line) (err error) {
		out, err = l.offer.get(ctx, l.session)
		return err
	})
	return out, err
}

// Call calls a tool. The text is the tool's answer or what it reports as its
// error.
func (c *Client) Call(ctx context.Context, owner string, s Server, tool string, arguments engine.Value) (string, error) {
	ctx, done := c.bounded(ctx, orElse(c.Timeout, time.Minute))
	defer done()
	if arguments.Kind() != engine.KindObject {
		arguments = engine.Object()
	}
	var text string
	err := c.use(ctx, owner, s, func(l *line) error {
		res, err := l.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments.AppendJSON(nil))})
		if said, ok := refusal(err); ok {
			text = serverError + said
			return nil
		}
		if err != nil {
			return err
		}
		text = textOf(res)
		return nil
	})
	return text, err
}

// serverError stands before what a server reports as an error.
const serverError = "MCP server error: "

// refusal is what a server answers in place of a result: that it has no such
// tool, or that the arguments do not fit. It is the tool's failure, not the
// connection's.
func refusal(err error) (text string, ok bool) {
	var answer *jsonrpc.Error
	if !errors.As(err, &answer) {
		return "", false
	}
	switch answer.Code {
	case jsonrpc.CodeInvalidParams, jsonrpc.CodeMethodNotFound, jsonrpc.CodeInternalError:
		return answer.Message, true
	}
	return "", false
}

// textOf is a result as text: its text parts, a note for each other part, and
// the structured content when there is nothing else.
func textOf(res *sdk.CallToolResult) string {
	var parts []string
	for _, part := range res.Content {
		switch p := part.(type) {
		case *sdk.TextContent:
			parts = append(parts, p.Text)
		case *sdk.ImageContent:
			parts = append(parts, "[image "+p.MIMEType+"]")
		case *sdk.AudioContent:
			parts = append(parts, "[audio "+p.MIMEType+"]")
		case *sdk.ResourceLink:
			parts = append(parts, p.URI)
		case *sdk.EmbeddedResource:
			if p.Resource != nil {
				parts = append(parts, p.Resource.Text)
			}
		}
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if text, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(text))
		}
	}
	text := strings.Join(parts, "\n")
	if res.IsError {
		return serverError + text
	}
	return text
}

// use gives fn a connection, a new one when the kept one is broken.
func (c *Client) use(ctx context.Context, owner string, s Server, fn func(*line) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	key := ownerKey(owner) + s.ID + "\n" + s.URL
	for again := false; ; again = true {
		l, old := c.line(ctx, key, s)
		select {
		case <-l.ready:
		case <-ctx.Done():
			c.leave(key, l, true)
			return fmt.Errorf("%w: %s: %w", ErrServer, s.Name, ctx.Err())
		}
		err := l.err
		if err == nil {
			err = fn(l)
		}
		c.leave(key, l, err != nil)
		if err == nil {
			return nil
		}
		if !old || again || ctx.Err() != nil {
			return fmt.Errorf("%w: %s: %w", ErrServer, s.Name, err)
		}
	}
}

// ownerKey begins the names of all connections of an owner.
func ownerKey(owner string) string { return owner + "\n" }

// line finds or makes a connection; old says that it was used before.
func (c *Client) line(ctx context.Context, key string, s Server) (l *line, old bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l = c.lines[key]; l != nil {
		l.users++
		if l.timer != nil {
			l.timer.Stop()
		}
		return l, true
	}
	if c.lines == nil {
		c.lines = map[string]*line{}
	}
	l = &line{ready: make(chan struct{}), users: 1}
	c.lines[key] = l
	go func() {
		defer close(l.ready)
		l.session, l.err = c.connect(ctx, s, &l.offer)
	}()
	return l, false
}

// leave gives a connection back; a broken one is not used again.
func (c *Client) leave(key string, l *line, broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.users--
	if broken && c.lines[key] == l {
		delete(c.lines, key)
	}
	if l.users > 0 {
		return
	}
	if c.lines[key] != l {
		go l.close()
		return
	}
	l.timer = time.AfterFunc(orElse(c.Idle, 5*time.Minute), func() {
		c.mu.Lock()
		drop := l.users == 0 && c.lines[key] == l
		if drop {
			delete(c.lines, key)
		}
		c.mu.Unlock()
		if drop {
			l.close()
		}
	})
}

// End closes the connections of an owner, which needs them no more, in the
// background.
func (c *Client) End(owner string) {
	for _, l := range c.drop(ownerKey(owner)) {
		go l.close()
	}
}

// Close closes all connections. What uses one, or wants one later, ends with
// [ErrServer].
func (c *Client) Close() {
	c.alive()
	c.end()
	for _, l := range c.drop("") {
		l.close()
	}
}

// drop forgets the connections whose names begin with a text.
func (c *Client) drop(prefix string) (dropped []*line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, l := range c.lines {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		delete(c.lines, key)
		if l.timer != nil {
			l.timer.Stop()
		}
		dropped = append(dropped, l)
	}
	return dropped
}

func (l *line) close() {
	<-l.ready
	if l.session != nil {
		_ = l.session.Close() // the server may be gone, which is fine
	}
}

func (c *Client) connect(ctx context.Context, s Server, o *offer) (*sdk.ClientSession, error) {
	base := c.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	address, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	web := &http.Client{Transport: &headers{base, address, s.header()}}
	// Without a stream of its own for what the server says unasked: not all
	// servers have one, and a run is short. It then hears of new tools when it
	// connects, or in the answers to its calls.
	var transport sdk.Transport = &sdk.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: web, MaxRetries: 1, DisableStandaloneSSE: true,
	}
	if s.Type == TypeSSE {
		transport = &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: web}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "easel", Version: c.Version}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { o.changed.Store(true) },
	})
	// The connection outlives the call that made it; only making it is bounded.
	made := make(chan struct{})
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-made:
		default:
			end()
		}
	})
	defer stop()
	session, err := client.Connect(life, transport, nil)
	close(made)
	if err != nil {
		end()
		return nil, err
	}
	go func() {
		_ = session.Wait() // its users get the error from their calls
		end()
	}()
	return session, nil
}

// header is the headers with their values put in. One that is left empty by
// them, or a scheme without its token, is not sent.
func (s *Server) header() http.Header {
	h := http.Header{}
	for name, value := range s.Headers {
		for k, v := range s.Values {
			name = strings.ReplaceAll(strings.ReplaceAll(name, "{{"+k+"}}", v), "${"+k+"}", v)
			value = strings.ReplaceAll(strings.ReplaceAll(value, "{{"+k+"}}", v), "${"+k+"}", v)
		}
		if rest := strings.TrimSpace(value); rest != "" && !strings.EqualFold(rest, "bearer") {
			h.Set(name, value)
		}
	}
	return h
}

// headers adds a server's own headers to every request to its origin. Neither
// a redirect to elsewhere nor an endpoint that the server names elsewhere gets them.
type headers struct {
	base   http.RoundTripper
	server *url.URL
	set    http.Header
}

func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	if reach.SameOrigin(h.server, r.URL) {
		r = r.Clone(r.Context())
		for k, v := range h.set {
			r.Header[k] = v
		}
	}
	return h.base.RoundTrip(r)
}
