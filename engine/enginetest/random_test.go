package enginetest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// TestRandomCanvases plays random canvases. Their events are consistent, and do not depend on the
// concurrency, or on a crash.
func TestRandomCanvases(t *testing.T) {
	reg := registry(t)
	seeds := uint64(100)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := randomCase(seed)
			never := func(*engine.Event) bool { return false }
			want := showing(t, &enginetest.Player{Registry: reg, MaxSteps: 200, Cut: never}, c)
			for _, n := range [...]int{1, 50} {
				player := &enginetest.Player{Registry: reg, MaxSteps: 200, Cut: never, Concurrency: n}
				requireSame(t, c, want, showing(t, player, c), fmt.Sprintf("%d nodes at once", n))
			}
			cut := &enginetest.Player{Registry: reg, MaxSteps: 200, Cut: enginetest.AtCheckpoints}
			requireSame(t, c, want, showing(t, cut, c), "cut after each batch")
			r := rand.New(rand.NewPCG(seed, 2))
			for range 4 {
				n := 1 + r.IntN(2*len(want)+2)
				crash := &enginetest.Player{Registry: reg, MaxSteps: 200, Cut: enginetest.AfterEntry(n)}
				requireSame(t, c, want, showing(t, crash, c), fmt.Sprintf("crash after entry %d", n))
			}
		})
	}
}

// showing plays a case, checks that each run is consistent, and returns its events and the stored
// document.
func showing(t *testing.T, player *enginetest.Player, c *enginetest.Case) []string {
	t.Helper()
	observed, err := player.Play(t.Context(), c)
	require.NoError(t, err, "%s", c.DSL)
	var list []string
	open := map[string]int{} // starts without an end
	for _, r := range observed.Get("runs").Elements() {
		require.True(t, r.Get("load_error").IsNull(), "%s\n%s", r.Get("load_error"), c.DSL)
		if requireSense(t, c, r, open) != "user_inputs" {
			clear(open)
		}
		for _, e := range r.Get("events").Elements() {
			list = append(list, e.JSON())
		}
		list = append(list, "error: "+r.Get("error").Text(), r.Get("dsl_after").JSON())
	}
	return list
}

// requireSense checks the invariants of every run: it starts and ends properly, and every node that
// starts finishes once. An unread text and a body may continue after a pause. It returns the last
// event.
func requireSense(t *testing.T, c *enginetest.Case, run engine.Value, open map[string]int) (last string) {
	t.Helper()
	for i, e := range run.Get("events").Elements() {
		last = e.Get("event").Str()
		require.Equal(t, i == 0, last == "workflow_started", "event %d\n%s", i, c.DSL)
		node := e.Get("data").Get("component_id").Str()
		switch last {
		case "node_started":
			open[node]++
		case "node_finished":
			open[node]--
			require.True(t, open[node] >= 0 || container(node), "%s finished before it started\n%s", node, c.DSL)
		}
	}
	ended := last == "workflow_finished" || last == "user_inputs"
	require.Equal(t, run.Get("error").IsNull(), ended, "last event %s, error %s\n%s", last, run.Get("error"), c.DSL)
	for node, n := range open {
		require.True(t, n == 0 || container(node) || last == "user_inputs", "%s did not finish\n%s", node, c.DSL)
	}
	return last
}

// container reports whether a node has a body. A run that pauses or fails in the body does not
// finish it.
func container(node string) bool {
	return strings.HasPrefix(node, "Iteration:") || strings.HasPrefix(node, "Loop:")
}

func requireSame(t *testing.T, c *enginetest.Case, want, got []string, what string) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			require.Equal(t, at(want, i), at(got, i), "%s: line %d\n%s", what, i+1, c.DSL)
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

// drawer draws a random canvas.
type drawer struct {
	r     *rand.Rand
	nodes []engine.Value // id and entry in turn
	ids   []string
	outs  []string // references to outputs drawn so far
	inner int      // depth of bodies
	timed bool     // tools take time
	even  bool     // branches that meet are as long as each other, and variables have one writer
	own   []string // variables with one writer
}

// randomCase returns a canvas with three turns; forms are answered.
func randomCase(seed uint64) *enginetest.Case { return (&drawer{}).draw(seed) }

// timedCase returns a canvas in which tools take time and nothing has to fail. Of ten, nine are
// even.
func timedCase(seed uint64) *enginetest.Case {
	return (&drawer{timed: true, even: seed%10 != 0}).draw(seed)
}

