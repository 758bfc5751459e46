package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// unequalHalves are params of real canvases whose components differ from their own graph, since
// one of the two was edited by hand.
var unequalHalves = []string{
	"advanced_ingestion_pipeline Extractor:CuteBusesBet prompts", // the components name another node
	"later_compiler TokenChunker:LovelyPillowsOpen delimiters",   // the form has a line feed
	"customer_review_analysis begin inputs",                      // a value was removed from the graph
	// The graph is newer.
	"later_data_analysis_beginner_assistant Agent:SillyStatesRun sys_prompt",
}

// TestCanvasesFromTheirGraph removes the components of every real canvas and makes them again.
func TestCanvasesFromTheirGraph(t *testing.T) {
	reg := builtins(t)
	eachCanvas(t, func(t *testing.T, name string, data []byte) {
		stored, err := engine.Load(reg, data)
		require.NoError(t, err)
		doc := stored.Document()
		if doc.Get("graph").Get("nodes").Len() == 0 {
			t.Skip("the file has no graph")
		}
		drawn, err := engine.LoadValue(reg, doc.Without("components"))
		require.NoError(t, err)
		for _, d := range halves(reg, doc, drawn.Document()) {
			if param, _, _ := strings.Cut(d, ":: "); !slices.Contains(unequalHalves, name+" "+param) {
				t.Error(d)
			}
		}
	})
}

// halves lists the differences between the components of two documents, after defaults.
func halves(reg *engine.Registry, stored, drawn engine.Value) (out []string) {
	a, b := stored.Get("components"), drawn.Get("components")
	for id := range b.Fields() {
		if _, ok := a.Lookup(id); !ok {
			out = append(out, id+":: is only drawn")
		}
	}
	for id, x := range a.Fields() {
		y, ok := b.Lookup(id)
		if !ok {
			out = append(out, id+":: is not drawn")
			continue
		}
		differ := func(what string, v, w engine.Value) {
			if !engine.Equal(v, w) {
				out = append(out, fmt.Sprintf("%s %s:: stored %.300s, drawn %.300s", id, what, v.JSON(), w.JSON()))
			}
		}
		kind := x.Get("obj").Get("component_name")
		differ("component_name", kind, y.Get("obj").Get("component_name"))
		differ("parent_id", x.Get("parent_id"), y.Get("parent_id"))
		differ("downstream", sorted(x.Get("downstream")), sorted(y.Get("downstream")))
		params, drawnParams := x.Get("obj").Get("params"), y.Get("obj").Get("params")
		if setups := drawnParams.Get("setups"); setups.Truthy() && !params.Get("setups").Truthy() {
			for kind, setup := range setups.Fields() { // the newest editor stores each as a param
				differ(kind, settled(params.Get(kind), engine.Null), settled(setup, engine.Null))
			}
			continue
		}
		spec, err := reg.Lookup(kind.Str())
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		for param, schema := range spec.Schema().Get("properties").Fields() {
			differ(param, settled(params.Get(param), schema), settled(drawnParams.Get(param), schema))
		}
	}
	return out
}

// settled returns the value that a component sees of a param: without a value its default. Ids of
// tools, which name nothing, positions and lists of extensions are left out.
func settled(v, schema engine.Value) engine.Value {
	if !v.Truthy() {
		v = schema.Get("default")
	}
	if !v.Truthy() {
		return engine.Null
	}
	return withoutNames(v)
}

func withoutNames(v engine.Value) engine.Value {
	switch v.Kind() {
	case engine.KindObject:
		out := engine.NewObject(v.Len())
		for k, e := range v.Fields() {
			if e.Truthy() && !slices.Contains([]string{"id", "index", "order_index", "suffix"}, k) {
				out.Set(k, withoutNames(e))
			}
		}
		return out.Value()
	case engine.KindList:
		var list []engine.Value
		for _, e := range v.Elements() {
			list = append(list, withoutNames(e))
		}
		return engine.List(list...)
	}
	return v
}

func sorted(list engine.Value) engine.Value {
	var ids []string
	for _, id := range list.Elements() {
		ids = append(ids, id.Str())
	}
	slices.Sort(ids)
	return engine.Strings(slices.Compact(ids)...)
}

// drawnFixture is a document with a graph and the components that it draws.
func drawnFixture(t testing.TB, name string) (file engine.Value) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/drawings", name))
	require.NoError(t, err)
	file, err = engine.ParseJSON(data)
	require.NoError(t, err)
	return file
}

