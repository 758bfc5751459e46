package enginetest_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// timing sets the durations of models and tools, which differ for each node and each timing.
type timing uint64

// of returns the time of a node, in whole seconds.
func (x timing) of(node string) time.Duration {
	h := fnv.New64a()
	fmt.Fprint(h, x, node)
	return time.Duration(h.Sum64()%8) * time.Second
}

// Now returns the time of the synctest bubble.
func (x timing) Now() time.Time { return time.Now() }

// Sleep waits for a tool, whose number the duration is.
func (x timing) Sleep(ctx context.Context, d time.Duration) error {
	return engine.SystemClock{}.Sleep(ctx, x.of(d.String()))
}

// Generate answers with reasoning in the middle.
func (x timing) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		for _, piece := range [...]string{"so ", "<think>hm</think>", "be it"} {
			if err := (engine.SystemClock{}).Sleep(ctx, x.of(req.Node)/3); err != nil {
				yield(engine.ModelPiece{}, err)
				return
			}
			if !yield(engine.ModelPiece{Text: piece}, nil) {
				return
			}
		}
	}
}

// outcome is the result of a canvas: its error, its state, one line for each node, the number of
// executions of each node, and of a canvas without a form its path and its answer.
type outcome struct {
	err    string
	state  string
	runs   string
	answer string
	shown  string // what an observer sees: messages, and the nodes that act outside, in their order
}

// leftBy returns the state that a document holds, apart from how often the user was asked.
func leftBy(doc engine.Value) string {
	var b strings.Builder
	for id, c := range doc.Get("components").Fields() {
		fmt.Fprintln(&b, id, c.Get("obj").Get("params").Get("outputs").JSON())
	}
	for name, v := range doc.Get("globals").Fields() {
		if name != "sys.conversation_turns" && name != "sys.history" && name != "sys.date" {
			fmt.Fprintln(&b, name, v.JSON())
		}
	}
	fmt.Fprintln(&b, "waiting", doc.Get("waiting").JSON(), "memory", doc.Get("memory").JSON())
	return b.String()
}

// mostAnswers is the maximum number of forms of a canvas that are answered.
const mostAnswers = 40

// queries are the inputs of each canvas: a Switch takes another branch for each.
var queries = [...]string{"a", "b"}

// conclude runs a canvas with one of queries until it no longer waits for a form, each time in the
// next of modes, and returns the result. Each form counts as a turn of the conversation, so the
// number of turns is left out.
func conclude(
	t *testing.T, reg *engine.Registry, c *enginetest.Case, query string, x timing, modes ...engine.Scheduling,
) outcome {
	t.Helper()
	var out outcome
	ran, turns := map[string]int{}, 0
	synctest.Test(t, func(t *testing.T) {
		canvas, err := engine.Load(reg, c.DSL.AppendJSON(nil))
		require.NoError(t, err)
		state := canvas.State()
		inputs := engine.Object("items", engine.Strings("a", "b"), "f", "filled")
		in := engine.Input{Query: engine.String(query), UserID: "u", Inputs: inputs}
		for ; turns == 0 || state.Paused() && turns < mostAnswers && out.err == ""; turns++ {
			opt := engine.Options{
				Ports: engine.Ports{Model: x, Clock: x, IDs: &enginetest.IDs{}}, TaskID: "task", Seed: 1, MaxSteps: 200,
				Scheduling: modes[turns%len(modes)],
			}
			for e, err := range canvas.Run(t.Context(), state, in, opt) {
				if err != nil {
					out.err = err.Error()
				} else if e.Type == engine.EventNodeFinished {
					ran[e.Node]++
				}
				out.shown += shownBy(e)
			}
			in.Query = engine.Null
			canvas, err = engine.Load(reg, canvas.Save(state))
			require.NoError(t, err)
			state = canvas.State()
		}
		doc, err := engine.ParseJSON(canvas.Save(state))
		require.NoError(t, err)
		out.state, out.runs = leftBy(doc), fmt.Sprint(ran)
		if turns == 1 {
			out.answer = doc.Get("path").JSON() + doc.Get("history").JSON()
		}
	})
	return out
}

// shownBy returns the text of a message, or the name of a tool that starts.
func shownBy(e *engine.Event) string {
	switch {
	case e == nil:
		return ""
	case e.Type == engine.EventMessage:
		return e.Data().Get("content").Text()
	case e.Type == engine.EventNodeStarted && strings.HasPrefix(e.Node, "EchoTool"):
		return "[" + e.Node + "]"
	}
	return ""
}

// inTurn returns a case whose bodies run for one element after the other.
func inTurn(t *testing.T, c *enginetest.Case) *enginetest.Case {
	t.Helper()
	dsl, err := engine.ParseJSON([]byte(strings.ReplaceAll(c.DSL.JSON(), `"concurrency":2`, `"concurrency":1`)))
	require.NoError(t, err)
	return &enginetest.Case{Name: c.Name, DSL: dsl, Runs: c.Runs}
}

// timings is the number of timings tried for each canvas.
const timings = 4

// TestTimeDecidesWhatValidateReports runs random canvases in batches and eagerly, each with several
// queries and timings and with forms that are answered in either mode. All results are equal,
// except where validation reports that a canvas depends on the order. The events of eager runs are
// consistent.
func TestTimeDecidesWhatValidateReports(t *testing.T) {
	reg := registry2(t, registry(t))
	never := func(*engine.Event) bool { return false }
	eager := &enginetest.Player{Registry: reg, MaxSteps: 200, Cut: never, Scheduling: engine.Eager}
	compared, differed := 0, 0
	var same []uint64 // reported, and not seen to differ
	for seed := range eagerSeeds(t, 100) {
		showing(t, eager, randomCase(seed))
		c := timedCase(seed)
		diagnosed, differs := orderDependent(reg, c), false
		for _, query := range queries {
			differs = differs || timeDecides(t, reg, c, query, !diagnosed, seed)
		}
		switch {
		case !diagnosed:
			compared++
		case differs:
			differed++
		default:
			same = append(same, seed)
		}
	}
	t.Logf("%d compared, %d reported and different, %d reported and the same: %d", compared, differed, len(same), same)
	require.Positive(t, compared)
}

// timeDecides reports whether the result of a canvas depends on the mode, on the durations of its
// nodes or on the number of bodies at once. If it must not, the test fails.
func timeDecides(
	t *testing.T, reg *engine.Registry, c *enginetest.Case, query string, mustNot bool, seed uint64,
) (differs bool) {
	t.Helper()
	want := conclude(t, reg, c, query, 0, engine.Batch)
	if want.err != "" {
		return false // what else was under way is cut short in an eager run
	}
	for x := range timing(timings) {
		modes := [...][]engine.Scheduling{{engine.Eager}, {engine.Eager, engine.Batch}, {engine.Batch, engine.Eager}}
		got := conclude(t, reg, c, query, x, modes[x%3]...)
		got.shown = want.shown
		differs = differs || got != want
		if mustNot {
			require.Equal(t, want, got, "seed %d, query %s, timing %d\n%s", seed, query, x, c.DSL)
		}
	}
	return differs || conclude(t, reg, inTurn(t, c), query, 0, engine.Batch).state != want.state
}
