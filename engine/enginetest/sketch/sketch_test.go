package sketch_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestCanvasWritesLines(t *testing.T) {
	require.JSONEq(t, `{
		"settings": {"scheduling": "eager"},
		"components": {
			"begin": {"obj": {"component_name": "Begin", "params": {}}, "downstream": ["L", "M"], "upstream": []},
			"L": {"obj": {"component_name": "Loop", "params": {"note": "a -> b ^ c"}},
				"downstream": [], "upstream": ["begin"]},
			"M": {"obj": {"component_name": "Message", "params": {"content": [1.0]}},
				"downstream": ["N"], "upstream": ["begin"], "parent_id": "L"},
			"N": {"obj": {"component_name": "Message", "params": {}},
				"downstream": [], "upstream": ["M"], "parent_id": "L"}},
		"globals": {"sys.query": "", "sys.user_id": "", "sys.conversation_turns": 0, "sys.files": [], "env.x": [1]}}`,
		sketch.Canvas(
			`@settings {"scheduling": "eager"}`,
			"begin Begin -> L M",
			`L Loop {"note": "a -> b ^ c"}`,
			`M Message {"content": [1.0]} -> N ^ L`,
			"N Message ^ L",
			"=env.x [1]",
		))
}

func TestCanvasRefusesMalformedLines(t *testing.T) {
	for line, message := range map[string]string{
		"begin":          `sketch: line "begin": expected id, component, params, -> nodes, ^ container`,
		"a Message b":    `sketch: line "a Message b": expected id, component, params, -> nodes, ^ container`,
		"a Message {":    `sketch: line "a Message {": invalid JSON: unexpected EOF`,
		"=env.x":         `sketch: line "=env.x": invalid JSON: EOF`,
		"=env.x 1 2":     `sketch: line "=env.x 1 2": expected a name and one JSON value`,
		"a Message {} 1": `sketch: line "a Message {} 1": expected id, component, params, -> nodes, ^ container`,
	} {
		require.PanicsWithValue(t, message, func() { sketch.Canvas(line) })
	}
}

func TestChainConnectsNodesInARow(t *testing.T) {
	require.Equal(t,
		sketch.Canvas("begin Begin -> L", "L Loop -> M", "I LoopItem ^ L", "M Message -> L", "N Message"),
		sketch.Chain("begin Begin", "L Loop", "I LoopItem ^ L", "M Message -> L", "N Message"))
}
