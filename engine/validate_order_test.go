package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// assigns is a node that writes env.n.
func assigns(id string, down ...string) string {
	return cell(id, "VariableAssigner",
		`"variables": [{"variable": "env.n", "operator": "+=", "parameter": 1}]`, down...)
}

// chooses is a Switch between two nodes.
func chooses(id, one, other string) string {
	return cell(id, "Switch", fmt.Sprintf(`"conditions": [{"logical_operator": "and", "to": [%q],
		"items": [{"cpn_id": "sys.query", "operator": "contains", "value": "a"}]}], "end_cpn_ids": [%q]`, one, other))
}

func eagerly(dsl string) string {
	return strings.TrimSuffix(dsl, "}") + `, "settings": {"scheduling": "eager"}}`
}

func TestOrderDependence(t *testing.T) {
	beside := given("n", "", document(start("VariableAssigner:A", "LLM:L"), assigns("VariableAssigner:A"),
		asks("LLM:L", 1, "{env.n}")))
	for _, c := range []struct {
		name, dsl string
		nodes     []string // with a diagnostic
	}{
		{"a writer beside a reader", eagerly(beside), []string{"VariableAssigner:A"}},
		{"in batches the order is fixed", beside, nil},
		{
			"a writer before a reader",
			eagerly(given("n", "", document(start("VariableAssigner:A"), assigns("VariableAssigner:A", "LLM:L"),
				asks("LLM:L", 1, "{env.n}")))),
			nil,
		},
		{
			"two writers",
			eagerly(given("n", "", document(start("VariableAssigner:A", "VariableAssigner:B"),
				assigns("VariableAssigner:A"), assigns("VariableAssigner:B")))),
			[]string{"VariableAssigner:A", "VariableAssigner:B"},
		},
		{
			"ways of different length into a node that does not wait",
			eagerly(given("n", "", document(start("LLM:A", "VariableAssigner:B"), asks("LLM:A", 1, "", "LLM:C"),
				asks("LLM:C", 1, "", "VariableAssigner:B"), assigns("VariableAssigner:B")))),
			[]string{"VariableAssigner:B"},
		},
		{
			"a writer and a reader behind different cases of a Switch",
			eagerly(given("n", "", document(start("Switch:S"), chooses("Switch:S", "VariableAssigner:A", "LLM:L"),
				assigns("VariableAssigner:A"), asks("LLM:L", 1, "{env.n}")))),
			nil,
		},
		{
			"a writer beside a reader behind the same case",
			eagerly(given("n", "", document(start("Switch:S"), chooses("Switch:S", "LLM:K", "LLM:L"),
				asks("LLM:K", 1, "", "VariableAssigner:A", "LLM:M"), assigns("VariableAssigner:A"),
				asks("LLM:L", 1, ""), asks("LLM:M", 1, "{env.n}")))),
			[]string{"VariableAssigner:A"},
		},
		{
			"a case that leads to both",
			eagerly(given("n", "", document(start("Switch:S", "LLM:L"), chooses("Switch:S", "VariableAssigner:A", "LLM:L"),
				assigns("VariableAssigner:A"), asks("LLM:L", 1, "{env.n}")))),
			[]string{"VariableAssigner:A", "LLM:L"},
		},
		{
			"a Switch that runs again",
			eagerly(given("n", "", document(start("Switch:S"), chooses("Switch:S", "VariableAssigner:A", "LLM:L"),
				assigns("VariableAssigner:A", "Switch:S"), asks("LLM:L", 1, "{env.n}")))),
			[]string{"Switch:S"},
		},
		{
			"ways of different length behind different cases",
			eagerly(given("n", "", document(start("Switch:S"), chooses("Switch:S", "LLM:A", "VariableAssigner:B"),
				asks("LLM:A", 1, "", "VariableAssigner:B"), assigns("VariableAssigner:B")))),
			nil,
		},
		{
			"a writer in a body whose elements run at once",
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
