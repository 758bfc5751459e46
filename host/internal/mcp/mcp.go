// Package mcp lets canvases use tools of MCP servers, through the official SDK.
//
// A [Server] is a tenant's configuration of one server: address, transport, headers. [Client]
// connects, lists tools and calls them. A connection stays open until its run ends ([Client.End])
// or it is idle for a while, so that the calls of one run share a session and list the tools once.
// Connections are never shared between tenants or runs.
//
// An error reported by a server becomes the text of the tool result, for the model to read; an
// error of this package means that the server could not be used. Addresses are checked by
// [Client].Transport when they are dialed.
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

// Transports of a server, as stored.
const (
	TypeSSE        = "sse"
	TypeStreamable = "streamable-http"
)

var (
	// ErrType means that the transport is neither sse nor streamable-http; correct the
	// configuration.
	ErrType = errors.New("unsupported MCP server type")
	// ErrAddress means that the address is not an http or https URL; correct the configuration.
	ErrAddress = errors.New("invalid MCP server address")
	// ErrServer means that the server failed to respond as MCP requires; retry or check its
	// address.
	ErrServer = errors.New("MCP server does not answer")
)

// Server is the configuration of a server.
type Server struct {
	ID      string
	Name    string
	Type    string
	URL     string
	Headers map[string]string // values may contain {{name}} of Values
	Values  map[string]string
}

// Check reports an invalid transport or address.
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

// Client connects to servers. The zero value uses [http.DefaultTransport]; a host sets a transport
// that refuses private addresses.
type Client struct {
	Transport http.RoundTripper
	// Timeout bounds a call; 0 means 60 s.
	Timeout time.Duration
	// ListTimeout bounds connecting and listing the tools for an agent; 0 means 10 s.
	ListTimeout time.Duration
	// Idle is how long an unused connection stays open; 0 means 5 minutes.
	Idle time.Duration
	// Version is the client version sent to servers.
	Version string

	mu    sync.Mutex
	conns map[string]*conn
	life  context.Context // canceled by Close; nil until first used
	end   context.CancelFunc
}

// conn is one connection of an owner to a server.
type conn struct {
	ready   chan struct{} // closed when session or err is set
	session *sdk.ClientSession
	err     error
	offer   offer
	users   int
	timer   *time.Timer
}

// orElse returns set if it is positive, otherwise standard.
func orElse(set, standard time.Duration) time.Duration {
	if set > 0 {
		return set
	}
	return standard
}

// bounded returns a context with a timeout that Close cancels too: closing a session waits for its
// pending requests.
func (c *Client) bounded(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, done := context.WithTimeout(ctx, most)
	stop := context.AfterFunc(c.alive(), done)
	return ctx, func() { stop(); done() }
}

// alive returns a context that Close cancels.
func (c *Client) alive() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life == nil {
		c.life, c.end = context.WithCancel(context.Background())
	}
	return c.life
}

// Tools lists the tools of a server as it describes them: {name, description, inputSchema,
// annotations, ...}.
func (c *Client) Tools(ctx context.Context, owner string, s Server) ([]engine.Value, error) {
	ctx, done := c.bounded(ctx, orElse(c.Timeout, time.Minute))
	defer done()
	var out []engine.Value
	err := c.use(ctx, owner, s, func(l *conn) (err error) {
		out, err = listTools(ctx, l.session)
		return err
	})
	return out, err
}

// Offered is like Tools, but caches the list per connection until the server reports a change.
func (c *Client) Offered(ctx context.Context, owner string, s Server) ([]engine.Value, error) {
	ctx, done := c.bounded(ctx, orElse(c.ListTimeout, 10*time.Second))
	defer done()
	var out []engine.Value
	err := c.use(ctx, owner, s, func(l *conn) (err error) {
		out, err = l.offer.get(ctx, l.session)
		return err
	})
	return out, err
}

