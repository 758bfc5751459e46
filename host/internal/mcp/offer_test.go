package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// shop is one MCP server for all sessions; its tools change and are listed in pages of two.
type shop struct {
	*sdk.Server
	lists atomic.Int32 // requested pages
	port  *Port
}

func newShop(t *testing.T, kind string, options ...func(*sdk.ServerOptions)) *shop {
	set := sdk.ServerOptions{PageSize: 2}
	for _, option := range options {
		option(&set)
	}
	s := &shop{Server: sdk.NewServer(&sdk.Implementation{Name: "shop", Version: "1"}, &set)}
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "tools/list" {
				s.lists.Add(1)
			}
			return next(ctx, method, req)
		}
	})
	for i := range 5 {
		s.addTool(fmt.Sprint("t", i))
	}
	whole := func(*http.Request) *sdk.Server { return s.Server }
	stateless := &sdk.StreamableHTTPOptions{Stateless: len(options) > 0}
	var handler http.Handler = sdk.NewStreamableHTTPHandler(whole, stateless)
	if kind == TypeSSE {
		handler = sdk.NewSSEHandler(whole, nil)
	}
	srv := httptest.NewServer(handler)
	t.Cleanup(func() {
		_ = srv.Listener.Close() // Close would wait for streams that the SDK's server keeps open
		srv.CloseClientConnections()
	})
	s.port = &Port{Client: &Client{}, Owner: "run", Find: func(context.Context, string) (Server, error) {
		return Server{ID: "a", Name: "shop", Type: kind, URL: srv.URL}, nil
	}}
	t.Cleanup(s.port.Client.Close)
	return s
}

func (s *shop) addTool(name string) {
	sdk.AddTool(s.Server, &sdk.Tool{Name: name},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "did " + name}}}, nil, nil
		})
}

