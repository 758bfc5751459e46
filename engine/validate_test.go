package engine_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// manyProblems has each kind of problem once.
const manyProblems = `{"components": {
	"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Missing:A", "Message:A", "Switch:S", "LLM:A"]},
	"X:B": {"obj": {"component_name": "Nope", "params": {}}, "downstream": []},
	"Message:A": {"obj": {"component_name": "Message", "params": {"content": ["{Ghost:Z@content} {env.nix} {sys.nix} {sys.query} {Message:A@bogus}"]}}, "downstream": []},
	"Message:P": {"obj": {"component_name": "Message", "params": {}}, "downstream": "Message:A"},
	"Switch:S": {"obj": {"component_name": "Switch", "params": {"conditions": [{"items": [{"cpn_id": "sys.query", "operator": "=", "value": 1}], "to": ["Lost:1"]}], "end_cpn_ids": ["Lost:2"]}}, "downstream": []},
	"LLM:A": {"obj": {"component_name": "LLM", "params": {"llm_id": 5, "temperature": 2, "exception_method": "goto", "exception_goto": "Lost:3"}}, "downstream": []},
	"Iteration:I": {"obj": {"component_name": "Iteration", "params": {"items_ref": "Ghost:X@l"}}, "downstream": []},
	"LoopItem:Q": {"obj": {"component_name": "LoopItem", "params": {}}, "parent_id": "Lost:4", "downstream": []}
}, "graph": {"nodes": [{"id": "Message:P", "data": {"name": "Goodbye"}}]}}`

func TestValidateFindsEveryProblemAtOnce(t *testing.T) {
	wanted := []struct{ name, line string }{
		{"an unknown component", `error: X:B, component_name: unknown component "Nope"`},
		{
			"an edge to an unknown node",
			`warning: begin, downstream: "Missing:A" names no component of this canvas: nothing follows here`,
		},
		{
			"edges that are not a list",
			`error: Message:P (Goodbye), downstream: "Message:A" is a string; expected a list of ids`,
		},
		{
			"a branch to an unknown node",
			`warning: Switch:S, to: "Lost:1" names no component of this canvas: choosing it is an error`,
		},
		{
			"a second unknown branch of the node",
			`warning: Switch:S, to: "Lost:2" names no component of this canvas: choosing it is an error`,
		},
		{
			"an error handler with an unknown target",
			`warning: LLM:A, exception_goto: "Lost:3" names no component of this canvas: it handles no error`,
		},
		{
			"reference to an unknown component",
			`error: Message:A: {Ghost:Z@content}: no component "Ghost:Z" in this canvas`,
		},
		{"reference to an unknown variable", `error: Message:A: {env.nix}: no such variable`},
		{"reference to an unknown system variable", `error: Message:A: {sys.nix}: no such variable`},
		{"reference to an unknown output", `warning: Message:A: {Message:A@bogus}: Message:A has no output "bogus"`},
		{"a missing parameter, with the display name", `error: Message:P (Goodbye), content: is missing`},
		{"a parameter of a wrong type", `error: LLM:A, llm_id: 5 is a number; expected a string`},
		{
			"a second parameter of the wrong type in the node",
			`error: LLM:A, temperature: 2 is too large; at most 1 is accepted`,
		},
		{
			"a parent that does not exist",
			`warning: LoopItem:Q, parent_id: "Lost:4" names no component of this canvas: nothing leads to it`,
		},
		{"a body without a start", `error: Iteration:I: it has no start node inside`},
		{"an unreachable node", `warning: Message:P (Goodbye): nothing leads to it`},
	}
	all := problemLines(engine.Validate(builtins(t), []byte(manyProblems)))
	for _, w := range wanted {
		t.Run(w.name, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(all, w.line), "%s\nin:\n%s", w.line, all)
		})
	}
	require.NotContains(t, all, "{sys.query}", "a variable that exists is no problem")
}

// problemLines returns problems, one per line.
func problemLines(problems []engine.Diagnostic) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

func TestValidateOfACleanCanvasIsEmpty(t *testing.T) {
	clean := `{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Switch:S"]},
		"Switch:S": {"obj": {"component_name": "Switch", "params": {"conditions": [{"items": [{"cpn_id": "sys.query", "operator": "=", "value": "1"}], "to": ["Message:A"]}], "end_cpn_ids": ["Message:B"]}}, "downstream": []},
		"Message:A": {"obj": {"component_name": "Message", "params": {"content": ["{env.city.name}"]}}, "downstream": []},
		"Message:B": {"obj": {"component_name": "Message", "params": {"content": ["b"]}}, "downstream": []}
	}, "globals": {"env.city": {"name": "Oslo"}}}`
	require.Empty(t, engine.Validate(builtins(t), []byte(clean)), "targets of a Switch count as edges")
}

