package runlog

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/runlog/pack"
)

// large returns a JSON text of n bytes.
func large(n int) string {
	letters := make([]byte, n-2)
	for i := range letters {
		letters[i] = 'a' + byte(rand.IntN(26))
	}
	return `"` + string(letters) + `"`
}

func TestLargeValuesAreStoredOnce(t *testing.T) {
	port := freePort(t)
	natsChild(t, t.TempDir(), port)
	for name, cfg := range map[string]setup{"embedded": {}, "external": {URLs: []string{address(port)}}} {
		t.Run(name, func(t *testing.T) { storedOnce(t, cfg) })
	}
}

func storedOnce(t *testing.T, cfg setup) {
	l := openTest(t, cfg)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	e, err := l.Claim(ctx, Run{ID: "r 1"})
	require.NoError(t, err)
	big, small := large(1<<20), `"small"`
	want := []string{
		`{"data":` + big + `}`, `{"outputs":{"a":` + big + `,"b":` + small + `}}`, `{"b":` + small + `}`,
		`{"nodes":{"n":{"o":` + big + `}}}`, `plain, not JSON`,
	}
	for i, data := range want {
		if i%2 == 0 {
			require.NoError(t, e.Buffer(ctx, rec("ev", data)))
		} else {
			_, err = e.Append(ctx, rec("ev", data))
			require.NoError(t, err)
		}
	}
	check := func(records []Record) {
		t.Helper()
		require.Len(t, records, len(want))
		for i, r := range records {
			require.Equal(t, want[i], string(r.Data))
		}
	}
	var live []Record
	require.NoError(t, l.Follow(ctx, "r 1", Pos{}, func(r Record) bool {
		live = append(live, r)
		return len(live) < len(want)
	}))
	check(live)
	require.NoError(t, e.Flush(ctx))
	require.Less(t, stateOf(t, l.records.stream).Bytes, uint64(1<<20+20<<10), "once, not three times")
	require.NoError(t, e.End(ctx))
	check(read(t, l, "r 1", Pos{}))
	records, err := l.Records(ctx, "r 1")
	require.NoError(t, err)
	check(records)

	t.Run("what is gone is said", func(t *testing.T) {
		require.NoError(t, l.records.stream.Purge(ctx,
			jetstream.WithPurgeSubject(l.conn.Subject("run", broker.Token("r 1"), "bl", "*"))))
		check(read(t, l, "r 1", Pos{})) // from memory
		l.records.cache = blobCache{}
		require.ErrorIs(t, l.Follow(ctx, "r 1", Pos{}, func(Record) bool { return true }), broker.ErrGone)
	})
	l.forgetNow(t, "r 1")
	require.Zero(t, stateOf(t, l.records.stream).Msgs)
}

// forgetNow forgets a run as the sweeper would.
func (l *Log) forgetNow(t *testing.T, run string) {
	l.mu.Lock()
	for i := range l.ended {
		l.ended[i].due = time.Now()
	}
	l.mu.Unlock()
	require.Eventually(t, func() bool {
		_, ended, err := l.Ended(t.Context(), run)
		return err == nil && !ended
	}, patience, 5*time.Millisecond)
}

// TestTakeOverWithLargeValues checks that the next host, whose packer is empty, stores nothing
// twice.
func TestTakeOverWithLargeValues(t *testing.T) {
	dir := t.TempDir()
	l, err := openLog(t.Context(), setup{Dir: dir})
	require.NoError(t, err)
	e, err := l.Claim(t.Context(), Run{ID: "r"})
	require.NoError(t, err)
	big := large(500 << 10)
	_, err = e.Append(t.Context(), rec("ev", `{"first":`+big+`}`))
	require.NoError(t, err)
	require.NoError(t, closeLog(l))

	l = openTest(t, setup{Dir: dir})
	go func() {
		_ = l.Work(t.Context(), func(ctx context.Context, e *Lease) error {
			c, err := e.Checkpoint(ctx)
			if err != nil {
				return err
			}
			return e.End(ctx, rec("ev", `{"again":`+string(c.Records[0].Data)+`}`))
		})
	}()
	records := read(t, l, "r", Pos{})
	require.Equal(t, `{"again":{"first":`+big+`}}`, string(records[1].Data))
	require.Less(t, stateOf(t, l.records.stream).Bytes, uint64(510<<10))
}

// TestBlobsFallOutOfMemory reads more blobs than the cache can contain.
func TestBlobsFallOutOfMemory(t *testing.T) {
	var c blobCache
	for i := range 40 {
		c.put(fmt.Sprint(i), make([]byte, 1<<20))
		require.LessOrEqual(t, c.size, cachedBlobs)
		require.NotNil(t, c.get(fmt.Sprint(i)))
	}
	require.Nil(t, c.get("0"))
	c.put("huge", make([]byte, cachedBlobs+1))
	require.Nil(t, c.get("huge"))
}

// BenchmarkLargeValues is a run in which a value of 1 MB goes through five
// records, as a node's output does, stored by the log and read again.
func BenchmarkLargeValues(b *testing.B) {
	for _, way := range []struct {
		name  string
		limit int
	}{{"once", pack.Limit}, {"each time", 1 << 30}} {
		benchLogs(b, func(b *testing.B, l *Log) {
			b.Run(way.name, func(b *testing.B) {
				big := large(1 << 20)
				n := time.Now().UnixNano()
				var stored uint64
				for i := range b.N {
					id := fmt.Sprint(n, "-", i)
					e, err := l.Claim(b.Context(), Run{ID: id})
					require.NoError(b, err)
					e.packer.Limit = way.limit
					for j := range 5 {
						_, err := e.Append(b.Context(), Record{
							Kind: "ev",
							Data: fmt.Appendf(nil, `{"n":%d,"data":%s}`, i*5+j, big),
						})
						require.NoError(b, err)
					}
					info, err := l.records.stream.Info(b.Context())
					require.NoError(b, err)
					stored = info.State.Bytes
					require.NoError(b, e.End(b.Context()))
					got := 0
					require.NoError(b, l.Follow(b.Context(), id, Pos{}, func(r Record) bool {
						got += bytes.Count(r.Data, []byte("data"))
						return true
					}))
					require.NoError(b, l.records.stream.Purge(b.Context()))
				}
				b.ReportMetric(float64(stored)/1e6, "MB-stored/op")
			})
		})
	}
}
