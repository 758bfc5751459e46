package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// assigns returns a node that writes env.n.
func assigns(id string, down ...string) string {
	return cell(id, "VariableAssigner",
		`"variables": [{"variable": "env.n", "operator": "+=", "parameter": 1}]`, down...)
}

func eagerly(dsl string) string {
	return strings.TrimSuffix(dsl, "}") + `, "settings": {"scheduling": "eager"}}`
}

func TestOrderDependence(t *testing.T) {
	beside := given("n", "", sketch.Canvas(start("VariableAssigner:A", "LLM:L"), assigns("VariableAssigner:A"),
		asks("LLM:L", 1, "{env.n}")))
	for _, c := range []struct {
		name, dsl string
		nodes     []string // with a diagnostic
	}{
		{"a writer beside a reader", eagerly(beside), []string{"VariableAssigner:A"}},
		{"batches have a fixed order", beside, nil},
		{
			"a writer before a reader",
			eagerly(given("n", "", sketch.Canvas(start("VariableAssigner:A"), assigns("VariableAssigner:A", "LLM:L"),
				asks("LLM:L", 1, "{env.n}")))),
			nil,
		},
		{
			"two writers",
			eagerly(given("n", "", sketch.Canvas(start("VariableAssigner:A", "VariableAssigner:B"),
				assigns("VariableAssigner:A"), assigns("VariableAssigner:B")))),
			[]string{"VariableAssigner:A", "VariableAssigner:B"},
		},
		{
			"paths of different length into a node that does not wait",
			eagerly(given("n", "", sketch.Canvas(start("LLM:A", "VariableAssigner:B"), asks("LLM:A", 1, "", "LLM:C"),
				asks("LLM:C", 1, "", "VariableAssigner:B"), assigns("VariableAssigner:B")))),
			[]string{"VariableAssigner:B"},
		},
		{
			"paths of different length into a node that waits for the longest",
			eagerly(sketch.Canvas(start("LLM:A", "Message:B"), asks("LLM:A", 1, "", "LLM:C"),
				asks("LLM:C", 1, "", "Message:B"), message("Message:B", "{LLM:C@content}"))),
			nil,
		},
		{
			"paths of the same length, one of which also reads an earlier output",
			eagerly(sketch.Canvas(start("LLM:A"), asks("LLM:A", 1, "", "LLM:B", "LLM:C"), asks("LLM:B", 1, "", "LLM:D"),
				asks("LLM:C", 1, "{begin@x}", "LLM:D"), asks("LLM:D", 1, ""))),
			nil,
		},
		{
			"a wait for a node that may not run",
			eagerly(sketch.Canvas(start("LLM:A", "LLM:S", "Message:B"), asks("LLM:A", 1, "", "LLM:C"),
				asks("LLM:C", 1, "", "Message:B"), message("Message:B", "{Message:D@content}"),
				cell("LLM:S", "LLM", `"llm_id": "m", "exception_method": "goto", "exception_goto": ["LLM:E"]`, "LLM:F"),
				asks("LLM:E", 1, ""), asks("LLM:F", 1, "", "LLM:G"), asks("LLM:G", 1, "", "Message:D"),
				message("Message:D", "late"))),
			[]string{"Message:B"},
		},
		{
			"a writer in a body whose elements run concurrently",
			iteration(2, `"concurrency": 2`,
				inBody("Iteration:I", asks("LLM:L", 1, "", "VariableAssigner:A")),
				inBody("Iteration:I", assigns("VariableAssigner:A"))),
			[]string{"VariableAssigner:A"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var nodes []string
			for _, d := range engine.Validate(builtins(t), []byte(c.dsl)) {
				if d.Code == engine.CodeOrderDependent {
					nodes = append(nodes, d.Node)
				}
			}
			require.Equal(t, c.nodes, nodes)
		})
	}
}
