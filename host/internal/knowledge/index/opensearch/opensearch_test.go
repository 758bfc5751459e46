package opensearch

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
)

var prefixes atomic.Int64

// open opens an empty index.
func open(t testing.TB, url string) *Index {
	t.Helper()
	x, err := Open(t.Context(), Config{URL: fmt.Sprintf("%s/test-%d-%d", url, os.Getpid(), prefixes.Add(1))})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		keys, err := x.Datasets(ctx)
		require.NoError(t, err)
		for _, key := range keys {
			require.NoError(t, x.Drop(ctx, key))
		}
		require.NoError(t, x.Close())
	})
	return x
}

func TestSuite(t *testing.T) {
	for name, elastic := range map[string]bool{"OpenSearch": false, "Elasticsearch": true} {
		t.Run(name, func(t *testing.T) {
			indextest.Run(t, func(t *testing.T) index.Index {
				_, url := newDouble(t, elastic)
				x := open(t, url)
				require.Contains(t, x.String(), name)
				return x
			})
		})
	}
}

// The suite on a real server, whose address is in EASEL_TEST_OPENSEARCH.
func TestServer(t *testing.T) {
	url := os.Getenv("EASEL_TEST_OPENSEARCH")
	if url == "" {
		t.Skip("EASEL_TEST_OPENSEARCH names no server")
	}
	indextest.Run(t, func(t *testing.T) index.Index { return open(t, strings.TrimRight(url, "/")) })
}

func one(id, text string) index.Document {
	return index.Document{ID: id, Chunks: indextest.Chunks(index.Chunk{ID: "0", Content: text})}
}

// What a write that was broken off has left is gone with the next one, and its documents are named
// by no version.
func TestBrokenWriteIsRepaired(t *testing.T) {
	d, url := newDouble(t, false)
	x := open(t, url)
	require.NoError(t, x.Create(t.Context(), "shop", index.Settings{}))
	require.NoError(t, x.Replace(t.Context(), "shop", one("a", "red"), one("b", "red")))

	d.mu.Lock()
	bulks := 0
	d.broken = func(_, path string) bool {
		if path == "/_bulk" {
			bulks++
		}
		return bulks > 1 // the chunks are written, and nothing after them
	}
	d.mu.Unlock()
	require.Error(t, x.Replace(t.Context(), "shop", one("a", "blue")))
	d.mu.Lock()
	d.broken = nil
	d.mu.Unlock()

	require.NoError(t, x.Replace(t.Context(), "shop", one("c", "green")))
	versions, err := x.Versions(t.Context(), "shop")
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"b": 0, "c": 0}, versions)
	for text, want := range map[string]int{"red": 1, "blue": 0, "green": 1} {
		r, err := x.Search(t.Context(), &index.Query{Datasets: []string{"shop"}, Text: text})
		require.NoError(t, err)
		require.Equal(t, want, r.Total, text)
	}
	st, err := x.Stats(t.Context(), "shop")
	require.NoError(t, err)
	require.Equal(t, index.Stats{Documents: 2, Chunks: 2}, st)
}

// A busy server is asked again.
func TestBusyServer(t *testing.T) {
	d, url := newDouble(t, false)
	x := open(t, url)
	d.mu.Lock()
	d.busy = 2
	d.mu.Unlock()
	require.NoError(t, x.Create(t.Context(), "shop", index.Settings{}))
}

// A lock keeps others out until it is released, and one that has ended is taken over.
func TestLock(t *testing.T) {
	d, url := newDouble(t, false)
	a, b := open(t, url), open(t, url)
	b.prefix = a.prefix
	release, err := a.Lock(t.Context(), "tenant/shop/")
	require.NoError(t, err)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.Lock(canceled, "tenant/shop/")
	require.ErrorIs(t, err, context.Canceled)
	other, err := b.Lock(t.Context(), "tenant/other/")
	require.NoError(t, err)
	other()
	release()
	release, err = b.Lock(t.Context(), "tenant/shop/")
	require.NoError(t, err)

	d.mu.Lock()
	for id, row := range d.indexes[a.prefix+"-locks"].rows {
		row.source["until"] = 0.0
		d.indexes[a.prefix+"-locks"].rows[id] = row
	}
	d.mu.Unlock()
	again, err := a.Lock(t.Context(), "tenant/shop/")
	require.NoError(t, err)
	release() // of the lock that was lost; the other one stays
	h := &held{Index: b, path: "/" + a.prefix + "-locks/_doc/tenant%2Fshop%2F", holder: "x"}
	ok, err := h.take(t.Context())
	require.NoError(t, err)
	require.False(t, ok)
	again()
}

func TestOpen(t *testing.T) {
	for _, address := range []string{"", "localhost", "http://localhost:1/a*b", "http://localhost:1/_x"} {
		_, err := Open(t.Context(), Config{URL: address})
		require.Error(t, err)
	}
	var user, password string
	d, url := newDouble(t, false)
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		user, password, _ = r.BasicAuth()
		return http.DefaultTransport.RoundTrip(r)
	})}
	_, err := Open(t.Context(), Config{URL: strings.Replace(url, "http://", "http://ada:secret@", 1), Client: client})
	require.NoError(t, err)
	require.Equal(t, []string{"ada", "secret"}, []string{user, password})
	d.mu.Lock()
	d.broken = func(string, string) bool { return true }
	d.mu.Unlock()
	_, err = Open(t.Context(), Config{URL: strings.Replace(url, "http://", "http://ada:secret@", 1)})
	require.ErrorContains(t, err, "index in OpenSearch: GET /: server returned 500")
	require.NotContains(t, err.Error(), "secret")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
