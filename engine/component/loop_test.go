package component_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// counting is the body of a loop that adds one to n in each turn.
var counting = []string{
	`LI LoopItem -> A ^ X`,
	`A VariableAssigner {"variables": [{"variable": "X@n", "operator": "+=", "parameter": 1}]} ^ X`,
}

const fromZero = `"loop_variables": [{"variable": "n", "input_mode": "constant", "type": "number", "value": 0}]`

func TestLoopEnds(t *testing.T) {
	until := func(logic, conditions string, most int) string {
		return `"logical_operator": "` + logic + `", "loop_termination_condition": [` + conditions +
			`], "maximum_loop_count": ` + strconv.Itoa(most)
	}
	const two = `{"variable": "X@n", "operator": "≥", "value": 2, "input_mode": "constant"}`
	const three = `{"variable": "{X@n}", "operator": "=", "value": 3}`
	const input = `{"variable": "X@n", "operator": "=", "value": "begin@four", "input_mode": "variable"}`
	tests := []struct {
		name, params string
		want         string
	}{
		{"when its condition holds", until("and", two, 10), "2"},
		{"when all conditions hold", until("and", two+","+three, 10), "3"},
		{"when one condition holds", until("or", two+","+three, 10), "2"},
		{"on a value of the canvas", until("and", input, 10), "4"},
		{"at its maximum", until("and", three, 2), "2"},
		{"immediately with a maximum of 0", until("and", three, 0), "0"},
		{"immediately without conditions and with and", until("and", ``, 5), "0"},
		{"at its maximum without conditions and with or", until("or", ``, 5), "5"},
		{"at its maximum without conditions and operator", `"maximum_loop_count": 5`, "5"},
		{"with a synonym of or", until("any", two+","+three, 10), "2"},
		{"and is the default", `"loop_termination_condition": [` + two + `,` + three +
			`], "maximum_loop_count": 9`, "3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `Loop {`+fromZero+`, `+tt.params+`} -> M`, `{"four": 4}`,
				append(counting, `M Message {"content": "{X@n}"}`)...)
			require.NoError(t, s.err)
			require.Equal(t, tt.want, s.said)
		})
	}
}

func TestLoopConditionOperators(t *testing.T) {
	const inputs = `{"s": "Abc", "n": 5, "f": 5.0, "t": true, "l": [1, "a"], "o": {"k": 1}, "none": ` +
		`null, "e": "", "el": [], "eo": {}}`
	const unknown = "error"
	tests := []struct{ left, operator, right, want string }{
		{"s", "contains", `"bc"`, "true"},
		{"s", "contains", `"BC"`, "false"},
		{"s", "contains", `5`, "false"},
		{"s", "not contains", `"x"`, "true"},
		{"s", "start with", `"Ab"`, "true"},
		{"s", "end with", `"C"`, "false"},
		{"s", "is", `"Abc"`, "true"},
		{"s", "is not", `"abc"`, "true"},
		{"s", "empty", `null`, "false"},
		{"e", "empty", `null`, "true"},
		{"s", ">", `"A"`, unknown},
		{"s", "=", `"Abc"`, "true"},
		{"s", "Equals", `"abc"`, "false"},
		{"s", "starts with", `"A"`, "true"},
		{"n", "=", `5.0`, "true"},
		{"n", "=", `"5"`, "false"},
		{"n", "≠", `"5"`, "true"},
		{"n", ">", `4`, "true"},
		{"n", "<", `"9"`, "false"},
		{"n", "≥", `5`, "true"},
		{"n", "≤", `4.9`, "false"},
		{"n", "empty", `null`, "false"},
		{"n", "not empty", `null`, "true"},
		{"n", "is", `5`, "true"},
		{"n", "is not", `5`, "false"},
		{"n", ">=", `5`, "true"},
		{"n", "contains", `5`, unknown},
		{"t", "is", `true`, "true"},
		{"t", "is not", `false`, "true"},
		{"t", "=", `true`, "true"},
		{"t", "=", `1`, "false"},
		{"t", ">", `false`, "true"},
		{"l", "contains", `1.0`, "true"},
		{"l", "contains", `"1"`, "false"},
		{"l", "not contains", `"a"`, "false"},
		{"l", "is", `[1, "a"]`, "true"},
		{"l", "is not", `[]`, "true"},
		{"l", "≠", `[]`, "true"},
		{"el", "empty", `null`, "true"},
		{"l", ">", `1`, unknown},
		{"o", "empty", `null`, "false"},
		{"eo", "empty", `null`, "true"},
		{"o", "not empty", `null`, "true"},
		{"o", "contains", `"k"`, unknown},
		{"none", "empty", `null`, "true"},
		{"none", "is", `null`, "false"},
		{"none", "not empty", `null`, "false"},
		{"none", "zzz", `null`, unknown},
	}
	for _, tt := range tests {
		t.Run(tt.left+" "+tt.operator+" "+tt.right, func(t *testing.T) {
			s := one(t, `Loop {"maximum_loop_count": 1, "loop_termination_condition": [{"variable": "begin@`+
				tt.left+`", "operator": "`+tt.operator+`", "value": `+tt.right+`}]}`,
				inputs, `LI LoopItem -> S ^ X`, `S Message {"content": "turn"} ^ X`)
			if tt.want == unknown {
				require.ErrorContains(t, s.err, strconv.Quote(tt.operator))
				return
			}
			require.NoError(t, s.err)
			require.Equal(t, map[string]string{"true": "", "false": "turn"}[tt.want], s.said)
		})
	}
}