func (s *shop) names(t *testing.T) (names []string) {
	t.Helper()
	tools, err := s.port.ListTools(t.Context(), ref("a"))
	require.NoError(t, err)
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestOffer(t *testing.T) {
	for _, kind := range []string{TypeStreamable, TypeSSE} {
		t.Run(kind, func(t *testing.T) {
			s := newShop(t, kind)
			require.Equal(t, []string{"t0", "t1", "t2", "t3", "t4"}, s.names(t), "all pages are read")
			require.EqualValues(t, 3, s.lists.Load())
			s.names(t)
			require.EqualValues(t, 3, s.lists.Load(), "a run lists once")

			s.RemoveTools("t1")
			s.addTool("fresh")
			if kind == TypeStreamable {
				s.port.Client.End("run") // changes are noticed on connect
			}
			require.Eventually(t, func() bool {
				names := s.names(t)
				return len(names) == 5 && names[0] == "fresh"
			}, 2*time.Minute, 10*time.Millisecond, "the current tools of the server")
			text, err := textFrom(s.port)(t.Context(), ref("a"), "t1", engine.Null)
			require.NoError(t, err)
			require.Contains(t, text, serverError)
			require.Contains(t, text, "t1")
			text, err = textFrom(s.port)(t.Context(), ref("a"), "fresh", engine.Null)
			require.NoError(t, err)
			require.Equal(t, "did fresh", text, "a tool error does not reconnect")

			require.Eventually(t, func() bool { // the server may have reported its changes twice
				before := s.lists.Load()
				s.port.Client.End("ru")
				s.names(t)
				return s.lists.Load() == before
			}, 2*time.Minute, 10*time.Millisecond, "End of another run keeps the connection")
			before := s.lists.Load()
			s.port.Client.End("run")
			s.names(t)
			require.Greater(t, s.lists.Load(), before)
		})
	}
}

// An agent must not wait long for a server that does not respond.
func TestOfferOfAnUnresponsiveServer(t *testing.T) {
	done := make(chan struct{})
	var requests atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		select {
		case <-done:
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	defer close(done)
	port := &Port{Client: &Client{}, Owner: "run", Find: func(_ context.Context, id string) (Server, error) {
		return Server{ID: id, Name: "silent " + id, Type: TypeStreamable, URL: srv.URL}, nil
	}}
	defer port.Client.Close()
	var id string
	// ask lists the tools of one server after the other with doubling timeouts, until a request
	// arrived in time.
	ask := func() (err error) {
		before := requests.Load()
		for timeout := 50 * time.Millisecond; requests.Load() == before; timeout *= 2 {
			require.Less(t, timeout, time.Minute)
			id += "x"
			port.Client.ListTimeout = timeout
			_, err = port.ListTools(t.Context(), ref(id))
			require.ErrorIs(t, err, ErrServer)
			require.ErrorContains(t, err, "silent "+id)
		}
		return err
	}
	err := ask()
	port.Client.ListTimeout = time.Hour // the next agent of the run must not wait for this server
	_, repeated := port.ListTools(t.Context(), ref(id))
	require.Equal(t, err, repeated)
	require.NotEqual(t, err, ask(), "other servers are tried")
}

// A list with a time to live serves all runs, until it expires or the server reports a change.
func TestOfferWithATimeToLive(t *testing.T) {
	var ttl atomic.Int64
	ttl.Store(60_000)
	s := newShop(t, TypeStreamable, func(o *sdk.ServerOptions) {
		o.SetCacheable = func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.TTLMs = int(ttl.Load()) }
	})
	require.Len(t, s.names(t), 5)
	require.EqualValues(t, 3, s.lists.Load())
	s.port.Client.End("run")
	s.port.Owner = "another run"
	require.Len(t, s.names(t), 5)
	require.EqualValues(t, 3, s.lists.Load(), "the list serves another run")

	_, err := s.port.CallTool(t.Context(), ref("a"), "t1", engine.Null) // connects
	require.NoError(t, err)
	s.addTool("fresh")
	require.Eventually(t, func() bool { return len(s.names(t)) == 6 }, 2*time.Minute, time.Millisecond,
		"a reported change ends the list")

	ttl.Store(1)
	s.port.Client.lists.drop(s.fingerprint(t))
	s.port.Owner = "third run"
	s.names(t)
	before := s.lists.Load()
	require.Eventually(t, func() bool {
		s.names(t)
		return s.lists.Load() > before
	}, 2*time.Minute, 5*time.Millisecond, "an expired list is requested again")
}

// A list that was requested before a reported change is not shared after it.
func TestOfferThatChangesWhileItIsListed(t *testing.T) {
	s := newShop(t, TypeStreamable, func(o *sdk.ServerOptions) {
		o.SetCacheable = func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.TTLMs = 60_000 }
	})
	_, err := s.port.CallTool(t.Context(), ref("a"), "t1", engine.Null) // connects
	require.NoError(t, err)
	var l *conn
	for _, c := range s.port.Client.conns { // the only one
		l = c
	}
	var once sync.Once
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			page, err := next(ctx, method, req)
			if method == "tools/list" && page.(*sdk.ListToolsResult).NextCursor == "" {
				once.Do(func() {
					s.addTool("fresh")
					require.Eventually(t, l.offer.changed.Load, 2*time.Minute, time.Millisecond)
				})
			}
			return page, err
		}
	})
	require.Len(t, s.names(t), 5, "the last page was made before the change")
	require.Len(t, s.names(t), 6)
}

func (s *shop) fingerprint(t *testing.T) string {
	t.Helper()
	server, _, err := s.port.server(t.Context(), ref("a"))
	require.NoError(t, err)
	return server.fingerprint()
}

func TestListsAreBounded(t *testing.T) {
	var c lists
	for i := range 3 * maxLists {
		c.put(fmt.Sprint(i), nil, time.Hour, 0)
	}
	require.Len(t, c.all, maxLists)
	_, _, ok := c.get(fmt.Sprint(3*maxLists - 1))
	require.True(t, ok)
	c.put("short", nil, -time.Second, 0)
	_, _, ok = c.get("short")
	require.False(t, ok)
}

func TestHeadersWithoutAValueAreNotSent(t *testing.T) {
	s := Server{Headers: map[string]string{
		"Authorization": "Bearer ${token}", "X-A": "{{a}}", "X-B": "b",
		"X-C": "{{none}}",
	}, Values: map[string]string{"token": "", "a": ""}}
	require.Equal(t, http.Header{"X-B": {"b"}, "X-C": {"{{none}}"}}, s.header())
}
