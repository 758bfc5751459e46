package component_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// An operator or another closed word that does not exist is an error of validation, at its place.
func TestUnknownOperatorsAreProblems(t *testing.T) {
	const begin, body = "begin Begin -> X", "LI LoopItem ^ X"
	tests := []struct{ node, param, message string }{
		{
			`Switch {"conditions": [{"items": [{}, {"cpn_id": "sys.query", "operator": "contain"}], "to": ["begin"]}]` +
				`, "end_cpn_ids": ["begin"]}`,
			"conditions[0].items[1].operator", `did you mean "contains"?`,
		},
		{
			`Switch {"conditions": [{"logical_operator": "xor", "to": ["begin"]}], "end_cpn_ids": ["begin"]}`,
			"conditions[0].logical_operator", `"xor" is not supported; use and or or`,
		},
		{
			`Loop {"loop_termination_condition": [{"variable": "sys.query", "operator": "resembles"}]}`,
			"loop_termination_condition[0].operator", `"resembles" is not supported`,
		},
		{
			`Loop {"loop_termination_condition": [{"variable": "sys.query", "operator": "=", "input_mode": "x"}]}`,
			"loop_termination_condition[0].input_mode", "use constant or variable",
		},
		{`Loop {"maximum_loop_count": 1, "logical_operator": "nor"}`, "logical_operator", "use and or or"},
		{
			`Loop {"maximum_loop_count": 1, "loop_variables": [{"variable": "v", "input_mode": "x"}]}`,
			"loop_variables[0].input_mode", "use constant or variable",
		},
		{
			`ListOperations {"query": "sys.files", "operations": "filter", "filter": {"operator": "zz"}}`,
			"filter.operator", `"zz" is not supported`,
		},
		{
			`ListOperations {"query": "sys.files", "operations": "sort", "sort_method": "down"}`,
			"sort_method", "use asc or desc",
		},
		{
			`DataOperations {"operations": "filter_values", ` +
				`"filter_values": [{"key": "a"}, {"key": "b", "operator": "~"}]}`,
			"filter_values[1].operator", `"~" is not supported`,
		},
		{
			`VariableAssigner {"variables": [{"variable": "sys.query", "operator": "frobnicate"}]}`,
			"variables[0].operator", `"frobnicate" is not supported; use overwrite, clear,`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.node, func(t *testing.T) {
			c, err := engine.Load(registry(t), sketch.Bytes(begin, "X "+tt.node, body))
			require.NoError(t, err, "an unknown operator does not keep a canvas from loading")
			var found []engine.Diagnostic
			for _, d := range c.Validate() {
				if d.Code == engine.CodeUnknownOperator {
					found = append(found, d)
				}
			}
			require.Len(t, found, 1)
			require.Equal(t, engine.SeverityError, found[0].Severity)
			require.Equal(t, "X", found[0].Node)
			require.Equal(t, tt.param, found[0].Param)
			require.Contains(t, found[0].Message, tt.message)
		})
	}
}

// Words of an operation that is not in use have no effect, and are no problem.
func TestOperatorsOfOtherOperations(t *testing.T) {
	for _, node := range []string{
		`ListOperations {"query": "sys.files", "sort_method": "down", "filter": {"operator": "zz"}}`,
		`DataOperations {"operations": "combine", "filter_values": [{"key": "a", "operator": "~"}]}`,
	} {
		s := one(t, node, `{}`)
		require.NoError(t, s.err)
		c, err := engine.Load(registry(t), sketch.Bytes("begin Begin -> X", "X "+node))
		require.NoError(t, err)
		require.Empty(t, c.Validate())
	}
}

func TestLoopsWithoutTurnsAreReported(t *testing.T) {
	for params, want := range map[string]string{
		`{}`:                        "maximum_loop_count: no turn runs with a maximum of 0; set the number of turns",
		`{"maximum_loop_count": 0}`: "maximum_loop_count: no turn runs with a maximum of 0; set the number of turns",
		`{"maximum_loop_count": 3, "logical_operator": "and"}`: "loop_termination_condition: no turn runs without an " +
			"end condition and with logical_operator and; add a condition, or use or to run to the maximum",
		`{"maximum_loop_count": 3, "logical_operator": "or"}`: "",
		`{"maximum_loop_count": 3}`:                           "",
		`{"items": ["a"]}`:                                    "",
	} {
		c, err := engine.Load(registry(t), sketch.Bytes("begin Begin -> X", "X Loop "+params, "LI LoopItem ^ X"))
		require.NoError(t, err)
		found := ""
		for _, d := range c.Validate() {
			require.Equal(t, engine.SeverityWarning, d.Severity)
			found += d.Param + ": " + d.Message
		}
		require.Equal(t, want, found, params)
	}
}

// The original assigns null for an operator that does not exist, and continues; here it warns.
func TestUnknownAssignmentsWarn(t *testing.T) {
	s := one(t, `VariableAssigner {"variables": [{"variable": "env.a", "operator": "frobnicate"}, `+
		`{"variable": "env.n", "operator": "plus", "parameter": 2}]}`, `{}`, "=env.a 1", "=env.n 1")
	require.NoError(t, s.err)
	require.Len(t, s.notes, 1)
	require.Contains(t, s.notes[0], `X: {env.a}: operator "frobnicate" is not supported`)
	require.Contains(t, s.notes[0], "the variable becomes null")
}
