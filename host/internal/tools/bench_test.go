package tools

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

const tavilyAnswer = `{"results":[{"title":"A","url":"https://a.example","content":"Text of A.","score":0.5},` +
	`{"title":"B","url":"https://b.example","content":"Text of B.","score":0.4}]}`

// BenchmarkWarmCall is a call of a tool, and BenchmarkHTTPAlone the same request without one.
func BenchmarkWarmCall(b *testing.B) {
	srv := answering("application/json", tavilyAnswer)
	defer srv.Close()
	p := newSet(b, Config{AllowPrivate: true}).Port("t", nil)
	call := tavily(b, srv.URL)
	for b.Loop() {
		_, err := p.CallTool(b.Context(), call)
		require.NoError(b, err)
	}
}

func BenchmarkHTTPAlone(b *testing.B) {
	srv := answering("application/json", tavilyAnswer)
	defer srv.Close()
	for b.Loop() {
		res, err := http.Post(srv.URL+"/search", "application/json", nil)
		require.NoError(b, err)
		require.NoError(b, res.Body.Close())
	}
}

// BenchmarkFirstCall loads the tool from the embedded bytes and calls it, without a cache on disk.
func BenchmarkFirstCall(b *testing.B) { benchmarkFirst(b, false) }

// BenchmarkFirstCallOfAHost is the same in a host that has compiled the interpreter at its start.
func BenchmarkFirstCallOfAHost(b *testing.B) { benchmarkFirst(b, true) }

func benchmarkFirst(b *testing.B, warm bool) {
	srv := answering("application/json", tavilyAnswer)
	defer srv.Close()
	for b.Loop() {
		b.StopTimer()
		h, err := plugin.New(context.Background(), plugin.Config{Log: slog.New(slog.DiscardHandler)})
		require.NoError(b, err)
		set := New(Config{AllowPrivate: true, Host: func(context.Context) (*plugin.Host, error) { return h, nil }})
		if warm {
			require.NoError(b, set.Warm(b.Context()))
		}
		p := set.Port("t", nil)
		b.StartTimer()
		_, err = p.CallTool(b.Context(), tavily(b, srv.URL))
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, set.Warm(b.Context())) // the call has started it
		require.NoError(b, h.Close(context.Background()))
		b.StartTimer()
	}
}

func answering(contentType, body string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}))
}

// tavily is a call of TavilySearch at an address.
func tavily(t testing.TB, address string) *engine.ExternalCall {
	return &engine.ExternalCall{
		Component: "TavilySearch", Key: "k",
		Params:    value(t, map[string]any{"api_key": "key-0123456789abcdef", "base_url": address}),
		Arguments: value(t, map[string]any{"query": "q"}),
	}
}
