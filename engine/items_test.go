package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// iteration returns a canvas with an Iteration over n elements whose body is one model call and a
// message.
func iteration(n int, params string, body ...string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("%d", i)
	}
	entries := []string{
		start("Iteration:I"),
		cell("Iteration:I", "Iteration",
			`"items_ref": "env.items", "outputs": {"all": {"ref": "StringTransform:T@result"}}, `+params,
			"StringTransform:E"),
		inBody("Iteration:I", cell("IterationItem:X", "IterationItem", "", "LLM:L")),
		cell("StringTransform:E", "StringTransform", `"method": "merge", "script": "{Iteration:I@all}"`),
	}
	if len(body) == 0 {
		body = []string{
			inBody("Iteration:I", asks("LLM:L", 1, "{IterationItem:X@item}", "StringTransform:T")),
			inBody("Iteration:I", cell("StringTransform:T", "StringTransform",
				`"method": "merge", "script": "r{IterationItem:X@item}"`, "Message:M")),
			inBody("Iteration:I", message("Message:M", "said {IterationItem:X@item}")),
		}
	}
	return given("items", strings.Join(items, ","), sketch.Canvas(append(entries, body...)...))
}

// given adds a list to the variables of a document.
func given(name, list, dsl string) string {
	doc, err := engine.ParseJSON([]byte(dsl))
	if err != nil {
		panic(err)
	}
	value, err := engine.ParseJSON([]byte("[" + list + "]"))
	if err != nil {
		panic(err)
	}
	variable := engine.Object("type", "array<number>", "value", value)
	return doc.With("globals", doc.Get("globals").With("env."+name, value)).
		With("variables", doc.Get("variables").With(name, variable)).JSON()
}

// output returns an output in a state.
func output(t *testing.T, st *engine.State, node, name string) string {
	t.Helper()
	v, ok := st.Output(node, name)
	require.True(t, ok)
	return v.JSON()
}

func TestIterationRunsElementsAtOnce(t *testing.T) {
	for _, mode := range []engine.Scheduling{engine.Batch, engine.Eager} {
		synctest.Test(t, func(t *testing.T) {
			m := &slowModel{}
			opt := engine.Options{Scheduling: mode, Ports: engine.Ports{Model: m}}
			events, state, err := eagerRun(t, iteration(20, `"concurrency": 5`), opt)
			require.NoError(t, err)
			require.LessOrEqual(t, events[len(events)-1].at/4, 1.02)
			require.Equal(t, 5, m.max)
			var want, said []string
			for i := range 20 {
				want = append(want, fmt.Sprintf(`"r%d"`, i))
			}
			require.Equal(t, "["+strings.Join(want, ",")+"]", output(t, state, "Iteration:I", "all"))
			for _, e := range events {
				if e.event.Type == engine.EventMessage {
					said = append(said, e.event.Facts.Message.Text)
				}
				if e.event.Node == "LLM:L" {
					require.Equal(t, 1, e.event.Data().Get("index_path").Len())
				}
			}
			text := ""
			for i := range 20 {
				text += fmt.Sprintf("said %d", i)
			}
			require.Equal(t, text, strings.Join(said, ""))
		})
	}
}

// TestEntriesOfBodiesHaveTheirIndex runs four elements at once with two slots: the calls and the
// waits of each are logged with its index.
func TestEntriesOfBodiesHaveTheirIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := engine.Options{Concurrency: 2, Internal: true, Ports: engine.Ports{Model: &slowModel{}}}
		events, _, err := eagerRun(t, iteration(4, `"concurrency": 4`), opt)
		require.NoError(t, err)
		indexes := map[engine.EventType][]string{}
		for _, e := range events {
			switch e.event.Type {
			case engine.EventUsage, engine.EventQueued:
				data := e.event.Data()
				require.Equal(t, "LLM:L", data.Get("component_id").Str())
				indexes[e.event.Type] = append(indexes[e.event.Type], data.Get("index_path").JSON())
			}
		}
		require.ElementsMatch(t, []string{"[0]", "[1]", "[2]", "[3]"}, indexes[engine.EventUsage])
		require.Len(t, indexes[engine.EventQueued], 2)
		require.NotEqual(t, indexes[engine.EventQueued][0], indexes[engine.EventQueued][1])
	})
}

// onlyCanvas is a port with one canvas.
type onlyCanvas struct{ canvas *engine.Canvas }