func TestLoopVariables(t *testing.T) {
	tests := []struct{ name, variable, want string }{
		{
			"a constant is used unchanged", `{"variable": "v", "input_mode": "constant", "value": "{sys.query}"}`,
			`{"v":"{sys.query}"}`,
		},
		{"a reference is resolved", `{"variable": "v", "input_mode": "variable", "value": "begin@l"}`, `{"v":[1]}`},
		{
			"without a value the zero value of the type",
			`{"variable": "v", "input_mode": "", "type": "array<number>"}`,
			`{"v":[]}`,
		},
		{"a missing number is zero", `{"variable": "v", "type": "number"}`, `{"v":0}`},
		{"an item without a name is ignored", `{"variable": "", "input_mode": "constant", "value": 1}`, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `Loop {"loop_variables": [`+tt.variable+`]}`, `{"l": [1]}`, `LI LoopItem ^ X`)
			require.NoError(t, s.err)
			require.Equal(t, tt.want, s.outputs["X"].JSON())
		})
	}
	s := one(t, `Loop {"loop_variables": [{"variable": "v", "input_mode": "variable", "value": "env.nope"}]}`, `{}`,
		`LI LoopItem ^ X`)
	require.ErrorContains(t, s.err, `loop variable "v": `)
	require.ErrorIs(t, s.err, engine.ErrRef)
}

func TestLoopOverItems(t *testing.T) {
	body := []string{`LI LoopItem -> S ^ X`, `S Message {"content": "{LI@index}{LI@item};"} ^ X`}
	for name, items := range map[string]string{
		"a list": `["a", "b"]`, "a reference": `"{begin@items}"`, "a bare reference": `"begin@items"`,
	} {
		t.Run(name, func(t *testing.T) {
			s := one(t, `Loop {"items": `+items+`, "outputs": {"all": {"ref": "S@content"}}}`, `{"items": ["a", "b"]}`,
				body...)
			require.NoError(t, s.err)
			require.Equal(t, "0a;1b;", s.said)
			require.Equal(t, `{"all":["0a;","1b;"]}`, s.outputs["X"].JSON())
		})
	}
	s := one(t, `Loop {"items": "sys.query"}`, `{}`, body...)
	require.ErrorContains(t, s.err, "items must be a list, but it is a string")
}

func TestExitLoop(t *testing.T) {
	s := one(t, `Loop {`+fromZero+`, "logical_operator": "or", "maximum_loop_count": 9} -> M`, `{}`,
		`LI LoopItem -> A ^ X`,
		`A VariableAssigner {"variables": [{"variable": "X@n", "operator": "+=", "parameter": 1}]} -> W ^ X`,
		`W Switch {"conditions": [{"items": [{"cpn_id": "X@n", "operator": "=", "value": 3}], "to": `+
			`["E"]}], "end_cpn_ids": ["N"]} ^ X`,
		`N Message {"content": "."} ^ X`, `E ExitLoop ^ X`, `M Message {"content": "n={X@n}"}`)
	require.NoError(t, s.err)
	require.Equal(t, "..n=3", s.said)
}

func TestLoopErrors(t *testing.T) {
	for want, params := range map[string]string{
		"condition is incomplete": `"loop_termination_condition": ` +
			`[{"variable": "", "operator": "="}]`,
		`logical_operator "xor" is not supported; use and or or`: `"logical_operator": "xor"`,
		`input_mode "ref" is not supported; use constant or variable`: `"loop_termination_condition": ` +
			`[{"variable": "sys.query", "operator": "=", "input_mode": "ref"}]`,
		"Can't find variable: 'env.nope'": `"loop_termination_condition": ` +
			`[{"variable": "env.nope", "operator": "="}]`,
		"its value is a number; expected a reference": `"loop_termination_condition": ` +
			`[{"variable": "sys.query", "operator": "is", "input_mode": "variable", "value": 1}]`,
	} {
		s := one(t, `Loop {"maximum_loop_count": 1, `+params+`}`, `{}`, `LI LoopItem ^ X`)
		require.ErrorContains(t, s.err, want)
		require.Equal(t, []string{"begin", "LI"}, s.order)
	}
	s := one(t, `LoopItem`, `{}`)
	require.ErrorContains(t, s.err, "needs a Loop as parent")
}
