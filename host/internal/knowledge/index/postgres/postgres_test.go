package postgres

import (
	"context"
	"fmt"
	"maps"
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

// The tables of earlier versions are brought up to date: each chunk is found as before.
func TestMigrate(t *testing.T) {
	for version := range schemaVersion {
		if version > 0 {
			t.Run(fmt.Sprint(version), func(t *testing.T) { testMigrate(t, version) })
		}
	}
}

func testMigrate(t *testing.T, version int) {
	cfg := Config{URL: server(t), Schema: fmt.Sprintf("old %d", version)}
	x := reopen(t, cfg)
	a := index.Document{ID: "a", Name: "a", Chunks: indextest.Chunks(
		index.Chunk{ID: "0", Content: "red red apples", Vector: []float32{1, 2, 3}},
		index.Chunk{ID: "1", Content: "red pears", Disabled: true},
		index.Chunk{ID: "2", Content: "green pears", Vector: []float32{-1, 2, 3}},
	)}
	require.NoError(t, x.Create(t.Context(), "shop", index.Settings{}))
	require.NoError(t, x.Replace(t.Context(), "shop", a))
	find := func(x *Index, q index.Query) *index.Result {
		q.Datasets, q.VectorWeight = []string{"shop"}, 0.5
		out, err := x.Search(t.Context(), &q)
		require.NoError(t, err)
		return out
	}
	queries := []index.Query{
		{Text: "red apples", Hidden: true},
		{Text: "red apples", Vector: []float32{1, 1, 1}},
		{Vector: []float32{-1, 1, 1}},
	}
	var want []*index.Result
	for i, n := range []int{2, 2, 2} {
		want = append(want, find(x, queries[i]))
		require.Len(t, want[i].Hits, n, i)
	}
	exec := func(statement string, args ...any) {
		t.Helper()
		_, err := x.pool.Exec(t.Context(), statement, args...)
		require.NoError(t, err)
	}
	exec(`ALTER TABLE documents DROP access`)
	if version < 3 {
		exec(`ALTER TABLE vectors ADD document bigint, ADD enabled boolean`)
		exec(`ALTER TABLE segments DROP codes`)
	}
	exec(`UPDATE layout SET version = $1`, version)
	if version == 1 {
		makeWords(t, x)
	}
	again := reopen(t, cfg)
	for i, q := range queries {
		require.Equal(t, want[i], find(again, q), i)
	}
	require.Len(t, find(again, index.Query{Text: "red apples"}).Hits, 1)
	more := index.Chunk{ID: "3", Content: "x", Vector: []float32{0, 1, 0}}
	require.NoError(t, again.Put(t.Context(), "shop", "a", more))
	require.Len(t, find(again, queries[2]).Hits, 3)
	require.NoError(t, again.Delete(t.Context(), "shop", "a"))
	for _, q := range queries {
		require.Empty(t, find(again, q).Hits)
	}
	var words int64
	require.NoError(t, again.pool.QueryRow(t.Context(), `SELECT words FROM datasets`).Scan(&words))
	require.Zero(t, words)
}

// makeWords replaces the tables of words by those of version 1, which had the terms of each chunk,
// ascending, and how often each counts.
func makeWords(t *testing.T, x *Index) {
	_, err := x.pool.Exec(t.Context(), `
		CREATE TABLE words (chunk bigint PRIMARY KEY, dataset bigint, document bigint, enabled boolean, length int,
			terms bigint[], counts int[]);
		INSERT INTO words SELECT id, dataset, document, enabled, length, '{}', '{}' FROM chunks`)
	require.NoError(t, err)
	for row, counts := range map[string]map[string]int32{
		"0": {"red": 2, "appl": 1, "a": 2}, "1": {"red": 1, "pear": 1, "a": 2}, "2": {"green": 1, "pear": 1, "a": 2},
	} {
		d := &dataset{id: 1}
		byHash := map[int64]int32{}
		for term, n := range counts {
			byHash[d.hash(term)] = n
		}
		terms := slices.Sorted(maps.Keys(byHash))
		numbers := make([]int32, len(terms))
		for i, term := range terms {
			numbers[i] = byHash[term]
		}
		_, err = x.pool.Exec(t.Context(), `UPDATE words SET terms = $1, counts = $2
			WHERE chunk = (SELECT id FROM chunks WHERE key = $3)`, terms, numbers, row)
		require.NoError(t, err)
	}
	_, err = x.pool.Exec(t.Context(), `DROP TABLE segments, postings; ALTER TABLE chunks DROP length`)
	require.NoError(t, err)
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
