package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// record runs a canvas with checkpoints and keeps the whole log.
func record(t *testing.T, c *engine.Canvas, st *engine.State, in engine.Input, opt engine.Options) (log []*engine.Event,
	err error,
) {
	t.Helper()
	opt.Checkpoints = true
	for e, fail := range c.Run(t.Context(), st, in, opt) {
		if fail != nil {
			return log, fail
		}
		log = append(log, e.Clone())
	}
	return log, nil
}

// told returns the wire events of a log, one per line.
func told(log []*engine.Event) (lines []string) {
	for _, e := range log {
		if e.Type.Wire() {
			lines = append(lines, line(e))
		}
	}
	return lines
}

func TestContinueFromEveryCheckpoint(t *testing.T) {
	lines := []string{
		`begin Begin -> it w`, `w Text {"script":"W"} -> x`, `x Text {"script":"{w@result}X"} -> q`,
		`it Each {"items_ref":"sys.query"} -> q`,
		`ii Item -> s ^ it`, `s Slow {"script":"{ii@item}"} ^ it`,
		`q Ask {"prompt":"{x@result}{s@result}"} -> m`, `m Tell {"content":"{q@content}/{x@result}/{s@result}"}`,
	}
	in := engine.Input{Query: engine.Strings("a", "b", "c")}
	opt := model("yes ", "indeed")
	opt.Seed = 7
	c := load(t, lines...)
	whole, err := record(t, c, c.State(), in, opt)
	require.NoError(t, err)
	cuts := 0
	for i, e := range whole {
		if e.Type != engine.EventCheckpoint {
			continue
		}
		cuts++
		again, err := engine.Load(toys(t), sketch.Bytes(lines...)) // another process
		require.NoError(t, err)
		st, err := again.StateAt(whole[:i+1], 0)
		require.NoError(t, err)
		require.True(t, st.Unfinished())
		log := append([]*engine.Event(nil), whole[:i+1]...)
		for e, err := range again.Continue(t.Context(), st, opt) {
			require.NoError(t, err)
			log = append(log, e.Clone())
		}
		require.Equal(t, told(whole), told(log), "cut after entry %d", e.Seq)
		require.Equal(t, whole[i].Seq+1, log[i+1].Seq, "numbers are consecutive")
	}
	require.Greater(t, cuts, 8)
}

func TestSaveInTheMiddle(t *testing.T) {
	lines := []string{
		`begin Begin -> a`, `a Text {"script":"A"} -> b`, `b Text {"script":"{a@result}B"} -> m`,
		`m Say {"content":"{b@result}"}`,
	}
	c := load(t, lines...)
	st := c.State()
	var saved []byte
	for e, err := range c.Run(t.Context(), st, engine.Input{}, engine.Options{Checkpoints: true}) {
		require.NoError(t, err)
		if e.Type == engine.EventCheckpoint && len(st.Path()) == 2 {
			saved = c.Save(st)
			break
		}
	}
	again, err := engine.Load(toys(t), saved)
	require.NoError(t, err)
	st = again.State()
	require.True(t, st.Unfinished())
	var log []*engine.Event
	for e, err := range again.Continue(t.Context(), st, engine.Options{}) {
		require.NoError(t, err)
		log = append(log, e.Clone())
	}
	require.Equal(t, `+b -b +m msg_AB msg_end -m end_{"content":"AB"}`, flat(told(log)))
	require.Equal(t, []string{"begin", "a", "b", "m"}, st.Path())
}

func TestResultsOfAnUnsettledBatchAreNotRepeated(t *testing.T) {
	var calls atomic.Int32
	var crash atomic.Bool
	crash.Store(true)
	reg := toys(t)
	require.NoError(t, reg.Add(engine.Spec{Name: "Pay", New: func() engine.Component {
		return worker(func(_ context.Context, call *engine.Call) error {
			calls.Add(1)
			call.Out("result", engine.String("paid"))
			return nil
		})
	}}))
	require.NoError(t, reg.Add(engine.Spec{Name: "Crash", New: func() engine.Component {
		return worker(func(ctx context.Context, call *engine.Call) error {
			if crash.Load() {
				<-ctx.Done()
				return ctx.Err()
			}
			call.Out("result", engine.String("done"))
			return nil
		})
	}}))
	doc := sketch.Bytes("begin Begin -> p k", "p Pay -> m", "k Crash -> m", `m Say {"content":"{p@result} {k@result}"}`)
	c, err := engine.Load(reg, doc)
	require.NoError(t, err)
	var log []*engine.Event
	for e, err := range c.Run(t.Context(), c.State(), engine.Input{}, engine.Options{Checkpoints: true}) {
		require.NoError(t, err)
		log = append(log, e.Clone())
		if e.Type == engine.EventResult {
			break // the process dies with one member of the batch done
		}
	}
	crash.Store(false)
	st, err := c.StateAt(log, 0)
	require.NoError(t, err)
	var rest []*engine.Event
	for e, err := range c.Continue(t.Context(), st, engine.Options{}) {
		require.NoError(t, err)
		rest = append(rest, e.Clone())
	}
	require.Equal(t, `+p +k -p -k +m msg_paid_done msg_end -m end_{"content":"paid_done"}`, flat(told(rest)))
	require.EqualValues(t, 1, calls.Load(), "what had an effect outside is not done again")
}

