package engine_test

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// slowModel answers each request after the seconds in its system text ("wait 3"). A streamed answer
// comes in as many pieces as seconds.
type slowModel struct {
	mu       sync.Mutex
	calls    map[string]int // by node
	now, max int            // calls at once
}

func (m *slowModel) enter(node string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls = map[string]int{}
	}
	m.calls[node]++
	m.now++
	m.max = max(m.max, m.now)
}

func (m *slowModel) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now--
}

func (m *slowModel) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) {
		m.enter(req.Node)
		defer m.leave()
		text, _, _ := strings.Cut(strings.TrimPrefix(req.System, "wait "), " ")
		seconds, _ := strconv.Atoi(text)
		for i := range seconds {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				yield(engine.ModelPiece{}, ctx.Err())
				return
			}
			if req.Stream && !yield(engine.ModelPiece{Text: fmt.Sprintf("%s%d ", req.Node, i+1)}, nil) {
				return
			}
		}
		if !req.Stream {
			yield(engine.ModelPiece{Text: req.Node + " done"}, nil)
		}
	}
}

// timed is an event with the seconds since the start.
type timed struct {
	at    float64
	event *engine.Event
}

// eagerRun runs a canvas of built-in components on a fake clock.
func eagerRun(t *testing.T, dsl string, opt engine.Options) ([]timed, *engine.State, error) {
	t.Helper()
	canvas, err := engine.Load(builtins(t), []byte(dsl))
	require.NoError(t, err)
	state := canvas.State()
	if opt.Scheduling == "" {
		opt.Scheduling = engine.Eager
	}
	begin := time.Now()
	var events []timed
	for e, err := range canvas.Run(t.Context(), state, engine.Input{Query: engine.String("q")}, opt) {
		if err != nil {
			return events, state, err
		}
		events = append(events, timed{time.Since(begin).Seconds(), e.Clone()})
	}
	return events, state, nil
}

// cell is the line of a node; params are members of its params.
func cell(id, kind, params string, down ...string) string {
	return fmt.Sprintf("%s %s {%s} -> %s", id, kind, params, strings.Join(down, " "))
}

func inBody(parent, line string) string { return line + " ^ " + parent }

func asks(id string, seconds int, read string, down ...string) string {
	return cell(id, "LLM", fmt.Sprintf(`"llm_id": "m", "sys_prompt": "wait %d %s"`, seconds, read), down...)
}

func message(id, text string, down ...string) string {
	return cell(id, "Message", fmt.Sprintf(`"content": [%q]`, text), down...)
}

func start(down ...string) string { return cell("begin", "Begin", "", down...) }

// Shapes of canvases whose duration depends on the scheduler: a run takes as long as its longest
// chain of calls.
var waitShapes = []struct {
	name     string
	dsl      string
	critical float64 // seconds of the longest chain
}{
	{
		"two branches and a join",
		sketch.Canvas(
			start("LLM:A", "LLM:B"), asks("LLM:A", 1, "", "LLM:C"), asks("LLM:B", 3, "", "LLM:D"),
			asks("LLM:C", 3, "{LLM:A@content}", "StringTransform:J"),
			asks("LLM:D", 1, "{LLM:B@content}", "StringTransform:J"),
			cell("StringTransform:J", "StringTransform",
				`"method": "merge", "script": "{LLM:C@content} {LLM:D@content}"`)),
		4,
	},
	{
		"diamond of five uneven branches",
		sketch.Canvas(
			start("LLM:1", "LLM:2", "LLM:3", "LLM:4", "LLM:5"),
			asks("LLM:1", 1, "", "LLM:J"), asks("LLM:2", 2, "", "LLM:J"),
			asks("LLM:3", 5, "", "LLM:J"), asks("LLM:4", 3, "", "LLM:J"), asks("LLM:5", 4, "", "LLM:J"),
			asks("LLM:J", 2, "{LLM:1@content} {LLM:2@content} {LLM:3@content} {LLM:4@content} {LLM:5@content}")),
		7,
	},
	{
		"two streaming branches with two messages",
		sketch.Canvas(
			start("LLM:A", "LLM:B"), asks("LLM:A", 3, "", "Message:A"), asks("LLM:B", 4, "", "Message:B"),
			message("Message:A", "{LLM:A@content}"), message("Message:B", "{LLM:B@content}")),
		4,
	},
	{
		"branch beside a message that is being streamed",
		sketch.Canvas(
			start("LLM:A", "LLM:B"), asks("LLM:A", 4, "", "Message:A"), message("Message:A", "{LLM:A@content}"),
			asks("LLM:B", 1, "", "LLM:C"), asks("LLM:C", 3, "{LLM:B@content}")),
		4,
	},
	{
		"reader of a text that is being streamed",
		sketch.Canvas(
			start("LLM:A", "LLM:B"), asks("LLM:A", 3, "", "Message:A", "Switch:S"),
			message("Message:A", "{LLM:A@content}"),
			cell("Switch:S", "Switch", `"conditions": [{"logical_operator": "and", "to": ["LLM:D"],
				"items": [{"cpn_id": "LLM:A@content", "operator": "contains", "value": "A3"}]}],
				"end_cpn_ids": ["LLM:D"]`),
			asks("LLM:D", 1, ""), asks("LLM:B", 2, "", "LLM:C"), asks("LLM:C", 2, "{LLM:B@content}")),
		4,
	},
}

