// Package mcp lets canvases use tools of MCP servers, through the official SDK.
//
// A [Server] is a tenant's configuration of one server: address, transport, headers. [Client]
// connects, lists tools and calls them. A connection stays open until its run ends ([Client.End])
// or it is idle for a while, so that the calls of one run share a session and list the tools once.
// Connections are never shared between tenants or runs.
//
// A server is reached over streamable HTTP, over SSE, or over the standard input and output of a
// process that the client starts where [Client].Stdio allows it.
//
// An error reported by a server becomes the text of the tool result, for the model to read; an
// error of this package means that the server could not be used. Addresses are checked by
// [Client].Transport when they are dialed. The size of a server's responses is limited.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/easel-canvas/easel/engine"
)

// Client connects to servers. The zero value uses [http.DefaultTransport]; a host sets a transport
// that refuses private addresses.
type Client struct {
	Transport http.RoundTripper
	// Timeout bounds a call; 0 means 60 s.
	Timeout time.Duration
	// ListTimeout bounds connecting and listing the tools for an agent; 0 means 10 s.
	ListTimeout time.Duration
	// DiscoverTimeout bounds the wait for the response to server/discover, which servers of earlier
	// protocols may ignore; 0 means 4 s.
	DiscoverTimeout time.Duration
	// Idle is the lifetime of an unused connection; 0 means 5 minutes.
	Idle time.Duration
	// Version is the client version sent to servers.
	Version string
	// Stdio allows servers that run as processes of this machine.
	Stdio bool
	// Memory bounds the bytes of memory of each such server; 0 means 1 GiB.
	Memory int64

	lists lists // tool lists with a time to live, of all connections

	silent silentServers // those that ignored server/discover

	closing sync.WaitGroup // connections that are closed in the background

	mu    sync.Mutex
	conns map[string]*conn
	life  context.Context // canceled by Close; nil until first used
	end   context.CancelFunc
}

// conn is one connection of an owner to a server.
type conn struct {
	ready   chan struct{} // closed when session or err is set
	session *sdk.ClientSession
	process *process // of a server over stdio
	err     error
	offer   offer
	shared  string // key of the configuration in Client.lists
	users   int
	timer   *time.Timer
}