func (o onlyCanvas) Canvas(context.Context, engine.CanvasQuery) (engine.SubCanvas, error) {
	return engine.SubCanvas{Canvas: o.canvas}, nil
}

// TestIndexStaysInsideOfACanvas has a node that runs a canvas whose body runs for two elements: the
// calls are logged as those of the node, which lies in no body.
func TestIndexStaysInsideOfACanvas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner, err := engine.Load(builtins(t), []byte(iteration(2, `"concurrency": 2`)))
		require.NoError(t, err)
		opt := engine.Options{
			Internal: true, Ports: engine.Ports{Model: &slowModel{}, Canvases: onlyCanvas{inner}},
		}
		dsl := sketch.Canvas(start("Canvas:C"), cell("Canvas:C", "Canvas", `"canvas": "inner"`))
		events, _, err := eagerRun(t, dsl, opt)
		require.NoError(t, err)
		calls := 0
		for _, e := range events {
			if e.event.Type == engine.EventUsage {
				calls++
				require.Equal(t, "Canvas:C", e.event.Data().Get("component_id").Str())
				require.True(t, e.event.Data().Get("index_path").IsNull(), "%s", e.event.JSON)
			}
		}
		require.Equal(t, 2, calls)
	})
}

// TestBodiesReadWhatIsWrittenBesideThem has a text that is still being written when the bodies
// could start: they wait for it.
func TestBodiesReadWhatIsWrittenBesideThem(t *testing.T) {
	dsl := given("items", "0,1", sketch.Canvas(
		start("LLM:A", "Iteration:I"), asks("LLM:A", 3, "", "Message:M"), message("Message:M", "{LLM:A@content}"),
		cell("Iteration:I", "Iteration",
			`"items_ref": "env.items", "concurrency": 2, "outputs": {"all": {"ref": "Message:N@content"}}`),
		inBody("Iteration:I", cell("IterationItem:X", "IterationItem", "", "Message:N")),
		inBody("Iteration:I", message("Message:N", "{IterationItem:X@item}: {LLM:A@content}"))))
	for _, mode := range []engine.Scheduling{engine.Batch, engine.Eager} {
		for _, slots := range []int{1, 5} {
			synctest.Test(t, func(t *testing.T) {
				m := &slowModel{}
				opt := engine.Options{Scheduling: mode, Concurrency: slots, Ports: engine.Ports{Model: m}}
				_, state, err := eagerRun(t, dsl, opt)
				require.NoError(t, err)
				require.Equal(t, `["0: LLM:A1 LLM:A2 LLM:A3 ","1: LLM:A1 LLM:A2 LLM:A3 "]`,
					output(t, state, "Iteration:I", "all"))
				require.Equal(t, 1, m.calls["LLM:A"])
			})
		}
	}
}

// TestLoopOverItemsRunsThemAtOnce sets the options of an Iteration on a Loop with items. Its
// variables have their initial values in each body.
func TestLoopOverItemsRunsThemAtOnce(t *testing.T) {
	loop := func(params string) string {
		return given("items", "0,1,2,3,4,5", sketch.Canvas(
			start("Loop:P"),
			cell("Loop:P", "Loop", `"items": "env.items", "outputs": {"all": {"ref": "StringTransform:T@result"}},
				"loop_variables": [{"variable": "v", "input_mode": "constant", "type": "string", "value": "v"}],
				`+params),
			inBody("Loop:P", cell("LoopItem:X", "LoopItem", "", "LLM:L")),
			inBody("Loop:P", asks("LLM:L", 1, "{LoopItem:X@item}", "StringTransform:T")),
			inBody("Loop:P", cell("StringTransform:T", "StringTransform",
				`"method": "merge", "script": "{Loop:P@v}{LoopItem:X@item}"`))))
	}
	for _, mode := range []engine.Scheduling{engine.Batch, engine.Eager} {
		synctest.Test(t, func(t *testing.T) {
			m := &slowModel{}
			opt := engine.Options{Scheduling: mode, Ports: engine.Ports{Model: m}}
			events, state, err := eagerRun(t, loop(`"concurrency": 3`), opt)
			require.NoError(t, err)
			require.Equal(t, 3, m.max)
			require.LessOrEqual(t, events[len(events)-1].at/2, 1.02)
			require.Equal(t, `["v0","v1","v2","v3","v4","v5"]`, output(t, state, "Loop:P", "all"))
			require.Equal(t, `"v"`, output(t, state, "Loop:P", "v"))
		})
		synctest.Test(t, func(t *testing.T) {
			opt := engine.Options{Scheduling: mode, Ports: engine.Ports{Model: failing}}
			_, state, err := eagerRun(t, loop(`"concurrency": 2, "on_error": "skip"`), opt)
			require.NoError(t, err)
			require.Equal(t, `["v0","v2","v4","v5"]`, output(t, state, "Loop:P", "all"))
		})
	}
}