func TestComponentsOfAGraph(t *testing.T) {
	reg := builtins(t)
	for _, name := range []string{"canvas.json", "pipeline.json"} {
		t.Run(name, func(t *testing.T) {
			file := drawnFixture(t, name)
			doc, err := engine.Complete(reg, file.Get("drawn"))
			require.NoError(t, err)
			require.JSONEq(t, file.Get("components").JSON(), doc.Get("components").JSON())
			if want := file.Get("globals"); !want.IsNull() {
				require.JSONEq(t, want.JSON(), doc.Get("globals").JSON())
			}
			again, err := engine.Complete(reg, doc)
			require.NoError(t, err)
			require.Equal(t, doc.JSON(), again.JSON(), "a document with components stays as it is")
			require.NotContains(t, problemLines(engine.Validate(reg, []byte(file.Get("drawn").JSON()))), "error:")
		})
	}
}

// Files of the editor's export button answer as any canvas does, whatever they are wrapped in.
func TestExportsOfTheEditorRun(t *testing.T) {
	reg := builtins(t)
	for _, name := range []string{"export_020_nodes_edges.json", "export_024_graph_only.json"} {
		file := drawnFixture(t, name)
		for wrapping, doc := range map[string]engine.Value{
			"bare": file, "template": engine.Object("title", "x", "dsl", file),
			"text":             engine.Object("dsl", file.JSON()),
			"empty components": file.With("components", engine.Object()),
		} {
			t.Run(name+" "+wrapping, func(t *testing.T) {
				c, err := engine.LoadValue(reg, doc)
				require.NoError(t, err)
				require.Equal(t, "Agent_0", c.Document().Get("graph").Get("nodes").At(1).Get("data").Get("name").Str())
				require.Equal(t, 2, c.Document().Get("graph").Get("edges").Len())
				runs := playCanvas(t, reg, c.Document(), never).Get("runs")
				require.Equal(t, "workflow_finished", lastEvent(runs.At(runs.Len()-1)))
				require.Equal(t, roundTrip(t, reg, c), string(c.Save(c.State())))
			})
		}
	}
}

// Categories of older forms have their edges by name, and targets without an edge stay.
func TestCategoriesOfAnOlderGraph(t *testing.T) {
	doc, err := engine.ParseJSONText(`{"nodes": [
		{"id": "Categorize:C", "data": {"label": "Categorize", "name": "c", "form": {"category_description": {
			"A": {"to": "Message:Old"}, "B": {"to": "Message:B"}}}}}],
		"edges": [{"source": "Categorize:C", "sourceHandle": "A", "target": "Message:A"}]}`)
	require.NoError(t, err)
	doc, err = engine.Complete(builtins(t), doc)
	require.NoError(t, err)
	require.JSONEq(t, `{"A": {"to": ["Message:A"]}, "B": {"to": "Message:B"}}`,
		doc.Get("components").Get("Categorize:C").Get("obj").Get("params").Get("category_description").JSON())
}

func TestWebhookOfAGraph(t *testing.T) {
	doc, err := engine.ParseJSONText(`{"nodes": [{"id": "begin", "data": {"label": "Begin", "form": {
		"mode": "Webhook",
		"schema": {"body": {},
			"query": [{"key": "q", "type": "string", "required": true}, {"key": "n", "type": "number"}]},
		"security": {"auth_type": "jwt", "ip_whitelist": [{"value": "10.0.0.0/8"}], "allow_anonymous": true,
			"jwt": {"required_claims": [{"value": "sub"}], "secret": "x"}}}}}]}`)
	require.NoError(t, err)
	doc, err = engine.Complete(builtins(t), doc)
	require.NoError(t, err)
	require.JSONEq(t, `{"mode": "Webhook",
		"schema": {"query": {"type": "object", "required": ["q"],
			"properties": {"q": {"type": "string"}, "n": {"type": "number"}}}, "body": {}},
		"security": {"auth_type": "jwt", "ip_whitelist": ["10.0.0.0/8"],
			"jwt": {"required_claims": ["sub"], "secret": "x"}}}`, engine.StartParams(doc).JSON())
}

func TestBadGraphs(t *testing.T) {
	begin := `{"id": "begin", "data": {"label": "Begin", "form": {}}}`
	agent := func(id string) string {
		return `{"id": "` + id + `", "data": {"label": "Agent", "form": {"tools": []}}}`
	}
	below := func(from, to string) string {
		return `{"source": "` + from + `", "target": "` + to + `", "sourceHandle": "agentBottom", "targetHandle": "x"}`
	}
	for _, c := range []struct{ name, nodes, edges, problem string }{
		{"two nodes with one id", begin + `,` + begin, "", "is the id of two nodes of the graph"},
		{"no id", begin + `,{"data": {"label": "Message"}}`, "", "graph.nodes[1] has no id"},
		{"an id of another kind", begin + `,{"id": 5, "data": {"label": "Message"}}`, "", "graph.nodes[1] has no id"},
		{"a node that is a text", begin + `,"x"`, "", "graph.nodes[1] has no id"},
		{"no label", begin + `,{"id": "x"}`, "", "component_name"},
		{"an unknown label", begin + `,{"id": "x", "data": {"label": "Mesage"}}`, "", "did you mean Message?"},
		{"no begin", `{"id": "Message:M", "data": {"label": "Message"}}`, "", `no component "begin"`},
		{
			"a ring of parents", begin + `,{"id": "a", "parentId": "b", "data": {"label": "Iteration"}},
				{"id": "b", "parentId": "a", "data": {"label": "Iteration"}}`, "",
			"leads back to the component itself",
		},
		{
			"a ring of agents", begin + `,` + agent("a") + `,` + agent("b"), below("a", "b") + `,` + below("b", "a"),
			"leads back to the agent itself",
		},
		{"an agent below itself", begin + `,` + agent("a"), below("a", "a"), "leads back to the agent itself"},
		{"a sub-agent that is gone", begin + `,` + agent("a"), below("a", "b"), `leads to "b", which is no node`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := `{"nodes": [` + c.nodes + `], "edges": [` + c.edges + `]}`
			_, err := engine.Load(builtins(t), []byte(text))
			require.ErrorContains(t, err, c.problem)
			require.Contains(t, problemLines(engine.Validate(builtins(t), []byte(text))), c.problem)
		})
	}
}