func (d *drawer) draw(seed uint64) *enginetest.Case {
	d.r, d.outs = rand.New(rand.NewPCG(seed, 1)), []string{"sys.query", "env.n", "begin@items"}
	d.body("begin", "Begin", "", engine.Object("mode", "conversational"), 2+d.r.IntN(9))
	components := engine.NewObject(len(d.ids))
	for i, id := range d.ids {
		components.Set(id, d.nodes[i])
	}
	reply := enginetest.ChunksReply("so ", "<think>", "hm", "</think>", "be it")
	run := func(query string) enginetest.Run {
		inputs := engine.Object("items", engine.Object("value", engine.Strings("a", "b")), "f",
			engine.Object("value", "filled"))
		return enginetest.Run{Kwargs: engine.Object("query", query, "user_id", "u", "inputs", inputs), Fallback: &reply}
	}
	return &enginetest.Case{
		Name: fmt.Sprint("random ", seed),
		DSL: engine.Object("components", components.Value(), "globals", d.variables("env."),
			"variables", d.variables("")),
		Runs: []enginetest.Run{run("a"), run("b"), run("")},
	}
}

// variables returns the variables of the canvas: with a prefix their values, without one also
// types.
func (d *drawer) variables(prefix string) engine.Value {
	all := engine.NewObject(4)
	for _, name := range append([]string{"n"}, d.own...) {
		v := engine.Int(0)
		if prefix == "" {
			v = engine.Object("type", "number", "value", 0)
		}
		all.Set(prefix+name, v)
	}
	return all.Value()
}

// body draws a first node and others that can be reached from it.
func (d *drawer) body(first, kind, parent string, params engine.Value, size int) (ids []string) {
	ids = append(ids, first)
	place := len(d.ids)
	d.ids, d.nodes = append(d.ids, first), append(d.nodes, engine.Null)
	var entries []int
	entries = append(entries, place)
	objs := []engine.Value{engine.Object("component_name", kind, "params", params)}
	for range size {
		id, at, obj := d.node(parent)
		ids, entries, objs = append(ids, id), append(entries, at), append(objs, obj)
	}
	down := d.edges(ids)
	if d.even {
		readOwn(ids, down, objs)
	}
	for i, at := range entries {
		obj := objs[i]
		if obj.Get("component_name").Str() == "Switch" && len(down[i]) == 0 {
			obj = engine.Object("component_name", "Message", "params", engine.Object("content", engine.Strings("leaf")))
		}
		if obj.Get("component_name").Str() == "Switch" {
			obj = obj.With("params", branches(obj.Get("params"), down[i]))
			down[i] = nil
		}
		if obj.Get("params").Get("exception_method").Str() == "goto" {
			obj = obj.With("params", obj.Get("params").With("exception_goto", engine.Strings(ids[len(ids)-1])))
		}
		entry := engine.Object("obj", obj, "downstream", down[i], "upstream", engine.List())
		if parent != "" {
			entry = entry.With("parent_id", engine.String(parent))
		}
		d.nodes[at] = entry
	}
	return ids
}

// edges leads to each node but the first from one before it, and to some from a second one: in an
// even canvas one that as many nodes lead to.
func (d *drawer) edges(ids []string) [][]string {
	down, depth := make([][]string, len(ids)), make([]int, len(ids))
	for i := 1; i < len(ids); i++ {
		from := d.r.IntN(i)
		down[from] = append(down[from], ids[i])
		if depth[i] = depth[from] + 1; depth[from] < 0 || container(ids[from]) {
			depth[i] = -1 // a body takes as long as it likes
		}
		if d.r.IntN(4) > 0 {
			continue
		}
		second := d.r.IntN(i)
		if !d.even || second != from && depth[second] == depth[from] && depth[i] > 0 && !container(ids[second]) {
			down[second] = append(down[second], ids[i])
		}
	}
	return down
}

// readOwn lets texts behind a writer read its variable.
func readOwn(ids []string, down [][]string, objs []engine.Value) {
	for i, id := range ids {
		name, writes := ownVariable(id)
		for _, to := range down[i] {
			at := slices.Index(ids, to)
			if p := objs[at].Get("params"); writes && objs[at].Get("component_name").Str() == "StringTransform" {
				script := engine.String(p.Get("script").Str() + "{env." + name + "}")
				objs[at] = objs[at].With("params", p.With("script", script))
			}
		}
	}
}

// ownVariable returns the variable of a writer in an even canvas.
func ownVariable(id string) (name string, writes bool) {
	number, writes := strings.CutPrefix(id, "VariableAssigner:")
	return "v" + number, writes
}

// branches sends a Switch to half of what follows it when the query is a, else to the other half.
func branches(params engine.Value, down []string) engine.Value {
	n := (len(down) + 1) / 2
	item := engine.Object("cpn_id", "sys.query", "operator", "contains", "value", "a")
	return params.
		With("conditions", engine.List(engine.Object("logical_operator", "and", "items", engine.List(item), "to",
			down[:n]))).
		With("end_cpn_ids", engine.Strings(down[len(down)/2:]...))
}

