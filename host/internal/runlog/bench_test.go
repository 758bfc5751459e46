package runlog

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

func benchLogs(b *testing.B, run func(b *testing.B, l *Log)) {
	b.Run("embedded", func(b *testing.B) { run(b, openTest(b, setup{})) })
	b.Run("embedded-synced", func(b *testing.B) { run(b, openTest(b, setup{SyncAlways: true})) })
	b.Run("external", func(b *testing.B) {
		port := freePort(b)
		natsChild(b, b.TempDir(), port)
		run(b, openTest(b, setup{URLs: []string{address(port)}}))
	})
}

// BenchmarkAppend is one fenced, acknowledged append of 300 bytes.
func BenchmarkAppend(b *testing.B) {
	benchLogs(b, func(b *testing.B, l *Log) {
		e, err := l.Claim(b.Context(), Run{ID: fmt.Sprint("r", b.N)})
		require.NoError(b, err)
		r := Record{Kind: "ev", Data: make([]byte, 300)}
		for b.Loop() {
			_, err := e.Append(b.Context(), r)
			require.NoError(b, err)
		}
		require.NoError(b, e.End(b.Context()))
	})
}

// BenchmarkTell is one token delta of 20 bytes, stored in bundles.
func BenchmarkTell(b *testing.B) {
	benchLogs(b, func(b *testing.B, l *Log) {
		e, err := l.Claim(b.Context(), Run{ID: fmt.Sprint("r", b.N)})
		require.NoError(b, err)
		r := Record{Kind: "delta", Data: make([]byte, 20)}
		for b.Loop() {
			require.NoError(b, e.Buffer(b.Context(), r))
		}
		require.NoError(b, e.End(b.Context()))
	})
}

// BenchmarkRun is a whole short run: claim, six buffered records, end; many at once.
func BenchmarkRun(b *testing.B) {
	benchLogs(b, func(b *testing.B, l *Log) {
		b.SetParallelism(32)
		n := time.Now().UnixNano()
		var i int64
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				l.mu.Lock()
				i++
				id := fmt.Sprint(n, "-", i)
				l.mu.Unlock()
				e, err := l.Claim(b.Context(), Run{ID: id, Data: make([]byte, 200)})
				require.NoError(b, err)
				for range 6 {
					require.NoError(b, e.Buffer(b.Context(), Record{Kind: "ev", Data: make([]byte, 300)}))
				}
				require.NoError(b, e.End(b.Context()))
			}
		})
	})
}

// BenchmarkCancel is from Cancel to the end of the lease's context.
func BenchmarkCancel(b *testing.B) {
	benchLogs(b, func(b *testing.B, l *Log) {
		for i := range b.N {
			b.StopTimer()
			e, err := l.Claim(b.Context(), Run{ID: fmt.Sprint("c", b.N, "-", i)})
			require.NoError(b, err)
			b.StartTimer()
			require.NoError(b, l.Cancel(b.Context(), e.Run.ID))
			<-e.Context().Done()
			b.StopTimer()
			require.NoError(b, e.End(b.Context()))
			b.StartTimer()
		}
	})
}

// BenchmarkFollow is from Append to a reader, on this host and on another.
func BenchmarkFollow(b *testing.B) {
	port := freePort(b)
	natsChild(b, b.TempDir(), port)
	near := openTest(b, setup{URLs: []string{address(port)}})
	far := openTest(b, setup{URLs: []string{address(port)}})
	for name, l := range map[string]*Log{"near": near, "far": far} {
		b.Run(name, func(b *testing.B) {
			id := fmt.Sprint(name, b.N)
			e, err := near.Claim(b.Context(), Run{ID: id})
			require.NoError(b, err)
			got := make(chan uint64, 1)
			go func() {
				_ = l.Follow(b.Context(), id, Pos{}, func(r Record) bool {
					got <- r.Seq
					return true
				})
			}()
			for b.Loop() {
				pos, err := e.Append(b.Context(), Record{Kind: "ev", Data: make([]byte, 300)})
				require.NoError(b, err)
				require.Equal(b, pos.Seq, <-got)
			}
			require.NoError(b, e.End(b.Context()))
		})
	}
}

// BenchmarkHistory is reading a run of 300 stored messages from the beginning.
func BenchmarkHistory(b *testing.B) {
	benchLogs(b, func(b *testing.B, l *Log) {
		id := fmt.Sprint("h", b.N)
		e, err := l.Claim(b.Context(), Run{ID: id})
		require.NoError(b, err)
		for range 300 {
			_, err := e.Append(b.Context(), Record{Kind: "ev", Data: make([]byte, 300)})
			require.NoError(b, err)
		}
		require.NoError(b, e.End(b.Context()))
		for b.Loop() {
			require.Len(b, read(b, l, id, Pos{}), 300)
		}
	})
}

// BenchmarkForget is a short run and the removal of it.
func BenchmarkForget(b *testing.B) {
	benchLogs(b, func(b *testing.B, l *Log) {
		n := time.Now().UnixNano()
		for i := range b.N {
			e, err := l.Claim(b.Context(), Run{ID: fmt.Sprint(n, "-", i)})
			require.NoError(b, err)
			require.NoError(b, e.End(b.Context(), Record{Kind: "ev", Data: make([]byte, 300)}))
		}
		l.mu.Lock()
		ended := l.ended
		l.ended = nil
		l.mu.Unlock()
		b.ResetTimer()
		for _, run := range ended {
			require.NoError(b, l.records.stream.Purge(b.Context(),
				jetstream.WithPurgeSubject(l.conn.Subject("run", run.token, ">"))))
		}
	})
}