// Agents below several others are made for each: their number is bounded.
func TestSharedAgentsAreBounded(t *testing.T) {
	nodes := []engine.Value{engine.Object("id", "begin", "data", engine.Object("label", "Begin"))}
	var edges []engine.Value
	const below = "agentBottom"
	id := func(level, i int) string { return fmt.Sprintf("Agent:%d-%d", level, i) }
	for level := range 19 {
		for i := range 2 {
			data := engine.Object("label", "Agent", "form", engine.Object())
			nodes = append(nodes, engine.Object("id", id(level, i), "data", data))
			for k := range 2 {
				to := id(level+1, k)
				edges = append(edges, engine.Object("source", id(level, i), "target", to, "sourceHandle", below))
			}
		}
	}
	doc := engine.Object("nodes", engine.List(nodes...), "edges", engine.List(edges...))
	_, err := engine.LoadValue(builtins(t), doc)
	require.ErrorContains(t, err, "sub-agent")
}

// A graph takes time in proportion to its nodes and edges, whatever they are.
func TestLargeGraph(t *testing.T) {
	n := 100_000
	if testing.Short() {
		n = 5000
	}
	drawn := func(id, label string, form engine.Value) engine.Value {
		return engine.Object("id", id, "data", engine.Object("label", label, "form", form))
	}
	nodes := []engine.Value{
		drawn("begin", "Begin", engine.Object()), drawn("Agent:1", "Agent", engine.Object()),
		drawn("Agent:2", "Agent", engine.Object()),
	}
	var edges, items []engine.Value
	edge := func(source, handle, target string) {
		edges = append(edges, engine.Object("source", source, "sourceHandle", handle, "target", target))
	}
	for i := range n {
		id := fmt.Sprint("Message:", i)
		nodes = append(nodes, drawn(id, "Message", engine.Object("content", engine.Strings("x"))))
		items = append(items, engine.Object("name", id, "uuid", "u"+id))
		edge("begin", "start", id)
		edge("Categorize:C", "u"+id, id)
		edge("Agent:1", "agentBottom", id)
		edge("Agent:2", "agentBottom", id)
		edge("Agent:1", engine.ErrorHandle, id)
	}
	nodes = append(nodes, drawn("Categorize:C", "Categorize", engine.Object("items", engine.List(items...))))
	doc := engine.Object("nodes", engine.List(nodes...), "edges", engine.List(edges...))
	bounded := 0
	for _, d := range engine.Validate(builtins(t), doc.AppendJSON(nil)) {
		if strings.Contains(d.Message, "is one of more than 1000") {
			bounded++
		}
	}
	require.Equal(t, 1, bounded, "reported once")
}

// Nodes whose container was deleted load, and nothing leads to them.
func TestOrphans(t *testing.T) {
	text := `{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["LLM:O", "Message:M"]},
		"LLM:O": {"obj": {"component_name": "LLM", "params": {"sys_prompt": "x"}}, "downstream": ["Message:M"],
			"parent_id": "Iteration:Gone"},
		"Message:M": {"obj": {"component_name": "Message", "params": {"content": ["ok"]}}, "downstream": []}}}`
	reg := builtins(t)
	c, err := engine.Load(reg, []byte(text))
	require.NoError(t, err)
	runs := playCanvas(t, reg, c.Document(), never).Get("runs")
	require.True(t, runs.At(0).Get("error").IsNull())
	require.NotContains(t, runs.JSON(), `"LLM:O","inputs"`)
	require.Zero(t, runs.At(0).Get("llm_calls").Len())
	require.Contains(t, problemLines(engine.Validate(reg, []byte(text))),
		`warning: LLM:O, parent_id: "Iteration:Gone" names no component of this canvas: nothing leads to it`)
}
