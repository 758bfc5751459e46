package traces

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
)

// prose returns words of a vocabulary whose frequencies fall like those of a language. No two texts
// are equal, so that a block saves what the runs of a canvas have in common and not the texts.
func prose(rng *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		n := int(3000 * rng.Float64() * rng.Float64() * rng.Float64())
		for n += 27; n > 0; n /= 27 {
			b.WriteByte("abcdefghijklmnopqrstuvwxyze"[n%27])
		}
		b.WriteByte(' ')
	}
	return b.String()
}

// streamed is an answer of a model in pieces of about four bytes.
func streamed(text string) enginetest.Reply {
	r := enginetest.Reply{}
	for len(text) > 0 {
		n := min(4, len(text))
		r.Pieces = append(r.Pieces, enginetest.Piece{Text: text[:n]})
		text = text[n:]
	}
	return r
}

// opening is the bound of the time in which a kept run is read.
const opening = 300 * time.Millisecond

// The bytes of kept runs by shape: of the log, of the trace, and of the block for each run. most is
// the bound of the latter.
func TestBytesOfShapes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const ask = `{"llm_id":"m","prompts":[{"role":"user","content":"{sys.query}"}]`
	helper := `{"component_name":"Agent","name":"Helper","params":{"description":"helps","llm_id":"m","tools":[]}}`
	toolCalls := func() (script []enginetest.Reply) {
		for i := range 10 {
			r := enginetest.TextReply("")
			r.Calls = []engine.ToolCall{{ID: fmt.Sprint("call_", i), Name: "Helper_0", Arguments: `{"user_prompt":"` +
				prose(rng, 8) + `","reasoning":"r","context":"c"}`}}
			script = append(script, r, enginetest.TextReply(prose(rng, 90)))
		}
		last := enginetest.TextReply(prose(rng, 90))
		last.Calls = []engine.ToolCall{}
		return append(script, last)
	}
	items := make([]string, 400)
	for _, shape := range []struct {
		name, dsl string
		runs      int
		calls     int // of tools, in each run
		most      int64
		script    func() []enginetest.Reply
		query     func() engine.Value
	}{
		{
			"Begin and Message", sketch.Chain("begin Begin", `Message:M Message {"content":["{sys.query}"]}`),
			200, 0, 400, nil, nil,
		},
		{
			"chat of 90 words in pieces", sketch.Chain("begin Begin", "LLM:L LLM "+ask+"}",
				`Message:M Message {"content":["{LLM:L@content}"]}`), 100, 0, 600,
			func() []enginetest.Reply { return []enginetest.Reply{streamed(prose(rng, 90))} }, nil,
		},
		{
			"agent of 10 tool calls", sketch.Chain("begin Begin",
				"Agent:A Agent "+ask+`,"max_rounds":20,"tools":[`+helper+`]}`,
				`Message:M Message {"content":["{Agent:A@content}"]}`), 20, 10, 8500, toolCalls, nil,
		},
		{
			"iteration of 400", sketch.Canvas("begin Begin -> X", `X Iteration {"items_ref":"sys.query"} -> Message:M`,
				`II IterationItem -> S ^ X`, `S StringTransform {"method":"merge","script":"{II@item} done"} ^ X`,
				`Message:M Message {"content":["end"]}`), 3, 0, 135_000, nil,
			func() engine.Value {
				for i := range items {
					items[i] = prose(rng, 50)
				}
				return engine.Strings(items...)
			},
		},
	} {
		t.Run(shape.name, func(t *testing.T) {
			b := newBench(t)
			canvas := b.Canvas(shape.dsl)
			var last store.Run
			var raw []byte // of a block, which the test closes by its size
			stored := int64(0)
			var logs, raws int64
			for range shape.runs {
				if shape.script != nil {
					b.ports.Model = &enginetest.Model{Script: shape.script()}
				}
				query := engine.String(prose(rng, 10))
				if shape.query != nil {
					query = shape.query()
				}
				row, records := b.ask(canvas, query)
				require.Equal(t, store.RunDone, row.Status, row.Error)
				calls := 0
				last = row
				for _, r := range records {
					logs += int64(len(r.Data))
					if r.Kind == string(engine.EventToolFinished) {
						calls++
					}
				}
				require.Equal(t, shape.calls, calls)
				before := len(raw)
				var err error
				raw, err = Encode(raw, Header{Run: row.ID, Doc: row.ID}, selected(records))
				require.NoError(t, err)
				raws += int64(len(raw) - before)
				if len(raw) >= blockBytes {
					stored, raw = stored+int64(len(pack(raw))), nil
				}
			}
			stored += int64(len(pack(raw)))
			b.kept(last)
			n := int64(shape.runs)
			least := opening
			for range 5 { // another process may have the processor
				began := time.Now()
				_, err := b.traces.Records(t.Context(), last)
				require.NoError(t, err)
				least = min(least, time.Since(began))
			}
			t.Logf("log %d, trace %d, stored %d bytes a run, opened in %s", logs/n, raws/n, stored/n, least)
			require.Less(t, least, opening)
			require.LessOrEqual(t, stored/n, shape.most)
		})
	}
}

// BenchmarkHead compares making the head of a run with making its trace: of a short run, and of one
// with an answer in 140 pieces.
func BenchmarkHead(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := newBench(b)
	short := h.records(h.Canvas(sketch.Chain("begin Begin", `Message:M Message {"content":["{sys.query}"]}`)))
	h.ports.Model = &enginetest.Model{Script: []enginetest.Reply{streamed(prose(rng, 90))}}
	chat := h.records(h.Canvas(sketch.Chain("begin Begin", `LLM:L LLM {"llm_id":"m","prompts":[{"role":"user",
		"content":"{sys.query}"}]}`, `Message:M Message {"content":["{LLM:L@content}"]}`)))
	for name, records := range map[string][]runlog.Record{"short": short, "chat": chat} {
		b.Run(name+"/head", func(b *testing.B) {
			for b.Loop() {
				headOf(records)
			}
		})
		b.Run(name+"/trace", func(b *testing.B) {
			for b.Loop() {
				raw, err := Encode(nil, Header{}, records)
				require.NoError(b, err)
				pack(raw)
			}
		})
	}
}

// records runs a canvas and returns what a trace of it has.
func (b *bench) records(canvas string) []runlog.Record {
	_, records := b.ask(canvas, engine.String("how long do boots last?"))
	return selected(records)
}
