package runs

import (
	"context"
	"fmt"
	"iter"
	"sort"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

// delays is a model whose answer takes f(n) seconds, where n is the last number of its system text.
type delays func(i int) int

func (d delays) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		i, _ := strconv.Atoi(req.System[strings.LastIndex(req.System, " ")+1:])
		select {
		case <-time.After(time.Duration(d(i)) * time.Second):
			yield(engine.ModelPiece{Text: "ok"}, nil)
		case <-ctx.Done():
			yield(engine.ModelPiece{}, ctx.Err())
		}
	}
}

// TestFoldOfBodiesAtEveryCut stops a run with two Iterations side by side after each entry of its
// log, and continues it with a model whose answers come in another order: a reader of the log gets
// each message once, whole.
func TestFoldOfBodiesAtEveryCut(t *testing.T) {
	body := func(id string) []string {
		in := func(line string) string { return line + " ^ Iteration:" + id }
		return []string{
			fmt.Sprintf(`Iteration:%s Iteration {"items_ref": "env.items", "concurrency": 3,
				"outputs": {"all": {"ref": "LLM:%s@content"}}} -> Message:End`, id, id),
			in(fmt.Sprintf(`IterationItem:%s IterationItem {} -> LLM:%s`, id, id)),
			in(fmt.Sprintf(`LLM:%s LLM {"llm_id": "m", "sys_prompt": "item {IterationItem:%s@item}"}
				-> Message:%s`, id, id, id)),
			in(fmt.Sprintf(`Message:%s Message {"content": ["%s {IterationItem:%s@item};"]}`, id, id, id)),
		}
	}
	lines := append([]string{"begin Begin {} -> Iteration:A Iteration:B"}, append(body("A"), body("B")...)...)
	lines = append(lines, `Message:End Message {"content": ["{Iteration:A@all}{Iteration:B@all} end;"]}`)
	doc, err := engine.ParseJSON(sketch.Bytes(lines...))
	require.NoError(t, err)
	list := engine.List(engine.Int(1), engine.Int(2), engine.Int(3))
	doc = doc.With("globals", doc.Get("globals").With("env.items", list))
	builtins, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	canvas, err := engine.Load(builtins, doc.AppendJSON(nil))
	require.NoError(t, err)
	record := func(e *engine.Event) runlog.Record {
		return runlog.Record{Kind: string(e.Type), Data: e.Clone().JSON}
	}
	for _, completed := range []bool{false, true} {
		for _, mode := range []engine.Scheduling{engine.Batch, engine.Eager} {
			for cut, ended := 1, false; !ended; cut++ {
				synctest.Test(t, func(t *testing.T) {
					opt := engine.Options{
						AsCompleted: completed, Scheduling: mode, Checkpoints: true, Internal: true,
						Ports: engine.Ports{Model: delays(func(i int) int { return i })},
					}
					var told []runlog.Record
					ended = true
					in := engine.Input{Query: engine.String("q")}
					for e, err := range canvas.Run(t.Context(), canvas.State(), in, opt) {
						require.NoError(t, err)
						if told = append(told, record(e)); len(told) == cut {
							ended = false
							break
						}
					}
					last := lastKnown(told)
					if last < 0 {
						return
					}
					state, err := canvas.StateAt(events(told), 0)
					require.NoError(t, err)
					if state.Unfinished() {
						f := newFold(told[last+1:])
						opt.Ports.Model = delays(func(i int) int { return 4 - i })
						for e, err := range canvas.Continue(t.Context(), state, opt) {
							require.NoError(t, err)
							told = append(told, f.take(record(e))...)
						}
					}
					var whole Transcript
					for _, r := range told {
						whole.Take(r)
					}
					said := strings.SplitAfter(whole.Text.String(), ";")
					sort.Strings(said)
					require.Equal(t, []string{
						"", "A 1;", "A 2;", "A 3;", "B 1;", "B 2;", "B 3;", `["ok", "ok", "ok"]["ok", "ok", "ok"] end;`,
					}, said, "cut after entry %d, %s, as completed: %v", cut, mode, completed)
				})
			}
		}
	}
}
