package component_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestVariableAggregator(t *testing.T) {
	s := one(t, `VariableAggregator {"groups": [
		{"group_name": "a", "variables": [{"value": "begin@e"}, {"value": "{begin@z}"}, {"value": "begin@nope"}, `+
		`{"value": "begin@s"}, {"value": "sys.query"}]},
		{"group_name": "b", "variables": [{"value": "begin@z"}]},
		{"group_name": "c", "variables": ["sys.query"]}]}`, `{"e": "", "z": 0, "s": {"k": 1}}`)
	require.NoError(t, s.err)
	require.Equal(t, `{"a":{"k":1},"b":null,"c":"Q"}`, s.outputs["X"].JSON())
	require.Equal(t, `["sys.query"]`, s.inputs["X"].Get("c.variables").JSON())

	s = one(t, `VariableAggregator {"groups": [{"group_name": "a", "variables": [{"value": "env.nope"}]}]}`, `{}`)
	require.ErrorContains(t, s.err, `group "a": `)
	require.ErrorIs(t, s.err, engine.ErrRef)
}

func TestVariableAggregatorIsRefused(t *testing.T) {
	for param, params := range map[string]string{
		"groups":               `{"groups": []}`,
		"groups[0].group_name": `{"groups": [{"variables": ["sys.query"]}]}`,
		"groups[1].variables":  `{"groups": [{"group_name": "a", "variables": ["sys.query"]}, {"group_name": "b"}]}`,
		"groups[0].variables":  `{"groups": [{"group_name": "a", "variables": [5]}]}`,
	} {
		require.Contains(t, refused(t, `begin Begin`, `X VariableAggregator `+params), "parameter "+param)
	}
	require.Contains(t, refused(t, `begin Begin`, `X VariableAggregator`), "parameter groups")
}