type worker func(context.Context, *engine.Call) error

func (w worker) Run(ctx context.Context, call *engine.Call) error { return w(ctx, call) }

func TestRerunWithEditedValues(t *testing.T) {
	c := load(t, `begin Begin -> a`, `a Text {"script":"A"} -> b`, `b Text {"script":"{a@result}B"} -> m`,
		`m Say {"content":"{b@result}"}`)
	log, err := record(t, c, c.State(), engine.Input{}, engine.Options{})
	require.NoError(t, err)
	var afterA uint64
	for _, e := range log {
		if e.Type == engine.EventNodeFinished && e.Node == "a" {
			afterA = e.Seq + 1 // its checkpoint
		}
	}
	st, err := c.StateAt(log, afterA)
	require.NoError(t, err)
	require.NoError(t, st.SetOutput("a", "result", engine.String("edited")))
	var rerun []*engine.Event
	for e, err := range c.Continue(t.Context(), st, engine.Options{Rerun: true}) {
		require.NoError(t, err)
		rerun = append(rerun, e.Clone())
	}
	require.Equal(t, `+b -b +m msg_editedB msg_end -m end_{"content":"editedB"}`, flat(told(rerun)))
	require.NotEqual(t, log[0].Value().Get("message_id").Str(), rerun[0].Value().Get("message_id").Str())
	require.EqualValues(t, 1, rerun[0].Seq)
}

func TestForeignStatesAreRefused(t *testing.T) {
	c := load(t, `begin Begin`)
	other := load(t, `begin Begin`)
	for e, err := range c.Run(t.Context(), other.State(), engine.Input{}, engine.Options{}) {
		require.Nil(t, e)
		require.ErrorIs(t, err, engine.ErrState)
	}
	for _, err := range c.Continue(t.Context(), c.State(), engine.Options{}) {
		require.ErrorIs(t, err, engine.ErrState)
	}
	_, err := c.StateAt(nil, 0)
	require.ErrorIs(t, err, engine.ErrState)
	_, err = c.Restore([]byte(`{"components":{},"run":{"next":["gone"]}}`))
	require.ErrorIs(t, err, engine.ErrState)
}

func TestMemoryStaysFlatWhileStreaming(t *testing.T) {
	deltas := make([]string, 100_000)
	for i := range deltas {
		deltas[i] = "word "
	}
	c := load(t, `begin Begin -> q`, `q Ask {"prompt":"x"} -> m`, `m Tell {"content":"{q@content}"}`)
	st := c.State()
	before := liveHeap()
	peak := uint64(0)
	n := 0
	for e, err := range c.Run(t.Context(), st, engine.Input{}, model(deltas...)) {
		require.NoError(t, err)
		if e.Type == engine.EventMessage {
			if n++; n == len(deltas) {
				peak = liveHeap()
			}
		}
	}
	require.Equal(t, len(deltas), n)
	require.Less(t, int64(peak)-int64(before), int64(1<<20))
}

func TestLargeCanvas(t *testing.T) {
	const n = 50_000
	dsl := sketch.Bytes(chain(n)...)
	require.Empty(t, engine.Validate(builtins(t), dsl))
	c, err := engine.Load(builtins(t), dsl)
	require.NoError(t, err)
	st := c.State()
	for e, err := range c.Run(t.Context(), st, engine.Input{}, engine.Options{}) {
		require.NoError(t, err, "after %v", e)
	}
	require.Len(t, st.Path(), n+1)
}

func TestLargeValue(t *testing.T) {
	big := strings.Repeat("x", 100<<20)
	c := load(t, `begin Begin -> a`, `a Text {"script":"<{sys.query}>"}`)
	st := c.State()
	limits := engine.Limits{Text: -1, Output: -1, State: -1, Event: -1, Events: -1}
	for _, err := range c.Run(t.Context(), st, engine.Input{Query: engine.String(big)},
		engine.Options{Limits: limits}) {
		require.NoError(t, err)
	}
	v, _ := st.Output("a", "result")
	require.Len(t, v.Str(), len(big)+2)
	again, err := engine.Load(toys(t), c.Save(st))
	require.NoError(t, err)
	v, _ = again.State().Output("a", "result")
	require.Len(t, v.Str(), len(big)+2, "what was saved stays readable")
}
