package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/plugin"
)

// round is the time that one of the two runs before the other: long enough to be warm again, short
// enough for both to run under the same load.
const round = 5 * time.Millisecond

// ratio runs two functions in turns and reports how many times faster the first is, by the best
// round of each.
func ratio(b *testing.B, ours, peer func() error) {
	b.Helper()
	var mine, theirs lap
	for b.Loop() {
		if err := mine.run(ours); err != nil {
			b.Fatal(err)
		}
		if err := theirs.run(peer); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(mine.best, "ours-ns")
	b.ReportMetric(theirs.best, "peer-ns")
	b.ReportMetric(theirs.best/mine.best, "x-faster")
	b.ReportMetric(0, "ns/op") // of both together, which is meaningless
}

// lap is the best round so far, in nanoseconds per call: the one least disturbed by other programs
// on the machine.
type lap struct{ best float64 }

// run makes calls for one round, after a first call for warm-up.
func (l *lap) run(call func() error) error {
	if err := call(); err != nil {
		return err
	}
	began := time.Now()
	for n := 1; ; n++ {
		if err := call(); err != nil {
			return err
		}
		if n&7 != 0 && n > 8 { // reading the clock costs as much as a short call
			continue
		}
		if took := time.Since(began); took > round {
			if each := float64(took.Nanoseconds()) / float64(n); l.best == 0 || each < l.best {
				l.best = each
			}
			return nil
		}
	}
}

// call is one call of the bulk guest on our host.
func call(b *testing.B, name, export string, input []byte) func() error {
	b.Helper()
	m, err := ours(b, guest(b, name), export)
	if err != nil {
		b.Fatal(err)
	}
	req := plugin.CallRequest{Export: export, Input: input}
	return func() error {
		_, err := m.Call(context.Background(), req)
		return err
	}
}

// peer is one call of the Extism guest on the official host.
func peer(b *testing.B, export string, input []byte, timeout time.Duration) func() error {
	b.Helper()
	p, err := official(b, guest(b, "extism"), timeout)
	if err != nil {
		b.Fatal(err)
	}
	return func() error {
		_, _, err := p.Call(export, input)
		return err
	}
}

// message is an input of the contract of about 1 KB.
func message(b *testing.B) []byte {
	b.Helper()
	raw, err := json.Marshal(map[string]any{
		"abi": 1, "call": map[string]any{"id": "c"}, "params": map[string]any{"units": "c"},
		"arguments": map[string]any{"text": strings.Repeat("word ", 200)},
	})
	if err != nil {
		b.Fatal(err)
	}
	return raw
}

// BenchmarkAgainstOfficial is our host with our SDK's imports against the official host with its
// PDK and a timeout set, as it is commonly run.
func BenchmarkAgainstOfficial(b *testing.B) {
	for _, c := range []struct {
		name, export string
		input        []byte
	}{
		{"echo-1KB", "echo", make([]byte, 1<<10)},
		{"echo-1MB", "echo", make([]byte, 1<<20)},
		{"invoke-1KB", "invoke", message(b)},
		{"compute", "compute", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			ratio(b, call(b, "bulk", c.export, c.input), peer(b, c.export, c.input, time.Minute))
		})
	}
}

// BenchmarkSameModule is the same Extism module on both hosts.
func BenchmarkSameModule(b *testing.B) {
	for _, c := range []struct {
		name, export string
		input        []byte
	}{
		{"echo-1KB", "echo", make([]byte, 1<<10)},
		{"echo-1MB", "echo", make([]byte, 1<<20)},
		{"compute", "compute", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			ratio(b, call(b, "extism", c.export, c.input), peer(b, c.export, c.input, time.Minute))
		})
	}
}

// BenchmarkCounting measures the cost of metering: the same module on our host, metered, and on the
// official host without a timeout, which runs it unmodified and cannot stop it.
func BenchmarkCounting(b *testing.B) {
	b.Run("compute", func(b *testing.B) { counting(b, "compute", nil) })
	b.Run("invoke-1KB", func(b *testing.B) { counting(b, "invoke", message(b)) })
}

func counting(b *testing.B, export string, input []byte) {
	ours, peer := call(b, "extism", export, input), peer(b, export, input, 0)
	var metered, plain lap
	for b.Loop() {
		if err := errors.Join(metered.run(ours), plain.run(peer)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(metered.best/plain.best, "x-of-plain")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkWarmCall is one call of 1 KB on an existing instance, with its allocations on the
// host's side, and compared with the same call by wazero alone.
func BenchmarkWarmCall(b *testing.B) {
	one := call(b, "bulk", "echo", make([]byte, 1<<10))
	bare := floor(b, "echo", make([]byte, 1<<10))
	var mine, least lap
	for b.Loop() {
		if err := errors.Join(mine.run(one), least.run(bare)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(mine.best, "ours-ns")
	b.ReportMetric(least.best, "floor-ns")
	b.ReportMetric(mine.best/least.best, "x-of-floor")
	b.ReportMetric(testing.AllocsPerRun(1000, func() { _ = one() }), "allocs-per-call")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLoad is a new host that loads a plugin with compiled code in the cache on disk, in turns
// with wazero alone.
func BenchmarkLoad(b *testing.B) {
	for _, c := range []struct{ name, wasm string }{{"go", "weather"}, {"assemblyscript", "typewriter"}, {"rust", "table"}} {
		b.Run(c.name, func(b *testing.B) { benchLoad(b, guest(b, c.wasm)) })
	}
}

func benchLoad(b *testing.B, wasm []byte) {
	dir, ctx := b.TempDir(), context.Background()
	bare := loadFloor(b, b.TempDir(), wasm)
	wasm = packed(b, wasm)
	load := func() time.Duration {
		began := time.Now()
		h, err := plugin.New(ctx, plugin.Config{CacheDir: dir, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
		if err == nil {
			_, err = h.Load(ctx, wasm, plugin.LoadOptions{})
		}
		took := time.Since(began)
		if err == nil {
			err = h.Close(ctx)
		}
		if err != nil {
			b.Fatal(err)
		}
		return took
	}
	load() // fills the cache
	bare()
	best, least := time.Hour, time.Hour
	for b.Loop() {
		best, least = min(best, load()), min(least, bare())
	}
	b.ReportMetric(float64(best.Microseconds())/1000, "load-ms")
	b.ReportMetric(float64(best)/float64(least), "x-of-floor")
	b.ReportMetric(0, "ns/op")
}