func TestEagerRunTakesItsCriticalPath(t *testing.T) {
	for _, shape := range waitShapes {
		t.Run(shape.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				events, _, err := eagerRun(t, shape.dsl, engine.Options{Ports: engine.Ports{Model: &slowModel{}}})
				require.NoError(t, err)
				require.LessOrEqual(t, events[len(events)-1].at/shape.critical, 1.02)
			})
		})
	}
}

// In batches the same canvases take longer, so the test measures the gain of the scheduler.
func TestBatchesWaitForTheirSlowestMember(t *testing.T) {
	for _, shape := range waitShapes[:4] {
		synctest.Test(t, func(t *testing.T) {
			opt := engine.Options{Scheduling: engine.Batch, Ports: engine.Ports{Model: &slowModel{}}}
			events, _, err := eagerRun(t, shape.dsl, opt)
			require.NoError(t, err)
			if shape.name != "diamond of five uneven branches" {
				require.Greater(t, events[len(events)-1].at, shape.critical, shape.name)
			}
		})
	}
}

func TestEventsOfOverlappingNodesHaveTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events, _, err := eagerRun(t, waitShapes[2].dsl, engine.Options{Ports: engine.Ports{Model: &slowModel{}}})
		require.NoError(t, err)
		elapsed := map[string]float64{}
		for _, e := range events {
			if e.event.Type == engine.EventNodeFinished {
				elapsed[e.event.Node], _ = e.event.Data().Get("elapsed_time").Float()
			}
		}
		require.InDelta(t, 3, elapsed["LLM:A"], 0.01)
		require.InDelta(t, 4, elapsed["LLM:B"], 0.01)
	})
}

func TestFirstTokenComesAsEarlyAsTheModelGivesIt(t *testing.T) {
	dsl := sketch.Canvas(
		start("LLM:A", "LLM:P"), asks("LLM:A", 3, "", "Message:A"), message("Message:A", "{LLM:A@content}"),
		asks("LLM:P", 1, "", "LLM:B"), asks("LLM:B", 4, "{LLM:P@content}", "Message:B"),
		message("Message:B", "{LLM:B@content}"))
	synctest.Test(t, func(t *testing.T) {
		events, _, err := eagerRun(t, dsl, engine.Options{Ports: engine.Ports{Model: &slowModel{}}})
		require.NoError(t, err)
		var said []string
		second, first, last := "", 0.0, 0.0
		for _, e := range events {
			if e.event.Type != engine.EventMessage {
				continue
			}
			text := e.event.Facts.Message.Text
			if strings.Contains(text, "A") {
				said = append(said, fmt.Sprintf("%v %s", e.at, text))
				continue
			}
			if second == "" {
				first = e.at
			}
			second, last = second+text, e.at
		}
		require.Equal(t, []string{"1 LLM:A1 ", "2 LLM:A2 ", "3 LLM:A3 "}, said)
		require.Equal(t, "LLM:B1 LLM:B2 LLM:B3 LLM:B4 ", second)
		require.InDelta(t, 3, first, 0.01)
		require.InDelta(t, 5, last, 0.01)
	})
}

func TestSlotsBoundNodesAndStreams(t *testing.T) {
	for _, shape := range waitShapes {
		t.Run(shape.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &slowModel{}
				_, _, err := eagerRun(t, shape.dsl, engine.Options{Concurrency: 1, Ports: engine.Ports{Model: m}})
				require.NoError(t, err)
				require.Equal(t, 1, m.max)
				for node, calls := range m.calls {
					require.Equal(t, 1, calls, node)
				}
			})
		})
	}
}