func TestValidateOfBodies(t *testing.T) {
	const iteration = `it Iteration {"items_ref":"env.list"} -> last`
	const ends = `stands outside of "it", which ends there in its first turn: give "a" the parent_id "it"`
	tests := []struct {
		name  string
		want  string // "" is no problem
		lines []string
	}{
		{"the body ends inside", "", []string{
			iteration, `item IterationItem -> a ^ it`,
			`a StringTransform {"script":"x"} ^ it`,
		}},
		{
			"the first node of a body is outside", `error: item, downstream: "a" ` + ends,
			[]string{iteration, `item IterationItem -> a ^ it`, `a StringTransform {"script":"x"}`},
		},
		{
			"a later node of a body is outside", `error: b, downstream: "a" ` + ends,
			[]string{
				iteration, `item IterationItem -> b ^ it`, `b StringTransform {"script":"x"} -> a ^ it`,
				`a StringTransform {"script":"x"}`,
			},
		},
		{
			"a branch leads out of a body", `warning: s, downstream: "a" stands outside of "it", which ends there`,
			[]string{
				iteration, `item IterationItem -> s ^ it`, `s Switch {"conditions":[{"items":[{"cpn_id":"sys.query","operator":"=","value":"1"}],"to":["a"]}],"end_cpn_ids":["b"]} ^ it`,
				`b StringTransform {"script":"x"} ^ it`, `a StringTransform {"script":"x"}`,
			},
		},
		{
			"an edge into an item from outside",
			`error: begin, downstream: "item" opens the body of "it", which only ` +
				`that node does: lead to "it" instead`,
			[]string{`it Iteration {"items_ref":"env.list"}`, `item IterationItem ^ it`, `begin Begin -> it item`},
		},
		{
			"an edge from a container to its item",
			`error: it, downstream: "item" stands in the body of this node, so it cannot follow it`,
			[]string{`it Iteration {"items_ref":"env.list"} -> item`, `item IterationItem ^ it`},
		},
		{
			"an edge into a body from outside",
			`warning: begin, downstream: "a" stands in the body of "it", which does not run then`,
			[]string{
				iteration, `item IterationItem -> a ^ it`, `a StringTransform {"script":"x"} ^ it`,
				`begin Begin -> it a`,
			},
		},
		{
			"an item of another type of container",
			`error: item, parent_id: LoopItem cannot open the body of a Iteration`,
			[]string{iteration, `item LoopItem -> a ^ it`, `a StringTransform {"script":"x"} ^ it`},
		},
		{
			"a parent that is not a container", `warning: a, parent_id: "last" holds no other nodes`,
			[]string{`it StringTransform {"script":"x"} -> a`, `a StringTransform {"script":"x"} -> last ^ last`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := []string{"begin Begin -> it", `last StringTransform {"script":"x"}`}
			doc, err := engine.ParseJSON(sketch.Bytes(append(lines, tt.lines...)...))
			require.NoError(t, err)
			doc = doc.With("globals", engine.Object("env.list", engine.Strings("a", "b", "c")))
			all := problemLines(engine.Validate(builtins(t), doc.AppendJSON(nil)))
			if tt.want == "" {
				require.Empty(t, all)
			}
			require.Contains(t, all, tt.want)
		})
	}
}

