package enginetest_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// orderDependent reports whether validation reports that the result of an eager run of a canvas
// depends on the order in which nodes end.
func orderDependent(reg *engine.Registry, c *enginetest.Case) bool {
	dsl := c.DSL.With("settings", engine.Object("scheduling", "eager"))
	for _, d := range engine.Validate(reg, dsl.AppendJSON(nil)) {
		if d.Code == engine.CodeOrderDependent {
			return true
		}
	}
	return false
}

// eagerSeeds returns the number of random canvases to compare: a few, or that of EASEL_SOAK.
func eagerSeeds(t *testing.T, usual uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv("EASEL_SOAK"), 10, 64); err == nil {
		return n
	}
	if testing.Short() {
		return usual / 5
	}
	return usual
}

// left returns the final state of a run, without the numbers of its events and executions.
func left(t *testing.T, observed engine.Value) []string {
	t.Helper()
	var list []string
	for _, r := range observed.Get("runs").Elements() {
		require.True(t, r.Get("load_error").IsNull(), "%s", r.Get("load_error"))
		after := r.Get("dsl_after")
		run := engine.NewObject(8)
		for name, v := range after.Get("run").Fields() {
			switch name {
			case "seq", "step", "steps", "streams", "held", "usage", "eager":
			default:
				run.Set(name, v)
			}
		}
		if !after.Get("run").IsNull() {
			after = after.With("run", run.Value())
		}
		list = append(list, "error: "+r.Get("error").Text(), after.JSON())
	}
	return list
}

// fails reports whether a run ended with an error. Other active nodes are cut short then in an
// eager run.
func fails(observed engine.Value) bool {
	for _, r := range observed.Get("runs").Elements() {
		if !r.Get("error").IsNull() {
			return true
		}
	}
	return false
}

// registry2 has the tool that the player adds.
func registry2(t *testing.T, reg *engine.Registry) *engine.Registry {
	t.Helper()
	own := reg.Clone()
	if _, err := own.Lookup("EchoTool"); err != nil {
		require.NoError(t, own.Add(enginetest.EchoToolSpec()))
	}
	return own
}

// events returns the events of a case without an order, because an eager run has none for what runs
// side by side.
func events(t *testing.T, observed engine.Value) []string {
	t.Helper()
	var list []string
	for _, r := range observed.Get("runs").Elements() {
		from := len(list)
		text := ""
		for _, e := range r.Get("events").Elements() {
			if e.Get("event").Str() == "message" {
				text += e.Get("data").Get("content").Text()
				continue
			}
			list = append(list, e.JSON())
		}
		said := strings.Split(text, "")
		slices.Sort(said)
		list = append(list, strings.Join(said, ""))
		slices.Sort(list[from:])
	}
	return list
}

// TestEagerContinuesAfterEachEntry stops eager runs after each entry of their logs, as a crash
// would, and continues them with new engine objects.
func TestEagerContinuesAfterEachEntry(t *testing.T) {
	reg, cut := registry(t), 0
	defer func() { t.Logf("%d cuts", cut) }()
	for seed := range eagerSeeds(t, 12) {
		c := randomCase(seed)
		if seed%2 == 1 {
			c = (&drawer{even: true}).draw(seed)
		}
		if orderDependent(registry2(t, reg), c) {
			continue
		}
		never := func(*engine.Event) bool { return false }
		order := engine.Eager
		if canvas, err := engine.Load(registry2(t, reg), c.DSL.AppendJSON(nil)); err == nil &&
			engine.OrderOf(canvas) == engine.Eager {
			order = engine.Auto
		}
		play := func(cut enginetest.Cut) engine.Value {
			player := &enginetest.Player{Registry: reg, MaxSteps: 200, Cut: cut, Scheduling: order}
			observed, err := player.Play(t.Context(), c)
			require.NoError(t, err, "seed %d\n%s", seed, c.DSL)
			return observed
		}
		entries := 0
		want := play(func(*engine.Event) bool { entries++; return never(nil) })
		if fails(want) {
			continue
		}
		for n := range entries + 1 { // the last one is after each checkpoint
			at := enginetest.AfterEntry(n + 1)
			if n == entries {
				at = enginetest.AtCheckpoints
			}
			got := play(at)
			what := fmt.Sprintf("seed %d, cut after entry %d", seed, n+1)
			requireSame(t, c, left(t, want), left(t, got), what)
			requireSame(t, c, events(t, want), events(t, got), what)
			cut++
		}
	}
}

// A text that a model has read is complete for the message after it, whose readers do not see its
// reasoning: also when the answer of that model is taken from the log.
func TestRunsContinueWithTextsThatWereRead(t *testing.T) {
	reply := enginetest.ChunksReply("so ", "<think>", "hm", "</think>", "be it")
	dsl, err := engine.ParseJSON(sketch.Bytes(
		"begin Begin -> LLM:A",
		`LLM:A LLM {"llm_id":"m","prompts":[{"role":"user","content":"x"}]} -> EchoTool:T LLM:B Message:M`,
		`EchoTool:T EchoTool {"query":"sys.query","default_reply":"echo","sleep_ms":5}`,
		`LLM:B LLM {"llm_id":"m","prompts":[{"role":"user","content":"{LLM:A@content}"}]}`,
		`Message:M Message {"content":["{LLM:B@content} {LLM:A@content}"]}`,
	))
	require.NoError(t, err)
	run := enginetest.Run{Kwargs: engine.Object("query", "a", "user_id", "u"), Fallback: &reply}
	c := &enginetest.Case{Name: "read", DSL: dsl, Runs: []enginetest.Run{run}}
	for _, order := range []engine.Scheduling{engine.Batch, engine.Eager} {
		entries := 0
		play := func(cut enginetest.Cut) (texts string) {
			player := &enginetest.Player{Registry: registry(t), Cut: cut, Scheduling: order}
			observed, err := player.Play(t.Context(), c)
			require.NoError(t, err)
			for _, e := range observed.Get("runs").At(0).Get("events").Elements() {
				if e.Get("event").Str() == string(engine.EventMessage) {
					texts += e.Get("data").Get("content").Text()
				}
			}
			return texts
		}
		want := play(func(*engine.Event) bool { entries++; return false })
		for n := range entries {
			require.Equal(t, want, play(enginetest.AfterEntry(n+1)), "%s, cut after entry %d", order, n+1)
		}
	}
}
