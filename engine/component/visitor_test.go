package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// A visitor answers the fields of a form, but no approval in it unless the canvas allows it.
func TestVisitorsAnswerFormsButNoApprovals(t *testing.T) {
	registry, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	for settings, approves := range map[string]bool{`{}`: false, `{"visitors_approve": true}`: true} {
		c, err := engine.Load(registry, sketch.Bytes("@settings "+settings, "begin Begin -> F X",
			`F UserFillUp {"inputs": {"city": {"name": "City", "type": "line"}}}`,
			`X StringTransform {"approval": true, "method": "merge", "script": "merged {sys.query}", "delimiters": [","]}`))
		require.NoError(t, err)
		first := play(t, c, nil, engine.Null, engine.Options{})
		require.NoError(t, first.err)
		require.Equal(t, []string{"approval:X"}, names(first.asked))

		given := engine.Object("city", "Oslo", "approval:X", "yes",
			"approval:X"+engine.ArgumentsSuffix, `{"sys.query": "other"}`)
		second := playAs(t, c, first.state, engine.Input{Inputs: given, Visitor: true}, engine.Options{})
		require.NoError(t, second.err)
		if approves {
			require.Equal(t, "merged other", second.outs.Get("result").Text())
			continue
		}
		require.Empty(t, second.outs.Get("result").Text())
		require.Equal(t, []string{"approval:X"}, names(second.asked))
		require.True(t, second.asked.Get("city").IsNull(), "the answer to the field counts: %s", second.asked.JSON())

		third := play(t, c, second.state, decided(second.asked, "yes", ""), engine.Options{})
		require.NoError(t, third.err)
		require.Equal(t, "merged q", third.outs.Get("result").Text(), "what the visitor wrote is not taken later")
	}
}
