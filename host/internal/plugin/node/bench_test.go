package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
)

// BenchmarkStreaming is a run whose plugin streams 200 pieces of text and also has structured
// outputs, against the same run with the text alone: in turns, the best round of each.
func BenchmarkStreaming(b *testing.B) {
	var text strings.Builder
	var steps []string
	for i := range 200 {
		word := fmt.Sprintf("word%d ", i)
		text.WriteString(word)
		steps = append(steps, "emit 1 "+word)
	}
	add := func(outputs, answer string) *engine.Canvas {
		s := newShop(b, node.Config{})
		s.add(guest(append(steps, "say "+answer)...),
			`{"streams": true, "outputs": {"type": "object", "properties": {"text": {"type": "string"}`+outputs+`}}}`)
		c, err := engine.Load(s.registry(), canvas(b, "begin Begin -> P", "P plugin:sample@1 -> M",
			`M Message {"content": ["{P@text}"]}`))
		require.NoError(b, err)
		return c
	}
	rows := strings.TrimSuffix(strings.Repeat(`{"name":"row","value":1.5},`, 20), ",")
	plain := add("", fmt.Sprintf(`{"outputs":{"text":%q}}`, text.String()))
	run := func(c *engine.Canvas) (pieces int) {
		for e, err := range c.Run(b.Context(), c.State(), engine.Input{}, engine.Options{Seed: 1}) {
			require.NoError(b, err)
			if e.Type == engine.EventMessage {
				pieces++
			}
		}
		return pieces
	}
	require.Equal(b, 200, run(plain))
	structured := add(`,"pages":{"type":"integer"},"rows":{"type":"array"}`,
		fmt.Sprintf(`{"outputs":{"text":%q,"pages":2,"rows":[%s]}}`, text.String(), rows))
	require.Equal(b, 200, run(structured))
	best := map[*engine.Canvas]time.Duration{}
	for b.Loop() {
		for _, c := range []*engine.Canvas{plain, structured} {
			began := time.Now()
			run(c)
			if took := time.Since(began); best[c] == 0 || took < best[c] {
				best[c] = took
			}
		}
	}
	b.ReportMetric(float64(best[structured])/float64(best[plain]), "x-of-plain")
	b.ReportMetric(float64(best[plain].Microseconds()), "plain-us")
	b.ReportMetric(0, "ns/op") // of both together, which is meaningless
}