// nested returns an Iteration of four elements around one of five.
func nested() string {
	inner := func(entry string) string { return inBody("Iteration:J", entry) }
	return given("items", "0,1,2,3", given("inner", "0,1,2,3,4", sketch.Canvas(
		start("Iteration:I"),
		cell("Iteration:I", "Iteration",
			`"items_ref": "env.items", "concurrency": 4, "outputs": {"all": {"ref": "Iteration:J@all"}}`),
		inBody("Iteration:I", cell("IterationItem:X", "IterationItem", "", "Iteration:J")),
		inBody("Iteration:I", cell("Iteration:J", "Iteration",
			`"items_ref": "env.inner", "concurrency": 5, "outputs": {"all": {"ref": "StringTransform:T@result"}}`)),
		inner(cell("IterationItem:Y", "IterationItem", "", "LLM:L")),
		inner(asks("LLM:L", 1, "{IterationItem:Y@item}", "StringTransform:T")),
		inner(cell("StringTransform:T", "StringTransform",
			`"method": "merge", "script": "{IterationItem:X@item}{IterationItem:Y@item}"`)))))
}

func TestNestedIterationsShareTheSlots(t *testing.T) {
	for _, slots := range []int{20, 5, 1} {
		synctest.Test(t, func(t *testing.T) {
			m := &slowModel{}
			opt := engine.Options{Concurrency: slots, Ports: engine.Ports{Model: m}}
			events, state, err := eagerRun(t, nested(), opt)
			require.NoError(t, err)
			require.LessOrEqual(t, events[len(events)-1].at/float64(20/slots), 1.02)
			require.LessOrEqual(t, m.max, slots)
			require.Equal(t, `[["00","01","02","03","04"],["10","11","12","13","14"],`+
				`["20","21","22","23","24"],["30","31","32","33","34"]]`, output(t, state, "Iteration:I", "all"))
			for _, e := range events {
				if e.event.Node == "LLM:L" {
					require.Equal(t, 2, e.event.Data().Get("index_path").Len())
				}
			}
		})
	}
}

// failing fails for elements 1 and 3.
var failing = modelFunc(func(ctx context.Context, req *engine.ModelRequest, yield func(engine.ModelPiece, error) bool) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		yield(engine.ModelPiece{}, ctx.Err())
		return
	}
	if strings.HasSuffix(req.System, " 1") || strings.HasSuffix(req.System, " 3") {
		yield(engine.ModelPiece{}, fmt.Errorf("refused"))
		return
	}
	yield(engine.ModelPiece{Text: "ok"}, nil)
})