func TestFailureEndsWhatRunsBesideIt(t *testing.T) {
	dsl := sketch.Canvas(
		start("LLM:A", "LLM:B", "Invoke:X"), asks("LLM:A", 9, "", "Message:A"), message("Message:A", "{LLM:A@content}"),
		asks("LLM:B", 9, ""), cell("Invoke:X", "Invoke", `"url": "http://x", "method": "get"`))
	synctest.Test(t, func(t *testing.T) {
		events, _, err := eagerRun(t, dsl, engine.Options{Ports: engine.Ports{Model: &slowModel{}}})
		require.ErrorContains(t, err, "Invoke:X")
		require.Less(t, events[len(events)-1].at, 1.0)
		open := map[string]int{}
		for _, e := range events {
			switch e.event.Type {
			case engine.EventNodeStarted:
				open[e.event.Node]++
			case engine.EventNodeFinished:
				open[e.event.Node]--
			}
		}
		for node, n := range open {
			require.Zero(t, n, node)
		}
	})
}

func TestCancelEndsEarlyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opt := engine.Options{
			Ports:       engine.Ports{Model: &slowModel{}},
			CancelAfter: &engine.CancelAfter{Event: engine.EventMessage, Nth: 2},
		}
		events, _, err := eagerRun(t, waitShapes[2].dsl, opt)
		require.ErrorIs(t, err, engine.ErrCanceled)
		require.InDelta(t, 2, events[len(events)-1].at, 0.1)
		require.Equal(t, engine.EventWorkflowFinished, events[len(events)-1].event.Type)
	})
}

// An unread text is held back when its buffer is full, and is complete in the end.
func TestUnreadTextIsHeldBack(t *testing.T) {
	long := strings.Repeat("x", 16<<10)
	var mu sync.Mutex
	given := 0
	m := modelFunc(func(ctx context.Context, req *engine.ModelRequest, yield func(engine.ModelPiece, error) bool) {
		if req.Node == "LLM:A" {
			time.Sleep(time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if given > 10 {
				panic(fmt.Sprintf("%d pieces are waiting", given))
			}
			yield(engine.ModelPiece{Text: "a"}, nil)
			return
		}
		for range 20 {
			mu.Lock()
			given++
			mu.Unlock()
			if !yield(engine.ModelPiece{Text: long}, nil) {
				return
			}
		}
	})
	dsl := sketch.Canvas(
		start("LLM:B", "LLM:A"), asks("LLM:A", 0, "", "Message:M"), asks("LLM:B", 0, "", "Message:M"),
		message("Message:M", "{LLM:A@content}{LLM:B@content}"))
	for _, slots := range []int{1, 5} {
		given = 0
		synctest.Test(t, func(t *testing.T) {
			_, state, err := eagerRun(t, dsl, engine.Options{Concurrency: slots, Ports: engine.Ports{Model: m}})
			require.NoError(t, err)
			content, _ := state.Output("Message:M", "content")
			require.Len(t, content.Str(), 1+20*len(long))
		})
	}
}

type modelFunc func(ctx context.Context, req *engine.ModelRequest, yield func(engine.ModelPiece, error) bool)

func (f modelFunc) Generate(ctx context.Context, req *engine.ModelRequest) iter.Seq2[engine.ModelPiece, error] {
	return func(yield func(engine.ModelPiece, error) bool) { f(ctx, req, yield) }
}

// Branches of an eager run wait for models and not for a number of slots; batches run 5 nodes at
// once, as in the original.
func TestEagerRunsAllBranches(t *testing.T) {
	const branches = 100
	lines := []string{"begin Begin"}
	for i := range branches {
		lines[0] += fmt.Sprintf(" -> LLM:L%d", i)
		lines = append(lines, fmt.Sprintf(`LLM:L%d LLM {"llm_id":"m","sys_prompt":"wait 1"}`, i))
	}
	dsl := sketch.Canvas(lines...)
	for _, tt := range []struct {
		mode    engine.Scheduling
		atOnce  int
		seconds float64
	}{{engine.Eager, branches, 1.3}, {engine.Batch, 5, 20}} {
		synctest.Test(t, func(t *testing.T) {
			m, began := &slowModel{}, time.Now()
			c, err := engine.Load(builtins(t), []byte(dsl))
			require.NoError(t, err)
			opt := engine.Options{Scheduling: tt.mode, Ports: engine.Ports{Model: m}}
			for _, err := range c.Run(t.Context(), c.State(), engine.Input{Query: engine.String("q")}, opt) {
				require.NoError(t, err)
			}
			require.Equal(t, tt.atOnce, m.max, tt.mode)
			require.LessOrEqual(t, time.Since(began).Seconds(), tt.seconds, tt.mode)
		})
	}
}
