package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

// componentsField and conditionalWorkflow are canvases as documents show them: nodes without
// settings, and an edge to a component that is left out.
const (
	componentsField = `{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {"prologue": "How can I help you?", "mode": "Dialog", ` +
		`"inputs": {}}},
			"downstream": ["retrieval_0"], "upstream": []},
		"retrieval_0": {"obj": {"component_name": "Retrieval", "params": {"kb_ids": ["kb1"], "similarity_threshold": ` +
		`0.2, "top_n": 6}},
			"downstream": ["generate_0"], "upstream": ["begin"]},
		"generate_0": {"obj": {"component_name": "Generate", "params": {"llm_id": "model123", "temperature": 0.1, ` +
		`"cite": true}},
			"downstream": ["answer_0"], "upstream": ["retrieval_0"]}
	}}`
	conditionalWorkflow = `{"components": {
		"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["categorize_0"], "upstream": []},
		"categorize_0": {"obj": {"component_name": "Categorize", "params": {"query": "{sys.query}", ` +
		`"category_description": {
			"Technical": {"description": "Technical questions", "examples": ["How do I deploy?"], "to": ` +
		`["retrieval_tech"]},
			"General": {"description": "General questions", "examples": ["What is this?"], "to": ` +
		`["retrieval_general"]}}}},
			"downstream": [], "upstream": ["begin"]},
		"retrieval_tech": {"obj": {"component_name": "Retrieval", "params": {"kb_ids": ["kb_technical"]}}, ` +
		`"downstream": ["generate_0"], "upstream": []},
		"retrieval_general": {"obj": {"component_name": "Retrieval", "params": {"kb_ids": ["kb_general"]}}, ` +
		`"downstream": ["generate_0"], "upstream": []},
		"generate_0": {"obj": {"component_name": "Generate", "params": {}}, "downstream": ["message_0"], "upstream": []}
	}}`
)

func TestLoadAcceptsAnEdgeToAMissingNode(t *testing.T) {
	reg := builtins(t)
	for name, tt := range map[string]struct{ dsl, missing, path string }{
		"after the last node": {
			componentsField,
			`warning: generate_0, downstream: "answer_0" names no component of this canvas`,
			"begin retrieval_0 generate_0",
		},
		"after a branch": {
			conditionalWorkflow,
			`warning: generate_0, downstream: "message_0" names no component of this canvas`,
			"begin categorize_0 retrieval_tech generate_0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			problems := engine.Validate(reg, []byte(tt.dsl))
			require.Len(t, problems, 1)
			require.Contains(t, problems[0].String(), tt.missing)

			c, err := engine.Load(reg, []byte(tt.dsl))
			require.NoError(t, err)
			st := c.State()
			finished := false
			ports := engine.Ports{Model: enginetest.FixedModel("Technical")}
			for e, err := range c.Run(t.Context(), st, engine.Input{Query: engine.String("How do I deploy?")},
				engine.Options{Ports: ports}) {
				require.NoError(t, err)
				finished = finished || e.Type == engine.EventWorkflowFinished
			}
			require.True(t, finished)
			require.Equal(t, strings.Fields(tt.path), st.Path())
			content, _ := st.Output("generate_0", "content")
			require.Equal(t, "Technical", content.Text(), "a model node without settings takes the defaults")
		})
	}
}

func TestLoadRefusesAnEdgeThatIsNotAnID(t *testing.T) {
	_, err := engine.Load(builtins(t),
		[]byte(`{"components": {"begin": {"obj": {"component_name": "Begin"}, "downstream": [5]}}}`))
	require.EqualError(t, err,
		`component "begin", Begin, parameter downstream: 5 is a number; expected the id of a component`)
}

func TestLoadRefusesParentsThatEncloseThemselves(t *testing.T) {
	for name, parents := range map[string]string{
		"itself": `{"A": "A"}`, "two": `{"A": "B", "B": "A"}`, "three": `{"A": "B", "B": "C", "C": "A"}`,
		"above a chain": `{"A": "B", "B": "C", "C": "C"}`,
	} {
		t.Run(name, func(t *testing.T) {
			reg := builtins(t)
			dsl := []byte(`{"components": {"begin": {"obj": {"component_name": "Begin"}, "downstream": ["A"]}`)
			of, err := engine.ParseJSONText(parents)
			require.NoError(t, err)
			for id, parent := range of.Fields() {
				dsl = append(dsl, `,"`+id+`": {"obj": {"component_name": "Loop"}, "parent_id": "`+parent.Str()+`"}`...)
			}
			dsl = append(dsl, `}}`...)
			_, err = engine.Load(reg, dsl)
			require.ErrorContains(t, err, "leads back to the component itself")
			require.Contains(t, problemLines(engine.Validate(reg, dsl)), "leads back to the component itself")
		})
	}
}

// Bodies in bodies are bounded, since much of the work on a node walks through those around it.
func TestDeepNesting(t *testing.T) {
	nested := func(n int) []byte {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"id": "I%d", "parentId": "I%d", "data": {"label": "Iteration"}}`, i, i-1)
		}
		return []byte(`{"nodes": [{"id": "begin", "data": {"label": "Begin"}}` + b.String() + `]}`)
	}
	reg := builtins(t)
	_, err := engine.Load(reg, nested(101))
	require.NoError(t, err)
	_, err = engine.Load(reg, nested(102))
	require.EqualError(t, err,
		`component "I101", Iteration, parameter parent_id: "I100" lies in more than 100 bodies`)
}
