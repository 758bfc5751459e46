package runlog

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/testing/disktest"
	"github.com/stretchr/testify/require"
)

// TestDiskFull fills a small memory disk: the writer gets an error, and acknowledged records can be
// read.
func TestDiskFull(t *testing.T) {
	dir := disktest.Small(t, "16m")
	l, err := openLog(t.Context(), setup{Dir: dir, MaxBytes: 64 << 20})
	require.NoError(t, err)
	defer closeLog(l)
	e, err := l.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	filler := filepath.Join(dir, "filler")
	require.NoError(t, os.WriteFile(filler, make([]byte, 6<<20), 0o600))
	stored := uint64(0)
	for range 100 {
		if _, err = e.Append(t.Context(), Record{Kind: "ev", Data: make([]byte, 200<<10)}); err != nil {
			break
		}
		stored++
	}
	require.ErrorIs(t, err, broker.ErrFull)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "more"), make([]byte, 2<<20), 0o600))
	require.ErrorIs(t, l.Healthy(t.Context()), broker.ErrFull)
	_, err = l.Claim(t.Context(), Run{ID: "another"})
	require.ErrorIs(t, err, broker.ErrFull)
	require.ErrorIs(t, l.keys.Put(t.Context(), "k-logs", nil, 0), broker.ErrFull)
	_, err = files(t, l).Put(t.Context(), "f", bytes.NewReader(make([]byte, 1<<20)))
	require.ErrorIs(t, err, broker.ErrFull)
	records, err := l.Records(t.Context(), "r")
	require.NoError(t, err)
	require.GreaterOrEqual(t, uint64(len(records)), stored, "what was acknowledged can be read")
	require.NoError(t, os.Remove(filler))
	require.NoError(t, l.Healthy(t.Context()))
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	require.NoError(t, e.End(ctx), "space that came back is used")
	require.EqualValues(t, stored+1, len(read(t, l, "r", Pos{})))
}

// TestManyReaders opens 5,000 readers, half of them on another host, and sends
// each of them everything.
func TestManyReaders(t *testing.T) {
	far, c, _, _ := external(t)
	near := openTest(t, c.Config.config())
	const readers, records = 5000, 10
	before := inUse()
	e, err := near.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	var got, ready atomic.Int64
	var wg sync.WaitGroup
	for i := range readers {
		l := []*Log{far, near}[i%2]
		wg.Go(func() {
			ready.Add(1)
			var seq uint64
			err := l.Follow(t.Context(), "r", Pos{}, func(r Record) bool {
				seq++
				if r.Seq == seq {
					got.Add(1)
				}
				return true
			})
			require.NoError(t, err)
		})
	}
	require.Eventually(t, func() bool { return ready.Load() == readers }, patience, time.Millisecond)
	for i := range records {
		_, err := e.Append(t.Context(), rec("ev", fmt.Sprint(i)))
		require.NoError(t, err)
	}
	held := inUse() - before
	require.NoError(t, e.End(t.Context()))
	wg.Wait()
	require.EqualValues(t, readers*records, got.Load())
	require.Less(t, held, 200<<20)
	t.Logf("%d KiB for each reader", held/readers>>10)
}

func inUse() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}