func TestValidateNamesCyclesWithoutExit(t *testing.T) {
	const exit = `s Switch ` +
		`{"conditions":[{"items":[{"cpn_id":"sys.query","operator":"=","value":"1"}],"to":["a"]}],"end_cpn_ids":["b"]}`
	for name, tt := range map[string]struct {
		want  int
		lines []string
	}{
		"a node after itself": {1, []string{`a StringTransform {"script":"x"} -> a`}},
		"two nodes": {1, []string{
			`a StringTransform {"script":"x"} -> b`,
			`b StringTransform {"script":"x"} -> a`,
		}},
		"back to the start": {1, []string{`a StringTransform {"script":"x"} -> begin`}},
		"two cycles": {2, []string{
			`a StringTransform {"script":"x"} -> a b`,
			`b StringTransform {"script":"x"} -> b`,
		}},
		"a choice on the way": {0, []string{
			`a StringTransform {"script":"x"} -> s`, exit,
			`b StringTransform {"script":"x"}`,
		}},
		"a form on the way": {0, []string{`a UserFillUp -> b`, `b StringTransform {"script":"x"} -> a`}},
		"an error ends it": {
			0,
			[]string{
				`a StringTransform {"script":"x","exception_method":"goto","exception_goto":["b"]} -> a`,
				`b StringTransform {"script":"x"}`,
			},
		},
		"the turns of a body": {0, []string{
			`a Loop {"maximum_loop_count":2}`, `li LoopItem -> b ^ a`,
			`b StringTransform {"script":"x"} -> li ^ a`,
		}},
		"a cycle inside a body": {1, []string{
			`a Loop {"maximum_loop_count":2}`, `li LoopItem -> b ^ a`,
			`b StringTransform {"script":"x"} -> b ^ a`,
		}},
		"nothing leads to it": {0, []string{
			`a StringTransform {"script":"x"}`,
			`b StringTransform {"script":"x"} -> b`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dsl := sketch.Bytes(append([]string{`begin Begin -> a`}, tt.lines...)...)
			all := problemLines(engine.Validate(builtins(t), dsl))
			require.Equal(t, tt.want, strings.Count(all, "so that the run never finishes"), all)
		})
	}
}

func TestValidateNamesWhatWasMeant(t *testing.T) {
	const canvas = `{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Mesage:Tidy"]},
		"Message:Tidy": {"obj": {"component_name": "Message", "params": {"content": ["%s"]}}, "downstream": []},
		"LLM:A": {"obj": {"component_name": "LLM", "params": {}}, "downstream": []}},
		"variables": {"city": {"type": "string"}, "a": {"type": "string"}}}`
	for text, want := range map[string]string{
		"{Message:Tidi@content}": `{Message:Tidi@content}: no component "Message:Tidi" in this canvas; did you ` +
			`mean "Message:Tidy"?`,
		"{LLM:B@content}": "{LLM:B@content}: no component \"LLM:B\" in this canvas\n",
		"{LLM:A@contnt}":  `{LLM:A@contnt}: LLM:A has no output "contnt"; did you mean "content"?`,
		"{env.cty}":       `{env.cty}: no such variable; did you mean "env.city"?`,
		"{env.b}":         "{env.b}: no such variable\n",
		"{sys.qury}":      `{sys.qury}: no such variable; did you mean "sys.query"?`,
		"{evn.city}": `"Mesage:Tidy" names no component of this canvas: nothing follows here; did you ` +
			`mean "Message:Tidy"?`,
	} {
		all := problemLines(engine.Validate(builtins(t), fmt.Appendf(nil, canvas, text))) + "\n"
		require.Contains(t, all, want, text)
	}
	all := problemLines(engine.Validate(builtins(t),
		[]byte(`{"components": {"begin": {"obj": {"component_name": "Begn"}}}}`)))
	require.Contains(t, all, `unknown component "Begn", did you mean Begin?`)
}

func TestValidateNamesUnknownParams(t *testing.T) {
	const agent = `{"tools": [{"component_name": "Retrieval", "name": "Search", "params": {"kb_ids": ["k"], "topn": 3}}], "llm_filter": "x"}`
	all := problemLines(engine.Validate(builtins(t), sketch.Bytes(
		`begin Begin {"prologe":"hi","enablePrologue":true,"security":{}} -> m`,
		`m Message {"contents":["x"],"content":["y"],"outputs":{},"_private":1,"messages":[]} -> a`,
		`a Agent `+agent+` -> t`, `t TavilySearch {"api_key":"k","query":"q","include_images":true} -> u`,
		`u StringTransform {"script":"x","colour":"red"}`)))
	for _, want := range []string{
		`warning: begin, prologe: unknown parameter, which has no effect; did you mean "prologue"?`,
		`warning: m, contents: unknown parameter, which has no effect; did you mean "content"?`,
		`warning: a, tools: Search: unknown parameter "topn", which has no effect; did you mean "top_n"?`,
		"warning: u, colour: unknown parameter, which has no effect\n",
	} {
		require.Contains(t, all+"\n", want)
	}
	require.Equal(t, 4, strings.Count(all, "unknown parameter"), all)
}

