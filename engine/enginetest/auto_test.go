package enginetest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// TestAutoShowsNoDifference runs random canvases whose order is proved to be of no effect, in
// batches and eagerly, with several durations: results and messages are equal, and tools start in
// the same order.
func TestAutoShowsNoDifference(t *testing.T) {
	reg := registry2(t, registry(t))
	proved, all := 0, uint64(0)
	for seed := range eagerSeeds(t, 400) {
		c := timedCase(seed)
		canvas, err := engine.Load(reg, c.DSL.AppendJSON(nil))
		require.NoError(t, err)
		all++
		if engine.OrderOf(canvas) != engine.Eager {
			continue
		}
		proved++
		for _, query := range queries {
			for x := range timing(timings) {
				want := conclude(t, reg, c, query, x, engine.Batch)
				if want.err != "" {
					continue // what else was under way is cut short in an eager run
				}
				got := conclude(t, reg, c, query, x, engine.Auto)
				require.Equal(t, want, got, "seed %d, query %s, timing %d\n%s", seed, query, x, c.DSL)
			}
		}
	}
	t.Logf("%d of %d proved", proved, all)
	require.Positive(t, proved)
}

func TestOrderOf(t *testing.T) {
	const sorts = `Categorize:C Categorize {"llm_id":"m","category_description":` +
		`{"a":{"to":["LLM:A"]},"b":{"to":["LLM:B"]}}} -> LLM:A LLM:B`
	llm := func(id, down string) string {
		return "LLM:" + id + ` LLM {"llm_id":"m","prompts":[{"role":"user","content":"{sys.query}"}]} -> ` + down
	}
	says := func(id string) string { return "Message:" + id + ` Message {"content":["` + id + `"]}` }
	for _, c := range []struct {
		name  string
		order engine.Scheduling
		lines []string
	}{
		{"a chain", engine.Eager, []string{"begin Begin -> LLM:A", llm("A", "Message:M"), says("M")}},
		{"models beside each other, one message", engine.Eager, []string{
			"begin Begin -> LLM:A LLM:B", llm("A", "Message:M"), llm("B", "Message:M"),
			`Message:M Message {"content":["{LLM:A@content} {LLM:B@content}"]}`,
		}},
		{"messages beside each other", engine.Batch, []string{
			"begin Begin -> LLM:A LLM:B", llm("A", "Message:M"), llm("B", "Message:N"), says("M"), says("N"),
		}},
		{"messages of which a run says one", engine.Eager, []string{
			"begin Begin -> Categorize:C", sorts, llm("A", "Message:M"), llm("B", "Message:N"), says("M"), says("N"),
		}},
		{"messages of one choice", engine.Batch, []string{
			"begin Begin -> Categorize:C",
			strings.Replace(sorts, `["LLM:A"]`, `["LLM:A","LLM:B"]`, 1),
			llm("A", "Message:M"), llm("B", "Message:N"), says("M"), says("N"),
		}},
		{"a message of a choice, and one that the run says in any case", engine.Batch, []string{
			"begin Begin -> Categorize:C LLM:B", sorts,
			llm("A", "Message:M"), llm("B", "Message:N"), says("M"), says("N"),
		}},
		{"a message of a choice, and one after an error", engine.Batch, []string{
			"begin Begin -> Categorize:C",
			`Categorize:C Categorize {"llm_id":"m","category_description":{"a":{"to":["LLM:A","Message:N"]}},` +
				`"exception_method":"goto","exception_goto":["Message:N"]} -> LLM:A`,
			llm("A", "Message:M"), says("M"), says("N"),
		}},
		{"a message of two choices", engine.Batch, []string{
			"begin Begin -> Categorize:C",
			`Categorize:C Categorize {"llm_id":"m","category_description":` +
				`{"a":{"to":["LLM:A","LLM:B"]},"b":{"to":["LLM:B"]}}} -> LLM:A LLM:B`,
			llm("A", "Message:M"), llm("B", "Message:N"), says("M"), says("N"),
		}},
		{"a request beside a message", engine.Batch, []string{
			"begin Begin -> Invoke:I LLM:A", `Invoke:I Invoke {"url":"http://x.test","method":"POST"}`,
			llm("A", "Message:M"), says("M"),
		}},
		{"a form beside a message", engine.Batch, []string{
			"begin Begin -> UserFillUp:F LLM:A", "UserFillUp:F UserFillUp", llm("A", "Message:M"), says("M"),
		}},
		{"a written variable beside its reader", engine.Batch, []string{
			"=env.n 1", "begin Begin -> VariableAssigner:V LLM:A",
			`VariableAssigner:V VariableAssigner {"variables":[{"variable":"env.n","operator":"+=","parameter":1}]}`,
			`LLM:A LLM {"llm_id":"m","prompts":[{"role":"user","content":"{env.n}"}]} -> Message:M`, says("M"),
		}},
		{"what the canvas asks for", engine.Batch, []string{
			`@settings {"scheduling":"batch"}`, "begin Begin -> Message:M", says("M"),
		}},
		{"what the canvas asks for against the proof", engine.Eager, []string{
			`@settings {"scheduling":"eager"}`, "begin Begin -> Message:M Message:N", says("M"), says("N"),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			canvas, err := engine.Load(registry(t), sketch.Bytes(c.lines...))
			require.NoError(t, err)
			require.Equal(t, c.order, engine.OrderOf(canvas))
		})
	}
}
