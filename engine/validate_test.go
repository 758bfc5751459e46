package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// manyProblems has each kind of problem once.
const manyProblems = `{"components": {
	"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["Nobody:A", "Message:A", "Switch:S", "LLM:A"]},
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
		{"an edge to nothing", `error: begin, downstream: "Nobody:A" is no component of this canvas`},
		{"edges that are no list", `error: Message:P (Goodbye), downstream: "Message:A" is a string; a list of ids is needed`},
		{"a branch to nothing", `error: Switch:S, to: "Lost:1" is no component of this canvas`},
		{"another one of the same node", `error: Switch:S, to: "Lost:2" is no component of this canvas`},
		{"an error handler that leads nowhere", `error: LLM:A, exception_goto: "Lost:3" is no component of this canvas`},
		{"a reference to no component", `error: Message:A: {Ghost:Z@content}: no component "Ghost:Z" in this canvas`},
		{"a reference to no variable", `error: Message:A: {env.nix}: no such variable`},
		{"a reference to no variable of the system", `error: Message:A: {sys.nix}: no such variable`},
		{"a reference to no output", `warning: Message:A: {Message:A@bogus}: Message:A has no output "bogus"`},
		{"a missing parameter, with the display name", `error: Message:P (Goodbye), content: is missing`},
		{"a parameter of a wrong type", `error: LLM:A, llm_id: 5 is a number; a text is needed`},
		{"a second wrong parameter of the same node", `error: LLM:A, temperature: 2 is too large; at most 1 is accepted`},
		{"a parent that does not exist", `error: LoopItem:Q, parent_id: "Lost:4" is no component of this canvas`},
		{"a body without a start", `error: Iteration:I: it has no start node inside`},
		{"a node nothing leads to", `warning: Message:P (Goodbye): nothing leads to it`},
	}
	var lines []string
	for _, p := range engine.Validate(builtins(t), []byte(manyProblems)) {
		lines = append(lines, p.String())
	}
	all := strings.Join(lines, "\n")
	for _, w := range wanted {
		t.Run(w.name, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(all, w.line), "%s\nin:\n%s", w.line, all)
		})
	}
	require.NotContains(t, all, "{sys.query}", "a variable that exists is no problem")
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
