package enginetest_test

import (
	"fmt"
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

// TestOrderMatters has canvases of which somebody can tell an eager run from one in batches, by
// messages, passages, requests to models or the conversation: their order is not proved.
func TestOrderMatters(t *testing.T) {
	const (
		merge  = ` StringTransform {"method":"merge","script":"x","delimiters":[","]} `
		search = ` Retrieval {"query":"{sys.query}","kb_ids":["ID"]} `
		form   = `UserFillUp:F UserFillUp {"inputs":{"f":{"name":"f","type":"line"}}} -> `
	)
	llm := func(id, prompt, down string) string {
		return "LLM:" + id + ` LLM {"llm_id":"m","cite":false,"prompts":[{"role":"user","content":"` +
			prompt + `"}]} ` + down
	}
	cites := func(line string) string { return strings.Replace(line, `"cite":false`, `"cite":true`, 1) }
	searches := func(id, dataset, down string) string {
		return "Retrieval:" + id + strings.Replace(search, "ID", dataset, 1) + down
	}
	says := func(id, text string) string { return "Message:" + id + ` Message {"content":["` + text + `"]}` }
	picks := func(id, ref, a, b string) string {
		return "Switch:" + id + ` Switch {"conditions":[{"items":[{"cpn_id":"` + ref + `","operator":"contains",` +
			`"value":"a"}],"to":["` + a + `"]}],"end_cpn_ids":["` + b + `"]}`
	}
	one, other := sameNumber()
	for name, lines := range map[string][]string{
		"a choice reads a node that does not lead to it": {
			"begin Begin -> Switch:S LLM:A", llm("A", "x", ""), picks("S", "LLM:A@content", "Message:M", "Message:N"),
			says("M", "m"), says("N", "n"),
		},
		"a value is read early": {
			"begin Begin -> VariableAggregator:V LLM:A", llm("A", "x", ""), says("M", "{VariableAggregator:V@g}"),
			`VariableAggregator:V VariableAggregator {"groups":[{"group_name":"g","variables":` +
				`[{"value":"LLM:A@content"}]}]} -> Message:M`,
		},
		"a search reads a node that does not lead to it": {
			"begin Begin -> Retrieval:R LLM:A", llm("A", "x", ""),
			`Retrieval:R Retrieval {"query":"{LLM:A@content}","kb_ids":["k"]} -> Message:M`,
			says("M", "{Retrieval:R@content}"),
		},
		"a model beside a form reads the question": {
			"begin Begin -> UserFillUp:F LLM:A", form + "Message:M", llm("A", "{sys.query}", "-> Message:M"),
			says("M", "{LLM:A@content} {UserFillUp:F@f}"),
		},
		"a model beside an approval that the settings require": {
			`@settings {"approval":["StringTransform:Y"]}`, "begin Begin -> StringTransform:Y LLM:A",
			"StringTransform:Y" + merge + "-> Message:M", llm("A", "{sys.query}", "-> Message:M"),
			says("M", "{LLM:A@content} {StringTransform:Y@result}"),
		},
		"a model that cites beside a search": {
			"begin Begin -> Retrieval:R LLM:A", searches("R", "k", "-> Message:M"), llm("A", "x", "-> LLM:B"),
			cites(llm("B", "x", "-> Message:M")), says("M", "{LLM:B@content} {Retrieval:R@content}"),
		},
		"a message beside a search": {
			"begin Begin -> Retrieval:R LLM:A", searches("R", "k", ""), llm("A", "x", "-> Message:M"),
			says("M", "{LLM:A@content}"),
		},
		"searches beside each other": {
			"begin Begin -> Retrieval:R Retrieval:T", searches("R", "r", "-> Message:M"),
			searches("T", "t", "-> Message:M"), says("M", "{Retrieval:R@content} {Retrieval:T@content} [ID:1]"),
		},
		"searches whose passages have one number": {
			"begin Begin -> Retrieval:R LLM:A", llm("A", "x", "-> Retrieval:T"), searches("R", one, "-> LLM:B"),
			llm("B", "x", "-> Message:M"), searches("T", other, "-> Message:M"),
			says("M", "{Retrieval:R@content} {Retrieval:T@content}"),
		},
		"messages that a node orders only if it runs": {
			"begin Begin -> Switch:S LLM:A LLM:B", picks("S", "sys.user_id", "StringTransform:R", "StringTransform:Z"),
			"StringTransform:Z" + merge, `StringTransform:R StringTransform {"method":"merge",` +
				`"script":"{Message:M@content}","delimiters":[","]}`,
			llm("A", "x", "-> Message:M"), llm("B", "x", "-> Message:N"),
			says("M", "m {LLM:A@content}"), says("N", "n {LLM:B@content} {StringTransform:R@result}"),
		},
		"files that are written beside a model": {
			"begin Begin -> StringTransform:Y LLM:A", llm("A", "x", "-> LLM:B"), llm("B", "x", "-> LLM:C"),
			llm("C", "x", "-> Message:M"), says("M", "{LLM:C@content}"), `StringTransform:Y StringTransform ` +
				`{"method":"split","split_ref":"sys.user_id","delimiters":[","]} -> VariableAssigner:V`,
			`VariableAssigner:V VariableAssigner {"variables":[{"variable":"sys.files","operator":"overwrite",` +
				`"parameter":"StringTransform:Y@result"}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dsl, differs := sketch.Bytes(lines...), false
			canvas, err := engine.Load(registry(t), dsl)
			require.NoError(t, err)
			require.Equal(t, engine.Batch, engine.OrderOf(canvas))
			for x := range timing(8) {
				batch := observe(t, dsl, nil, "b", x, engine.Batch)
				differs = differs || batch != observe(t, dsl, nil, "b", x, engine.Eager)
			}
			require.True(t, differs)
		})
	}
}

// sameNumber returns two ids of passages that have the same citation number.
func sameNumber() (a, b string) {
	seen := map[int]string{}
	for i := 0; ; i++ {
		b = fmt.Sprint("k", i)
		n := engine.CitationNumber(b)
		if a = seen[n]; a != "" {
			return a, b
		}
		seen[n] = b
	}
}
