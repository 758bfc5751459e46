// Package mcp lets canvases use tools of MCP servers, through the official SDK.
//
// A [Server] is what a tenant has written down about one: address, transport,
// headers. [Client] connects, lists tools and calls them. A connection is kept
// while it is used and for a moment after, so that the calls of one run share
// a session. Connections are never shared between tenants or runs.
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

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/easel-canvas/easel/engine"
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
	// Idle is how long a connection is kept after its last call; 0 means 30 s.
	Idle time.Duration
	// Version is told to servers.
	Version string

	mu    sync.Mutex
	lines map[string]*line
}

// line is one connection of one user to one server.
type line struct {
	ready   chan struct{} // closed when session or err is set
	session *sdk.ClientSession
	err     error
	users   int
	timer   *time.Timer
}

func (c *Client) timeout() time.Duration {
	if c.Timeout > 0 {
		return c.Timeout
	}
	return time.Minute
}

// Tools lists a server's tools as it describes them: {name, description,
// inputSchema, annotations, ...}.
func (c *Client) Tools(ctx context.Context, owner string, s Server) ([]engine.Value, error) {
	ctx, done := context.WithTimeout(ctx, c.timeout())
	defer done()
	var out []engine.Value
	err := c.use(ctx, owner, s, func(session *sdk.ClientSession) error {
		out = nil
		for tool, err := range session.Tools(ctx, nil) {
			if err != nil {
				return err
			}
			text, err := json.Marshal(tool)
			if err != nil {
				return err
			}
			v, err := engine.ParseJSON(text)
			if err != nil {
				return err
			}
			if out = append(out, v); len(out) > 1000 {
				return errors.New("more than 1,000 tools")
			}
		}
		return nil
	})
	return out, err
}

// Call calls a tool. The text is the tool's answer or what it reports as its
// error.
func (c *Client) Call(ctx context.Context, owner string, s Server, tool string, arguments engine.Value) (string, error) {
	ctx, done := context.WithTimeout(ctx, c.timeout())
	defer done()
	if arguments.Kind() != engine.KindObject {
		arguments = engine.Object()
	}
	var text string
	err := c.use(ctx, owner, s, func(session *sdk.ClientSession) error {
		res, err := session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments.AppendJSON(nil))})
		if err != nil {
			return err
		}
		text = textOf(res)
		return nil
	})
	return text, err
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
		return "MCP server error: " + text
	}
	return text
}

// use gives fn a connection, a new one when the kept one is broken.
func (c *Client) use(ctx context.Context, owner string, s Server, fn func(*sdk.ClientSession) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	key := owner + "\n" + s.ID + "\n" + s.URL
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
			err = fn(l.session)
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
		l.session, l.err = c.connect(ctx, s)
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
	idle := c.Idle
	if idle == 0 {
		idle = 30 * time.Second
	}
	l.timer = time.AfterFunc(idle, func() {
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

// Close closes all connections. What uses one ends with [ErrServer].
func (c *Client) Close() {
	c.mu.Lock()
	lines := c.lines
	c.lines = nil
	for _, l := range lines {
		if l.timer != nil {
			l.timer.Stop()
		}
	}
	c.mu.Unlock()
	for _, l := range lines {
		l.close()
	}
}

func (l *line) close() {
	<-l.ready
	if l.session != nil {
		_ = l.session.Close() // the server may be gone, which is what is wanted
	}
}

func (c *Client) connect(ctx context.Context, s Server) (*sdk.ClientSession, error) {
	base := c.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	web := &http.Client{Transport: &headers{base, s.header()}}
	var transport sdk.Transport = &sdk.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: web, MaxRetries: 1, DisableStandaloneSSE: true,
	}
	if s.Type == TypeSSE {
		transport = &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: web}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "easel", Version: c.Version}, nil)
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
		_ = session.Wait() // how it ended is told to whoever uses it
		end()
	}()
	return session, nil
}

// header is the headers with their values put in.
func (s *Server) header() http.Header {
	h := http.Header{}
	for name, value := range s.Headers {
		for k, v := range s.Values {
			name = strings.ReplaceAll(strings.ReplaceAll(name, "{{"+k+"}}", v), "${"+k+"}", v)
			value = strings.ReplaceAll(strings.ReplaceAll(value, "{{"+k+"}}", v), "${"+k+"}", v)
		}
		h.Set(name, value)
	}
	return h
}

// headers adds a server's own headers to every request, on its first origin
// only: a redirect to elsewhere does not get them.
type headers struct {
	base http.RoundTripper
	set  http.Header
}

func (h *headers) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Response == nil { // not a redirect
		r = r.Clone(r.Context())
		for k, v := range h.set {
			r.Header[k] = v
		}
	}
	return h.base.RoundTrip(r)
}

// Port answers the engine's MCP port for one run.
type Port struct {
	Client *Client
	Owner  string // names the run and its tenant; connections are its own
	// Find reads what the tenant has written down about a server.
	Find func(ctx context.Context, id string) (Server, error)
}

var _ engine.MCP = (*Port)(nil)

// ListTools lists a server's tools.
func (p *Port) ListTools(ctx context.Context, id string) ([]engine.ToolDef, error) {
	s, err := p.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	list, err := p.Client.Tools(ctx, p.Owner, s)
	if err != nil {
		return nil, err
	}
	out := make([]engine.ToolDef, len(list))
	for i, t := range list {
		out[i] = engine.ToolDef{Name: t.Get("name").Str(), Description: t.Get("description").Str(), Parameters: t.Get("inputSchema")}
	}
	return out, nil
}

// CallTool calls a tool of a server.
func (p *Port) CallTool(ctx context.Context, id, name string, arguments engine.Value) (string, error) {
	s, err := p.Find(ctx, id)
	if err != nil {
		return "", err
	}
	return p.Client.Call(ctx, p.Owner, s, name, arguments)
}
