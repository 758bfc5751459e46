package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// server returns the address of a PostgreSQL from Debian, which has no pgvector.
func server(t testing.TB) string {
	t.Helper()
	return servertest.NeedPostgres(t).URL
}

var schemas atomic.Int64

// open opens an empty index.
func open(t testing.TB, url string) *Index {
	t.Helper()
	return reopen(t, Config{URL: url, Schema: fmt.Sprintf("index %d", schemas.Add(1))})
}

func reopen(t testing.TB, cfg Config) *Index {
	t.Helper()
	x, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func TestSuite(t *testing.T) {
	url := server(t)
	indextest.Run(t, func(t *testing.T) index.Index { return open(t, url) })
}

// A lock keeps other hosts out until it is released.
func TestLock(t *testing.T) {
	url := server(t)
	cfg := Config{URL: url, Schema: "locks"}
	a, b := reopen(t, cfg), reopen(t, cfg)
	release, err := a.Lock(t.Context(), "tenant/shop/")
	require.NoError(t, err)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = b.Lock(short, "tenant/shop/")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	other, err := b.Lock(t.Context(), "tenant/other/")
	require.NoError(t, err)
	other()
	release()
	release, err = b.Lock(t.Context(), "tenant/shop/")
	require.NoError(t, err)
	release()
}

// An index reports how it compares vectors, and one of another version is refused.
func TestLayout(t *testing.T) {
	cfg := Config{URL: server(t) + "&index_schema=layout"}
	x := reopen(t, cfg)
	require.Contains(t, x.String(), "vectors compared by the host (no pgvector: ")
	require.NoError(t, x.Create(t.Context(), "shop", index.Settings{}))
	again := reopen(t, cfg)
	keys, err := again.Datasets(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"shop"}, keys)
	_, err = x.pool.Exec(t.Context(), `UPDATE layout SET version = 0`)
	require.NoError(t, err)
	_, err = Open(t.Context(), cfg)
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, `schema "layout" is 0, want 4`)
}

// Small neighbours are merged size by size, and segments of dead chunks are rewritten.
func TestMergeable(t *testing.T) {
	sizes := func(n int, size int) (out []segmentSize) {
		for range n {
			out = append(out, segmentSize{Size: size})
		}
		return out
	}
	for name, c := range map[string]struct {
		sizes    []segmentSize
		from, to int
	}{
		"none":      {nil, 0, 0},
		"few":       {sizes(7, 10), 0, 0},
		"small":     {sizes(8, 10), 0, 8},
		"large":     {sizes(100, 4096), 0, 0},
		"apart":     {slices.Concat(sizes(7, 10), sizes(1, 5000), sizes(7, 10)), 0, 0},
		"behind":    {slices.Concat(sizes(3, 5000), sizes(1, 100), sizes(8, 10)), 4, 12},
		"of two":    {slices.Concat(sizes(4, 100), sizes(4, 10)), 0, 8},
		"dead":      {[]segmentSize{{Size: 10}, {Size: 10, Dead: 6}}, 1, 2},
		"half dead": {[]segmentSize{{Size: 10, Dead: 5}}, 0, 0},
		"all dead":  {[]segmentSize{{Size: 3, Dead: 3}}, 0, 1},
	} {
		from, to := mergeable(c.sizes)
		require.Equal(t, [2]int{c.from, c.to}, [2]int{from, to}, name)
	}
}