// Call calls a tool. It returns the result as text, or the error message that the server reports.
func (c *Client) Call(ctx context.Context, owner string, s Server, tool string, arguments engine.Value) (string, error) {
	ctx, done := c.bounded(ctx, orElse(c.Timeout, time.Minute))
	defer done()
	if arguments.Kind() != engine.KindObject {
		arguments = engine.Object()
	}
	var text string
	err := c.use(ctx, owner, s, func(l *conn) error {
		res, err := l.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments.AppendJSON(nil))})
		if message, ok := refusal(err); ok {
			text = serverError + message
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

// serverError is the prefix of errors reported by a server.
const serverError = "MCP server error: "

// refusal returns the message of a JSON-RPC error response, such as for an unknown tool or invalid
// arguments. It is a failure of the tool, not of the connection.
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

// textOf converts a result to text: its text parts, a placeholder for each other part, and the
// structured content if there are no parts.
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

// use calls fn with a connection. If a reused connection fails, it retries once with a new one.
func (c *Client) use(ctx context.Context, owner string, s Server, fn func(*conn) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	key := ownerKey(owner) + s.ID + "\n" + s.URL
	for again := false; ; again = true {
		l, old := c.acquire(ctx, key, s)
		select {
		case <-l.ready:
		case <-ctx.Done():
			c.release(key, l, true)
			return fmt.Errorf("%w: %s: %w", ErrServer, s.Name, ctx.Err())
		}
		err := l.err
		if err == nil {
			err = fn(l)
		}
		c.release(key, l, err != nil)
		if err == nil {
			return nil
		}
		if !old || again || ctx.Err() != nil {
			return fmt.Errorf("%w: %s: %w", ErrServer, s.Name, err)
		}
	}
}

// ownerKey returns the key prefix of all connections of an owner.
func ownerKey(owner string) string { return owner + "\n" }

// acquire returns the connection for key, or starts a new one; old reports whether it existed.
func (c *Client) acquire(ctx context.Context, key string, s Server) (l *conn, old bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l = c.conns[key]; l != nil {
		l.users++
		if l.timer != nil {
			l.timer.Stop()
		}
		return l, true
	}
	if c.conns == nil {
		c.conns = map[string]*conn{}
	}
	l = &conn{ready: make(chan struct{}), users: 1}
	c.conns[key] = l
	go func() {
		defer close(l.ready)
		l.session, l.err = c.connect(ctx, s, &l.offer)
	}()
	return l, false
}

// release returns a connection; a broken one is not reused.
func (c *Client) release(key string, l *conn, broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.users--
	if broken && c.conns[key] == l {
		delete(c.conns, key)
	}
	if l.users > 0 {
		return
	}
	if c.conns[key] != l {
		go l.close()
		return
	}
	l.timer = time.AfterFunc(orElse(c.Idle, 5*time.Minute), func() {
		c.mu.Lock()
		drop := l.users == 0 && c.conns[key] == l
		if drop {
			delete(c.conns, key)
		}
		c.mu.Unlock()
		if drop {
			l.close()
		}
	})
}

// End closes the connections of an owner in the background.
func (c *Client) End(owner string) {
	for _, l := range c.drop(ownerKey(owner)) {
		go l.close()
	}
}

// Close closes all connections. Pending and later calls fail with [ErrServer].
func (c *Client) Close() {
	c.alive()
	c.end()
	for _, l := range c.drop("") {
		l.close()
	}
}

// drop removes the connections whose keys start with prefix.
func (c *Client) drop(prefix string) (dropped []*conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, l := range c.conns {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		delete(c.conns, key)
		if l.timer != nil {
			l.timer.Stop()
		}
		dropped = append(dropped, l)
	}
	return dropped
}

func (l *conn) close() {
	<-l.ready
	if l.session != nil {
		_ = l.session.Close() // fails if the server is gone
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
	// The stream for server notifications is disabled: not all servers have one, and runs are
	// short. Tool changes are noticed on connect or in the responses to calls.
	var transport sdk.Transport = &sdk.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: web, MaxRetries: 1, DisableStandaloneSSE: true,
	}
	if s.Type == TypeSSE {
		transport = &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: web}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "easel", Version: c.Version}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { o.changed.Store(true) },
	})
	// The connection outlives the call that opens it; ctx bounds only the connect.
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
		_ = session.Wait() // pending calls return the error
		end()
	}()
	return session, nil
}

// header returns the headers with values substituted. Headers that end up empty, or with a bare
// Bearer scheme, are omitted.
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

// headers adds the configured headers to requests to the server's origin only: redirects and
// message endpoints on other origins must not receive them.
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