func TestValidateNamesUnknownSettings(t *testing.T) {
	canvas := sketch.Bytes(`begin Begin -> m`, `m Message {"content":["x"]}`,
		`@settings {"limits": {"seconds": 9}, "aproval": ["m"], "theme": 1}`)
	require.Equal(t, strings.Join([]string{
		`warning: canvas, settings.aproval: unknown setting of the canvas, which has no effect; ` +
			`did you mean "approval"?`,
		`warning: canvas, settings.theme: unknown setting of the canvas, which has no effect`,
	}, "\n"), problemLines(engine.Validate(builtins(t), canvas)))
}

// TestBadSettingsAreNamed: each setting that cannot be read is a problem with its name.
func TestBadSettingsAreNamed(t *testing.T) {
	canvas := func(settings string) []byte {
		return sketch.Bytes(`begin Begin -> m`, `m Message {"content":["x"]}`, "@settings "+settings)
	}
	require.Equal(t, strings.Join([]string{
		`error: canvas, settings.limits: is a list; expected an object of numbers by name`,
		`error: canvas, settings.approval: is ["m",5]; expected a list of names`,
		`error: canvas, settings.visitors_approve: is 1; expected true or false`,
		`error: canvas, settings.scheduling: is "soon"; expected batch or eager`,
		`error: canvas, settings.prices: x: input is null; expected a number of at least 0, per million tokens`,
	}, "\n"), problemLines(engine.Validate(builtins(t), canvas(`{"limits": [9], "approval": ["m", 5], `+
		`"scheduling": "soon", "prices": {"x": 1}, "visitors_approve": 1}`))))
	require.Equal(t, `error: canvas, settings: is a list; expected an object with limits and prices`,
		problemLines(engine.Validate(builtins(t), canvas(`[1]`))))
}

// Each problem was compared with all problems of its node before.
func TestValidateOfManyProblemsTakesLinearTime(t *testing.T) {
	const many = 20_000
	params := engine.NewObject(many)
	for i := range many {
		params.Set("x"+strconv.Itoa(i), engine.Int(1))
	}
	begin := `begin Begin ` + params.Value().JSON() + ` -> m`
	doc, err := engine.ParseJSON(sketch.Bytes(begin, `m Message {"content":["x"]}`))
	require.NoError(t, err)
	text := doc.With("settings", params.Value()).AppendJSON(nil)
	start := time.Now()
	require.Len(t, engine.Validate(builtins(t), text), 2*many)
	require.Less(t, time.Since(start), 10*time.Second)
}

func TestSettingsSchemaHasTheSettings(t *testing.T) {
	schema := engine.SettingsSchema().Get("properties")
	canvas := engine.NewObject(8)
	for name := range schema.Fields() {
		canvas.Set(name, engine.Null)
	}
	doc, err := engine.ParseJSON(sketch.Bytes(`begin Begin -> m`, `m Message {"content":["x"]}`))
	require.NoError(t, err)
	found := engine.Validate(builtins(t), doc.With("settings", canvas.Value()).AppendJSON(nil))
	require.Empty(t, found, "every member of the form is read")
	for name := range schema.Get("limits").Get("properties").Fields() {
		require.Contains(t, engine.LimitNames(), name)
	}
}

func TestValidateSparesRealCanvases(t *testing.T) {
	for i, dsl := range manyCanvases(t) {
		for _, p := range engine.Validate(builtins(t), dsl.AppendJSON(nil)) {
			require.NotContains(t, p.Message, "unknown parameter", "canvas %d: %s", i, p)
			require.NotContains(t, p.Message, "so that the run never finishes", "canvas %d: %s", i, p)
		}
	}
}

// A handler without targets is a problem only when there is no default value either.
func TestErrorHandlersLeadSomewhere(t *testing.T) {
	for params, problems := range map[string]int{
		`{"exception_method": "goto"}`: 1,
		`{"exception_method": "goto", "exception_goto": [""], "exception_default_value": ""}`:    1,
		`{"exception_method": "goto", "exception_goto": [], "exception_default_value": "sorry"}`: 0,
		`{"exception_method": "goto", "exception_goto": ["M"]}`:                                  0,
		`{"exception_method": "comment", "exception_goto": []}`:                                  0,
		`{"exception_goto": []}`: 0,
	} {
		c, err := engine.Load(builtins(t), sketch.Bytes("begin Begin -> L", "L LLM "+params+" -> M",
			`M Message {"content": ["x"]}`))
		require.NoError(t, err)
		found := 0
		for _, d := range c.Validate() {
			if d.Param == "exception_goto" {
				require.Equal(t, engine.SeverityError, d.Severity)
				require.Equal(t, engine.CodeUnknownTarget, d.Code)
				found++
			}
		}
		require.Equal(t, problems, found, params)
	}
}