func TestOnErrorOfIteration(t *testing.T) {
	for mode, want := range map[string]string{
		"skip": `["r0","r2","r4"]`,
		"collect": `["r0",{"index":1,"error":"node LLM:L (LLM): refused"},"r2",` +
			`{"index":3,"error":"node LLM:L (LLM): refused"},"r4"]`,
	} {
		for _, at := range []int{1, 5} {
			synctest.Test(t, func(t *testing.T) {
				params := fmt.Sprintf(`"concurrency": %d, "on_error": %q`, at, mode)
				_, state, err := eagerRun(t, iteration(5, params), engine.Options{Ports: engine.Ports{Model: failing}})
				require.NoError(t, err)
				require.Equal(t, want, output(t, state, "Iteration:I", "all"))
				if mode == "skip" {
					_, has := state.Output("Iteration:I", "errors")
					require.False(t, has)
					return
				}
				require.Equal(t, `[{"index":1,"error":"node LLM:L (LLM): refused"},`+
					`{"index":3,"error":"node LLM:L (LLM): refused"}]`, output(t, state, "Iteration:I", "errors"))
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		_, _, err := eagerRun(t, iteration(5, `"concurrency": 5`), engine.Options{Ports: engine.Ports{Model: failing}})
		require.ErrorContains(t, err, "refused")
	})
}

// counting counts the calls by their prompt.
type counting struct {
	mu    sync.Mutex
	calls map[string]int
}

func (c *counting) model() engine.Model {
	return modelFunc(func(_ context.Context, req *engine.ModelRequest, yield func(engine.ModelPiece, error) bool) {
		c.mu.Lock()
		c.calls[req.System]++
		c.mu.Unlock()
		yield(engine.ModelPiece{Text: "ok"}, nil)
	})
}

func TestFormPausesItsElementOnly(t *testing.T) {
	dsl := iteration(3, `"concurrency": 3`,
		inBody("Iteration:I", asks("LLM:L", 1, "{IterationItem:X@item}", "Switch:S")),
		inBody("Iteration:I", cell("Switch:S", "Switch", `"conditions": [
			{"logical_operator": "and", "to": ["UserFillUp:F"],
			"items": [{"cpn_id": "IterationItem:X@item", "operator": "<", "value": "2"}]}],
			"end_cpn_ids": ["StringTransform:T"]`)),
		inBody("Iteration:I", cell("UserFillUp:F", "UserFillUp",
			`"enable_tips": true, "tips": "for {IterationItem:X@item}", "inputs": {"f": {"name": "f", "type": "line"}}`,
			"StringTransform:T")),
		inBody("Iteration:I", cell("StringTransform:T", "StringTransform",
			`"method": "merge", "script": "{IterationItem:X@item}{UserFillUp:F@f}"`)))
	for _, mode := range []engine.Scheduling{engine.Batch, engine.Eager} {
		count := &counting{calls: map[string]int{}}
		canvas, err := engine.Load(builtins(t), []byte(dsl))
		require.NoError(t, err)
		state := canvas.State()
		opt := engine.Options{Scheduling: mode, Ports: engine.Ports{Model: count.model()}}
		var tips []string
		in := engine.Input{Query: engine.String("q")}
		for _, answer := range []string{"", "a", "b"} {
			if answer != "" {
				in = engine.Input{Inputs: engine.Object("f", engine.Object("value", answer))}
				canvas, err = engine.Load(builtins(t), canvas.Save(state))
				require.NoError(t, err)
				state = canvas.State()
			}
			for e, err := range canvas.Run(t.Context(), state, in, opt) {
				require.NoError(t, err)
				if e.Type == engine.EventUserInputs {
					tips = append(tips, e.Data().Get("tips").Str())
				}
			}
		}
		require.Equal(t, []string{"for 0", "for 1"}, tips)
		require.False(t, state.Paused())
		require.Equal(t, `["0a","1b","2"]`, output(t, state, "Iteration:I", "all"))
		require.Equal(t, map[string]int{"wait 1 0": 1, "wait 1 1": 1, "wait 1 2": 1}, count.calls)
	}
}

// A run that is taken over repeats only elements whose end is not in the log.
func TestTakeoverRepeatsUnfinishedElements(t *testing.T) {
	for _, mode := range []engine.Scheduling{engine.Batch, engine.Eager} {
		dsl := iteration(6, `"concurrency": 3`)
		for cut, ended := 1, false; !ended; cut++ {
			count := &counting{calls: map[string]int{}}
			canvas, err := engine.Load(builtins(t), []byte(dsl))
			require.NoError(t, err)
			opt := engine.Options{
				Scheduling: mode, Checkpoints: true, Internal: true, Ports: engine.Ports{Model: count.model()},
			}
			var log []*engine.Event
			ended = true
			for e, err := range canvas.Run(t.Context(), canvas.State(), engine.Input{Query: engine.String("q")}, opt) {
				require.NoError(t, err)
				if log = append(log, e.Clone()); len(log) == cut {
					ended = false
					break
				}
			}
			if ended || log[0].Type == engine.EventWorkflowStarted && len(log) == 1 {
				continue
			}
			done := map[string]bool{}
			for _, e := range log {
				if v := e.Data(); e.Type == engine.EventResult && !v.Get("item").IsNull() {
					done["wait 1 "+v.Get("item").Text()] = true
				}
			}
			state, err := canvas.StateAt(log, 0)
			require.NoError(t, err)
			if !state.Unfinished() {
				continue
			}
			count = &counting{calls: map[string]int{}}
			opt.Ports.Model = count.model()
			for _, err := range canvas.Continue(t.Context(), state, opt) {
				require.NoError(t, err)
			}
			require.Equal(t, `["r0","r1","r2","r3","r4","r5"]`, output(t, state, "Iteration:I", "all"))
			for prompt := range done {
				require.Zero(t, count.calls[prompt], "cut after entry %d: %s", cut, prompt)
			}
		}
	}
}
