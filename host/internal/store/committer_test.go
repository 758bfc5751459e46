package store

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGroupRollsBackOnlyFailedJobs(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	g := s.commit.(*group)
	own := errors.New("own")
	put := func(name string, err error) *job {
		return &job{ctx: t.Context(), done: make(chan struct{}), op: func(ctx context.Context, q querier) error {
			_, dbErr := q.ExecContext(ctx, `INSERT INTO meta (name, value) VALUES ($1, '')`, name)
			return errors.Join(dbErr, err)
		}}
	}
	gone, stop := context.WithCancel(t.Context())
	stop()
	left := put("left", nil)
	left.ctx = gone
	batch := []*job{put("a", nil), put("b", own), put("a", nil), left, put("c", nil)}
	// The loop owns the connection, so the test uses it inside a job.
	require.NoError(t, s.write(t.Context(), "end", func(ctx context.Context, _ querier) error {
		require.NoError(t, g.do(ctx, "COMMIT"))
		g.commit(batch)
		return g.do(ctx, "BEGIN IMMEDIATE")
	}))
	require.NoError(t, batch[0].err)
	require.ErrorIs(t, batch[1].err, own)
	require.Equal(t, ErrExists, classify(batch[2].err))
	require.ErrorIs(t, batch[3].err, context.Canceled)
	require.NoError(t, batch[4].err)
	names, err := queryAll(t.Context(), s.read, func(r row) (string, error) {
		var v string
		return v, r.Scan(&v)
	}, `SELECT name FROM meta WHERE name IN ('a', 'b', 'c', 'left') ORDER BY name`)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "c"}, names)
}

// A failing single statement affects no other job of its batch.
func TestFailedStatementInABatch(t *testing.T) {
	s := openTest(t, engineConfig(t, "sqlite"))
	g := s.commit.(*group)
	start := func(id string) *job {
		return &job{ctx: t.Context(), single: true, done: make(chan struct{}), op: func(ctx context.Context, q querier) error {
			_, err := execOn(ctx, q, `INSERT INTO meta (name, value) VALUES ($1, '')`, []any{id})
			return err
		}}
	}
	batch := []*job{start("a"), start("b"), start("a"), start("c")}
	require.NoError(t, s.write(t.Context(), "end", func(ctx context.Context, _ querier) error {
		require.NoError(t, g.do(ctx, "COMMIT"))
		g.commit(batch)
		return g.do(ctx, "BEGIN IMMEDIATE")
	}))
	for i, j := range batch {
		require.Equal(t, i == 2, j.err != nil, "%d: %v", i, j.err)
	}
	require.Equal(t, ErrExists, classify(batch[2].err))
	var n int
	require.NoError(t, s.read.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM meta WHERE name IN ('a', 'b', 'c')`).Scan(&n))
	require.Equal(t, 3, n)
}

// BenchmarkEndRun measures the write at the end of a run by concurrent callers, and for comparison
// one transaction per write on the same file.
func BenchmarkEndRun(b *testing.B) {
	for _, sync := range []Sync{SyncAlways, SyncInterval} {
		name := map[Sync]string{SyncAlways: "always", SyncInterval: "interval"}[sync]
		b.Run(name+"/grouped", func(b *testing.B) { benchEndRun(b, sync, false) })
		b.Run(name+"/bare", func(b *testing.B) { benchEndRun(b, sync, true) })
	}
}

func benchEndRun(b *testing.B, sync Sync, bare bool) {
	s, err := Open(b.Context(), Config{Dir: b.TempDir(), Sync: sync})
	require.NoError(b, err)
	defer s.Close()
	if bare {
		closed := s.commit
		require.NoError(b, closed.close())
		s.commit = &each{db: s.dbs[0]}
	}
	var n atomic.Int64
	dsl := make([]byte, 4<<10)
	b.SetParallelism(32)
	b.RunParallel(func(p *testing.PB) {
		id := fmt.Sprint(n.Add(1))
		v, err := s.Sessions.Create(b.Context(), Session{ID: id, Tenant: "t", DSL: dsl})
		require.NoError(b, err)
		for turn := 0; p.Next(); turn++ {
			v.LastRun = fmt.Sprint(id, "-", turn)
			require.NoError(b, s.Runs.Start(b.Context(), Run{ID: v.LastRun, Tenant: "t"}))
			v.Rev, err = s.Runs.End(b.Context(), RunEnd{ID: v.LastRun, Status: RunDone}, &v)
			require.NoError(b, err)
		}
	})
}

// BenchmarkCommit measures commits of one caller, which waits for each, like a session with one
// turn at a time.
func BenchmarkCommit(b *testing.B) {
	for _, sync := range []Sync{SyncAlways, SyncInterval} {
		b.Run(map[Sync]string{SyncAlways: "always", SyncInterval: "interval"}[sync], func(b *testing.B) {
			s := openTest(b, Config{Dir: b.TempDir(), Sync: sync})
			v, err := s.Sessions.Create(b.Context(), Session{ID: "s", Tenant: "t", DSL: make([]byte, 4<<10)})
			require.NoError(b, err)
			for turn := 0; b.Loop(); turn++ {
				v.LastRun = fmt.Sprint(turn)
				require.NoError(b, s.Runs.Start(b.Context(), Run{ID: v.LastRun, Tenant: "t"}))
				v.Rev, err = s.Runs.End(b.Context(), RunEnd{ID: v.LastRun, Status: RunDone}, &v)
				require.NoError(b, err)
			}
		})
	}
}
