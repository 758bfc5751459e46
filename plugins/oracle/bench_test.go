package oracle

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/plugin"
)

// round is how long one of the two ways runs before the other has its turn: long enough to be warm again, short
// enough for both to meet the same neighbours.
const round = 5 * time.Millisecond

// ratio runs two ways in turns and reports how many times faster the first is.
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
	b.ReportMetric(mine.each(), "ours-ns")
	b.ReportMetric(theirs.each(), "peer-ns")
	b.ReportMetric(theirs.each()/mine.each(), "x-faster")
	b.ReportMetric(0, "ns/op") // of both together, which says nothing
}

// lap counts calls and the time they took.
type lap struct {
	calls int
	took  time.Duration
}

// run makes calls for a round, after one that warms up.
func (l *lap) run(call func() error) error {
	if err := call(); err != nil {
		return err
	}
	began := time.Now()
	for n := 1; ; n++ {
		if err := call(); err != nil {
			return err
		}
		if n&7 != 0 && n > 8 { // looking at the clock costs as much as a short call does
			continue
		}
		if took := time.Since(began); took > round {
			l.calls, l.took = l.calls+n, l.took+took
			return nil
		}
	}
}

func (l *lap) each() float64 { return float64(l.took.Nanoseconds()) / float64(l.calls) }

// call is one call of the bulk guest on our host.
func call(b *testing.B, name, export string, input []byte) func() error {
	b.Helper()
	m, err := ours(b, guest(b, name))
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

// BenchmarkAgainstOfficial is our host with our SDK's imports against the official host with its PDK and a timeout
// set, which is how people run it.
func BenchmarkAgainstOfficial(b *testing.B) {
	message, err := json.Marshal(map[string]any{
		"abi": 1, "call": map[string]any{"id": "c"}, "params": map[string]any{"units": "c"},
		"arguments": map[string]any{"text": strings.Repeat("word ", 200)},
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name, export string
		input        []byte
	}{
		{"echo-1KB", "echo", make([]byte, 1<<10)},
		{"echo-1MB", "echo", make([]byte, 1<<20)},
		{"invoke-1KB", "invoke", message},
		{"compute", "compute", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			ratio(b, call(b, "bulk", c.export, c.input), peer(b, c.export, c.input, time.Minute))
		})
	}
}

// BenchmarkSameModule is the very same Extism module on both hosts.
func BenchmarkSameModule(b *testing.B) {
	for _, c := range []struct {
		name, export string
		input        []byte
		timeout      time.Duration
	}{
		{"echo-1KB", "echo", make([]byte, 1<<10), time.Minute},
		{"echo-1MB", "echo", make([]byte, 1<<20), time.Minute},
		{"compute", "compute", nil, time.Minute},
		{"compute-unmetered", "compute", nil, 0}, // x-faster below 1 is what counting costs
	} {
		b.Run(c.name, func(b *testing.B) {
			ratio(b, call(b, "extism", c.export, c.input), peer(b, c.export, c.input, c.timeout))
		})
	}
}
