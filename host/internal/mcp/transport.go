package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/easel-canvas/easel/host/internal/egress/reach"
)

// connect opens a session with a server. The session outlives ctx, which bounds only the connect.
func (c *Client) connect(ctx context.Context, s *Server, l *conn) error {
	transport, err := c.transport(s, l)
	if err != nil {
		return err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "easel", Version: c.Version}, &sdk.ClientOptions{
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			l.offer.changed.Store(true)
			c.lists.drop(l.shared)
		},
		Capabilities: &sdk.ClientCapabilities{}, // no roots
	})
	ignored := false // server/discover
	client.AddSendingMiddleware(c.boundDiscover(l.shared, func() { ignored = true }))
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
		_ = l.process.end() // the reason becomes part of the error in explain
		return err
	}
	if ignored {
		c.silent.add(l.shared)
	}
	l.session = session
	go func() {
		_ = session.Wait() // pending calls return the error
		end()
	}()
	return nil
}

// transport returns the transport to a server. One over stdio starts its process.
func (c *Client) transport(s *Server, l *conn) (sdk.Transport, error) {
	if s.Type == TypeStdio {
		p, err := startProcess(s, orElse(c.Memory, defaultMemory))
		if err != nil {
			return nil, err
		}
		l.process = p
		return &sdk.IOTransport{Reader: p.out, Writer: p.in, MaxLineLength: maxMessage}, nil
	}
	base := c.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	address, err := url.Parse(s.URL)
	if err != nil {
		return nil, err
	}
	web := &http.Client{Transport: &headers{base, address, s.header()}}
	if s.Type == TypeSSE {
		return &sdk.SSEClientTransport{Endpoint: s.URL, HTTPClient: web}, nil
	}
	// The stream for server notifications is disabled: not all servers have one, and runs are
	// short. Tool changes are noticed on connect or in the responses to calls.
	return &sdk.StreamableClientTransport{
		Endpoint: s.URL, HTTPClient: web, MaxRetries: 1, DisableStandaloneSSE: true,
	}, nil
}

// headers adds the configured headers to requests to the server's origin only: redirects and
// message endpoints on other origins must not receive them. It limits response bodies.
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
	res, err := h.base.RoundTrip(r)
	if err == nil {
		res.Body = &bounded{res.Body, maxStream}
	}
	return res, err
}

const (
	// maxMessage bounds one message of a server.
	maxMessage = 16 << 20
	// maxStream bounds the bytes of one response of a server, or over stdio those between two
	// requests.
	maxStream = 64 << 20
)

// bounded fails reads after left bytes.
type bounded struct {
	io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%w: more than %d MB", ErrTooLarge, maxStream>>20)
	}
	return n, err
}
