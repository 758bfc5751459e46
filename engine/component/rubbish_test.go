package component

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// TestModelsWithInvalidAnswers checks that a run with any model answer ends, with an answer or with
// an error that names the node.
func TestModelsWithInvalidAnswers(t *testing.T) {
	const schema = `"outputs": {"structured": {"type": "object", "properties": {"a": {"type": "string"}}}}`
	nodes := []struct{ name, kind, params string }{
		{"a text", "LLM", `{}`},
		{"JSON", "LLM", `{` + schema + `}`},
		{"a category", "Categorize", `{"category_description": {"A": {"to": ["M"]}, "B": {"to": ["M"]}}}`},
		{"tool calls", "Agent", `{"max_rounds": 2, "tools": [` + echo + `]}`},
		{"tool calls, then JSON", "Agent", `{"max_rounds": 1, "tools": [` + echo + `], ` + schema + `}`},
	}
	answers := []string{
		"", " \n", "\x00\xff\xfe", "null", "5", "[1, 2]", `[{"name": 5}]`, `[{"name": "", "arguments": 1}]`,
		`{"a":[[[[[[`,
		"</think></think><think>", "<think>", strings.Repeat("[", 50_000), strings.Repeat(`{"a":`, 50_000),
		strings.Repeat("x", 1<<20),
	}
	for _, n := range nodes {
		t.Run(n.name, func(t *testing.T) {
			c := node(t, n.kind, n.params, "")
			for _, answer := range answers {
				s := run(t, c, nil, "q", engine.Null, engine.Ports{Model: enginetest.FixedModel(answer)})
				if s.err != nil {
					require.ErrorContains(t, s.err, n.kind)
					require.NotContains(t, s.err.Error(), "panic")
				}
			}
		})
	}
}