// orElse returns set if it is positive, otherwise standard.
func orElse[T time.Duration | int64](set, standard T) T {
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

// AllowsStdio reports whether servers may run as processes.
func (c *Client) AllowsStdio() bool { return c.Stdio }

// Tools lists the tools of a server as it describes them: {name, description, inputSchema,
// annotations, ...}.
func (c *Client) Tools(ctx context.Context, owner string, s Server) ([]engine.Value, error) {
	ctx, done := c.bounded(ctx, orElse(c.Timeout, time.Minute))
	defer done()
	var out []engine.Value
	err := c.use(ctx, owner, s, func(l *conn) (err error) {
		out, _, err = listTools(ctx, l.session)
		return err
	})
	return out, err
}

// Offered is like Tools, but caches the list: for the time to live that the server sends, also for
// other connections of the same configuration; without one for this connection. A change that the
// server reports ends both.
func (c *Client) Offered(ctx context.Context, owner string, s Server) ([]engine.Value, error) {
	shared := s.fingerprint()
	out, drops, ok := c.lists.get(shared)
	if ok {
		return out, nil
	}
	ctx, done := c.bounded(ctx, orElse(c.ListTimeout, 10*time.Second))
	defer done()
	err := c.use(ctx, owner, s, func(l *conn) error {
		tools, ttl, err := l.offer.get(ctx, l.session)
		if out = tools; err == nil && ttl > 0 {
			c.lists.put(shared, tools, ttl, drops)
		}
		return err
	})
	return out, err
}

// Call calls a tool. It returns the result as text, or the error message that the server reports.
func (c *Client) Call(
	ctx context.Context, owner string, s Server, tool string, arguments engine.Value,
) (string, error) {
	r, err := c.call(ctx, owner, s, tool, arguments)
	for i := range r.files {
		r.leaveOut(i, errNoFiles)
	}
	return r.text, err
}

func (c *Client) call(
	ctx context.Context, owner string, s Server, tool string, arguments engine.Value,
) (result, error) {
	ctx, done := c.bounded(ctx, orElse(c.Timeout, time.Minute))
	defer done()
	if arguments.Kind() != engine.KindObject {
		arguments = engine.Object()
	}
	var r result
	err := c.use(ctx, owner, s, func(l *conn) error {
		res, err := l.session.CallTool(ctx, &sdk.CallToolParams{
			Name:      tool,
			Arguments: json.RawMessage(arguments.AppendJSON(nil)),
		})
		if message, ok := refusal(err); ok {
			r = result{text: serverError + message}
			return nil
		}
		if err != nil {
			return err
		}
		r = resultOf(res)
		return nil
	})
	return r, err
}

// use calls fn with a connection. If a reused connection over HTTP fails, it retries once with a
// new one; a server over stdio that ended during a call is not called again.
func (c *Client) use(ctx context.Context, owner string, s Server, fn func(*conn) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	if s.Type == TypeStdio && !c.Stdio {
		return fmt.Errorf("MCP server %s: %w", s.Name, ErrStdio)
	}
	shared := s.fingerprint()
	key := ownerKey(owner) + shared
	s = s.resolved()
	for again := false; ; again = true {
		l, old := c.acquire(ctx, key, shared, s)
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
		if !old || again || l.process != nil || ctx.Err() != nil {
			return fmt.Errorf("%w: %s: %w", ErrServer, s.Name, l.explain(ctx, err))
		}
	}
}

// explain adds the reason why the process ended to an error of a connection.
func (l *conn) explain(ctx context.Context, err error) error {
	if l.process == nil || ctx.Err() != nil {
		return err
	}
	select { // the connection may notice the end before it is known
	case <-l.process.exited:
	case <-time.After(exitGrace):
	}
	if why := l.process.reason(); why != nil {
		return fmt.Errorf("%w (%w)", err, why)
	}
	return err
}

// ownerKey returns the key prefix of all connections of an owner.
func ownerKey(owner string) string { return owner + "\n" }

// acquire returns the connection for key, or starts a new one; old reports whether it existed.
func (c *Client) acquire(ctx context.Context, key, shared string, s Server) (l *conn, old bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l = c.conns[key]; l != nil && !l.gone() {
		l.users++
		if l.timer != nil {
			l.timer.Stop()
		}
		return l, true
	}
	if l != nil {
		if l.timer != nil {
			l.timer.Stop()
		}
		c.closeLater(l)
	}
	if c.conns == nil {
		c.conns = map[string]*conn{}
	}
	l = &conn{ready: make(chan struct{}), users: 1, shared: shared}
	c.conns[key] = l
	go func() {
		defer close(l.ready)
		l.err = c.connect(ctx, &s, l)
	}()
	return l, false
}

// gone reports whether the process of a server has ended while it was idle.
func (l *conn) gone() bool {
	select {
	case <-l.ready:
	default:
		return false
	}
	if l.process == nil || l.users > 0 {
		return false
	}
	select {
	case <-l.process.exited:
		return true
	default:
		return false
	}
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
		c.closeLater(l)
		return
	}
	l.timer = time.AfterFunc(orElse(c.Idle, 5*time.Minute), func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if l.users == 0 && c.conns[key] == l {
			delete(c.conns, key)
			c.closeLater(l)
		}
	})
}

// closeLater closes a connection in the background. Close waits for it. The caller holds c.mu.
func (c *Client) closeLater(l *conn) {
	if c.life != nil && c.life.Err() != nil { // Close may wait already
		go l.close()
		return
	}
	c.closing.Go(l.close)
}

// End closes the connections of an owner in the background.
func (c *Client) End(owner string) { c.drop(ownerKey(owner)) }

// Close closes all connections and waits for the end of servers over stdio. Pending and later calls
// fail with [ErrServer].
func (c *Client) Close() {
	c.alive()
	var rest sync.WaitGroup
	c.drop("")
	c.end()
	for _, l := range c.take("") { // connections of calls that ran until now
		rest.Go(l.close)
	}
	rest.Wait()
	c.closing.Wait()
}

// drop removes the connections whose keys start with prefix, and closes them in the background.
func (c *Client) drop(prefix string) {
	dropped := c.take(prefix)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range dropped {
		c.closeLater(l)
	}
}

// take removes the connections whose keys start with prefix.
func (c *Client) take(prefix string) (dropped []*conn) {
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
	_ = l.process.end() // the reason is part of the error of calls
}
