package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/web"
)

// ref names a server as a canvas does.
func ref(id string) *engine.MCPServer { return &engine.MCPServer{ID: id} }

type greeting struct {
	Name string `json:"name"`
}

func sayHello(_ context.Context, _ *sdk.CallToolRequest, in greeting) (*sdk.CallToolResult, any, error) {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello " + in.Name}}}, nil, nil
}

// serve runs an MCP server with the given transport; connects counts sessions. Its tool "sleep"
// blocks until the test ends.
func serve(t *testing.T, kind string) (url string, connects *atomic.Int32, token *atomic.Value) {
	connects, token = &atomic.Int32{}, &atomic.Value{}
	done := make(chan struct{})
	server := func(r *http.Request) *sdk.Server {
		token.Store(r.Header.Get("Authorization"))
		s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{
			InitializedHandler: func(context.Context, *sdk.InitializedRequest) { connects.Add(1) },
		})
		sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "says hello"}, sayHello)
		sdk.AddTool(s, &sdk.Tool{Name: "sleep"}, func(ctx context.Context, _ *sdk.CallToolRequest,
			_ struct{},
		) (*sdk.CallToolResult, any, error) {
			select {
			case <-ctx.Done():
			case <-done:
			}
			return nil, nil, ctx.Err()
		})
		return s
	}
	var handler http.Handler = sdk.NewStreamableHTTPHandler(server, nil)
	if kind == TypeSSE {
		handler = sdk.NewSSEHandler(server, nil)
	}
	srv := httptest.NewServer(handler)
	t.Cleanup(func() {
		close(done)
		// Close would wait for streams that the SDK's server keeps open.
		_ = srv.Listener.Close()
		srv.CloseClientConnections()
	})
	return srv.URL, connects, token
}

func TestTools(t *testing.T) {
	for _, kind := range []string{TypeStreamable, TypeSSE} {
		t.Run(kind, func(t *testing.T) {
			url, connects, token := serve(t, kind)
			c := &Client{}
			t.Cleanup(c.Close)
			s := Server{
				ID: "a", Name: "test", Type: kind, URL: url,
				Headers: map[string]string{"Authorization": "Bearer {{key}}"}, Values: map[string]string{"key": "k7"},
			}
			port := &Port{Client: c, Owner: "run", Find: func(context.Context, string) (Server, error) {
				return s,
					nil
			}}
			tools, err := port.ListTools(t.Context(), ref("a"))
			require.NoError(t, err)
			require.Equal(t, "greet", tools[0].Name)
			require.Equal(t, "string", tools[0].Parameters.Get("properties").Get("name").Get("type").Str())
			text, err := textFrom(port)(t.Context(), ref("a"), "greet", engine.Object("name", "Ann"))
			require.NoError(t, err)
			require.Equal(t, "hello Ann", text)
			require.Equal(t, "Bearer k7", token.Load())
			require.LessOrEqual(t, connects.Load(), int32(1),
				"one session per run; protocols without sessions have none")

			text, err = textFrom(port)(t.Context(), ref("a"), "greet", engine.Object("name", 7))
			require.NoError(t, err)
			require.Contains(t, text, "MCP server error")

			c.Timeout = 100 * time.Millisecond
			best := time.Hour
			for n := 0; n < 5 && best >= 2*time.Second; n++ { // a busy machine may be slow, but not every time
				began := time.Now()
				_, err = port.CallTool(t.Context(), ref("a"), "sleep", engine.Null)
				best = min(best, time.Since(began))
				require.ErrorIs(t, err, ErrServer)
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			require.Less(t, best, 2*time.Second)

			c.Timeout, c.Idle = 0, 50*time.Millisecond
			_, err = port.CallTool(t.Context(), ref("a"), "greet", engine.Object("name", "Ann"))
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(c.conns) == 0
			}, 2*time.Minute, 10*time.Millisecond, "idle connections are closed")
		})
	}
}

func TestCloseFailsPendingCalls(t *testing.T) {
	url, _, _ := serve(t, TypeSSE)
	c := &Client{}
	s := Server{ID: "a", Name: "test", Type: TypeSSE, URL: url}
	_, err := c.Tools(t.Context(), "run", s)
	require.NoError(t, err)
	failed := make(chan error, 1)
	go func() {
		_, err := c.Call(t.Context(), "run", s, "sleep", engine.Null)
		failed <- err
	}()
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, l := range c.conns {
			return l.users == 1
		}
		return false
	}, 2*time.Minute, time.Millisecond)
	c.Close()
	c.Close()
	require.ErrorIs(t, <-failed, ErrServer)
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(t, c.conns)
}

func TestInvalidServers(t *testing.T) {
	url, _, _ := serve(t, TypeStreamable)
	c := &Client{Transport: (&web.Client{}).Transport(), Timeout: time.Minute}
	_, err := c.Tools(t.Context(), "x", Server{Type: TypeStreamable, URL: url})
	require.ErrorIs(t, err, ErrServer, "private addresses are not dialed")
	require.ErrorContains(t, err, web.ErrAddress.Error())
	_, err = c.Tools(t.Context(), "x", Server{Type: "pigeon", URL: url})
	require.ErrorIs(t, err, ErrType)
	_, err = c.Tools(t.Context(), "x", Server{Type: TypeStdio, URL: url})
	require.ErrorIs(t, err, ErrCommand)
	_, err = c.Tools(t.Context(), "x", Server{Type: TypeStdio, Command: "true"})
	require.ErrorIs(t, err, ErrStdio)
	_, err = c.Tools(t.Context(), "x", Server{Type: TypeSSE, URL: "file:///etc/passwd"})
	require.ErrorIs(t, err, ErrAddress)
}

// A redirect and the message endpoint may point to another origin, which must not receive the
// headers.
func TestHeadersStayAtTheServer(t *testing.T) {
	for _, kind := range []string{TypeStreamable, TypeSSE} {
		t.Run(kind, func(t *testing.T) {
			var requests, stolen atomic.Int32
			count := func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				w.WriteHeader(http.StatusNotFound)
				if r.Header.Get("X-Api-Key") != "" {
					stolen.Add(1)
				}
			}
			other := httptest.NewServer(http.HandlerFunc(count))
			defer other.Close()
			var redirected atomic.Value
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case kind == TypeSSE:
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", other.URL)
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				case r.URL.Path == "/":
					http.Redirect(w, r, "/near", http.StatusTemporaryRedirect)
				default:
					redirected.Store(r.Header.Get("X-Api-Key"))
					http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
				}
			}))
			defer server.CloseClientConnections()
			c := &Client{Timeout: time.Second}
			defer c.Close()
			s := Server{
				ID: "a", Name: "test", Type: kind, URL: server.URL,
				Headers: map[string]string{"X-Api-Key": "k7"},
			}
			port := &Port{Client: c, Owner: "run", Find: func(context.Context, string) (Server, error) {
				return s,
					nil
			}}
			_, err := port.ListTools(t.Context(), ref("a"))
			require.ErrorIs(t, err, ErrServer)
			require.Positive(t, requests.Load())
			require.Zero(t, stolen.Load())
			if kind == TypeStreamable {
				require.Equal(t, "k7", redirected.Load(), "a redirect within the origin keeps the headers")
			}
		})
	}
}

// textFrom returns CallTool of a port for answers without files.
func textFrom(p *Port) func(context.Context, *engine.MCPServer, string, engine.Value) (string, error) {
	return func(ctx context.Context, s *engine.MCPServer, name string, args engine.Value) (string, error) {
		answer, err := p.CallTool(ctx, s, name, args)
		return answer.Result.Text(), err
	}
}
