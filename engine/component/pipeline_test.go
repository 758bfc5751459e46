package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestPipelinesLoadAndAreNotRun(t *testing.T) {
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	for _, name := range []string{"Parser", "TokenChunker", "TitleChunker", "Extractor", "Tokenizer", "Compiler", "Splitter", "HierarchicalMerger"} {
		c, err := engine.Load(reg, []byte(`{"components": {
			"File": {"obj": {"component_name": "File", "params": {}}, "downstream": ["A:1"]},
			"A:1": {"obj": {"component_name": "`+name+`", "params": {"llm_id": "m", "prompts": "{A:1@chunks}", "kept": {"a": 1}}}, "downstream": []}}}`))
		require.NoError(t, err, name)
		require.True(t, c.IsPipeline())
		require.Contains(t, string(c.Save(c.State())), `"kept":{"a":1}`)
		for _, err := range c.Run(t.Context(), c.State(), engine.Input{}, engine.Options{}) {
			require.ErrorIs(t, err, engine.ErrPipeline)
		}
	}
}