// node draws one node, with its body if it is a container.
func (d *drawer) node(parent string) (id string, at int, obj engine.Value) {
	kinds := []string{
		"StringTransform", "StringTransform", "Message", "Message", "LLM", "LLM", "Switch", "EchoTool",
		"VariableAssigner", "UserFillUp", "Iteration", "Loop",
	}
	kind := kinds[d.r.IntN(len(kinds))]
	if d.inner >= 2 && (kind == "Iteration" || kind == "Loop") {
		kind = "Message"
	}
	if d.inner > 0 && kind == "UserFillUp" && d.r.IntN(3) > 0 {
		kind = "LLM"
	}
	at = len(d.ids)
	id = fmt.Sprintf("%s:%d", kind, at)
	d.ids, d.nodes = append(d.ids, id), append(d.nodes, engine.Null)
	params := d.params(kind, id)
	switch kind {
	case "StringTransform":
		d.outs = append(d.outs, id+"@result")
	case "LLM", "Message":
		d.outs = append(d.outs, id+"@content")
	case "EchoTool":
		d.outs = append(d.outs, id+"@formalized_content")
	case "UserFillUp":
		d.outs = append(d.outs, id+"@f")
	}
	return id, at, engine.Object("component_name", kind, "params", params)
}

func (d *drawer) ref() string { return d.outs[d.r.IntN(len(d.outs))] }

func (d *drawer) text() string { return "x{" + d.ref() + "} y{" + d.ref() + "}" }

func (d *drawer) params(kind, id string) engine.Value {
	switch kind {
	case "StringTransform":
		return engine.Object("method", "merge", "script", d.text(), "delimiters", engine.Strings(","))
	case "Message":
		return engine.Object("content", engine.Strings(d.text()))
	case "LLM":
		return engine.Object("llm_id", "m", "sys_prompt", d.text(), "prompts",
			engine.List(engine.Object("role", "user", "content", "{sys.query}")))
	case "EchoTool":
		p := engine.Object("query", "sys.query", "default_reply", "echo")
		if d.timed {
			p = p.With("sleep_ms", engine.Int(int64(len(d.ids))))
		}
		kind := d.r.IntN(4)
		if d.even && kind == 0 { // a way that is not as long as others
			kind = 1
		}
		switch kind {
		case 0:
			p = p.With("fail_on", engine.Strings("b")).With("exception_method", engine.String("goto"))
		case 1:
			p = p.With("fail_on", engine.Strings("b")).With("exception_method", engine.String("comment")).
				With("exception_default_value", engine.String("instead"))
		case 2:
			if !d.timed && d.r.IntN(3) == 0 {
				p = p.With("fail_on", engine.Strings("b"))
			}
		}
		return p
	case "VariableAssigner":
		name := "n"
		if d.even {
			name, _ = ownVariable(id)
			d.own = append(d.own, name)
		}
		write := engine.Object("variable", "env."+name, "operator", "+=", "parameter", 1)
		return engine.Object("variables", engine.List(write))
	case "UserFillUp":
		return engine.Object("enable_tips", true, "tips", "fill", "inputs",
			engine.Object("f", engine.Object("name", "f", "type", "line")))
	case "Iteration", "Loop":
		return d.container(kind, id)
	}
	return engine.Object()
}

func (d *drawer) container(kind, id string) engine.Value {
	d.inner++
	seen := len(d.outs)
	item := fmt.Sprintf("%sItem:%d", kind, len(d.ids))
	if kind == "Iteration" {
		d.outs = append(d.outs, item+"@item")
	}
	ids := d.body(item, kind+"Item", id, engine.Object(), 1+d.r.IntN(4))
	d.inner--
	outs := engine.NewObject(2)
	for _, o := range d.outs[seen:] {
		if node, name, _ := strings.Cut(o, "@"); name == "result" && contains(strings.Join(ids, " "), node) {
			outs.Set("out", engine.Object("ref", o))
		}
	}
	d.outs = d.outs[:seen]
	if kind == "Iteration" {
		d.outs = append(d.outs, id+"@out")
		p := engine.Object("items_ref", "begin@items", "outputs", outs.Value())
		if d.timed && d.r.IntN(3) == 0 {
			p = p.With("concurrency", engine.Int(2))
		}
		return p
	}
	return engine.Object(
		"loop_variables", engine.List(engine.Object("variable", "n", "input_mode", "constant", "value", 0, "type",
			"number")),
		"loop_termination_condition", engine.List(engine.Object("variable", "env.n", "operator", "=", "value", 3,
			"input_mode", "constant")),
		"maximum_loop_count", 3, "logical_operator", "and")
}
