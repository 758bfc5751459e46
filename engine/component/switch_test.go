package component_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

func TestSwitchOperators(t *testing.T) {
	const inputs = `{"s": "Hello", "n": 5, "big": 12345678901234567890, "f": 5.0, "z": 0, "t": true, "l": ["A", ` +
		`5], "o": {"k": 1}, "none": null, "ten": "10", "e": ""}`
	tests := []struct {
		left, operator, right string
		want                  bool
	}{
		{"s", "contains", `"ELL"`, true},
		{"s", "contains", `"zz"`, false},
		{"s", "not contains", `"zz"`, true},
		{"s", "start with", `"he"`, true},
		{"s", "end with", `"LO"`, true},
		{"s", "=", `"Hello"`, true},
		{"s", "=", `"hello"`, false},
		{"s", "≠", `"hello"`, true},
		{"s", ">", `"5"`, true},
		{"s", "≤", `"Hello"`, true},
		{"ten", ">", `"9"`, true},
		{"ten", "<", `"9"`, false},
		{"ten", ">", `9`, true},
		{"ten", "=", `10`, false},
		{"n", "=", `"5"`, true},
		{"n", "=", `" 5.0 "`, true},
		{"n", "=", `""`, false},
		{"n", "≠", `"five"`, true},
		{"n", "≥", `"5"`, true},
		{"n", ">", `"five"`, false},
		{"n", "contains", `"5"`, false},
		{"f", "=", `"5"`, true},
		{"big", "=", `"12345678901234567891"`, false},
		{"t", "=", `true`, true},
		{"t", "=", `"1"`, false},
		{"t", "=", `"true"`, false},
		{"t", ">", `"0"`, false},
		{"z", "empty", `""`, true},
		{"e", "empty", `""`, true},
		{"none", "empty", `""`, true},
		{"none", "contains", `"a"`, false},
		{"none", "=", `""`, false},
		{"none", ">", `"0"`, false},
		{"s", "not empty", `""`, true},
		{"l", "contains", `"a"`, true},
		{"l", "contains", `"5"`, true},
		{"l", "not contains", `"b"`, true},
		{"o", "contains", `"K"`, true},
		{"o", "not contains", `"k"`, false},
		{"o", "contains", `5`, false},
		{"s", "in", `"x, HELLO"`, true},
		{"s", "in", `["x", "hello"]`, true},
		{"s", "in", `"x"`, false},
		{"s", "in", `5`, false},
		{"s", "not in", `"x,hello"`, false},
		{"s", "notin", `"x"`, true},
		{"n", "in", `"4, 5.0"`, true},
		{"n", "oneof", `[4, 6]`, false},
		{"t", "in", `[true]`, true},
		{"none", "in", `"a"`, false},
		{"s", "startsWith", `"he"`, true},
		{"s", "!contains", `"zz"`, true},
		{"n", ">=", `5`, true},
		{"n", "!=", `6`, true},
		{"e", " Is  Empty ", `""`, true},
		{"o", "empty", `""`, false},
	}
	for _, tt := range tests {
		t.Run(tt.left+" "+tt.operator+" "+tt.right, func(t *testing.T) {
			s := one(t, `Switch {"conditions": [{"logical_operator": "and", "items": `+
				`[{"cpn_id": "begin@`+tt.left+`", "operator": "`+tt.operator+`", "value": `+
				tt.right+`}], "to": ["Y"]}], "end_cpn_ids": ["N"]}`,
				inputs, `Y Message {"content": "yes"}`, `N Message {"content": "no"}`)
			require.NoError(t, s.err)
			require.Equal(t, map[bool]string{true: "yes", false: "no"}[tt.want], s.said)
		})
	}
}

func TestSwitchConditions(t *testing.T) {
	const yes = `{"cpn_id": "sys.query", "operator": "=", "value": "Q"}`
	const no = `{"cpn_id": "sys.query", "operator": "=", "value": "x"}`
	const blank = `{"cpn_id": "", "operator": "=", "value": "x"}`
	tests := []struct {
		name, logic, items string
		want               bool
	}{
		{"and fails if one item fails", "and", yes + "," + no, false},
		{"and holds if all items hold", "and", yes + "," + yes, true},
		{"or holds if one item holds", "or", no + "," + yes, true},
		{"or fails if no item holds", "or", no + "," + no, false},
		{"items without a reference are ignored", "and", blank + "," + yes, true},
		{"no usable item never holds", "and", blank, false},
		{"no item never holds", "or", ``, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := one(t, `Switch {"conditions": [{"logical_operator": "`+tt.logic+`", "items": [`+
				tt.items+`], "to": ["Y"]}], "end_cpn_ids": ["N"]}`,
				`{}`, `Y Message {"content": "yes"}`, `N Message {"content": "no"}`)
			require.NoError(t, s.err)
			require.Equal(t, map[bool]string{true: "yes", false: "no"}[tt.want], s.said)
		})
	}
}

// A branch without targets loads; the node fails when it is chosen.
func TestSwitchLeadsNowhere(t *testing.T) {
	const fails = `"items": [{"cpn_id": "sys.query", "operator": "="}]`
	const holds = `"items": [{"cpn_id": "sys.query", "operator": "exists"}]`
	for params, want := range map[string]string{
		`{"conditions": [{` + fails + `, "to": ["Y"]}], "end_cpn_ids": []}`: "end_cpn_ids",
		`{"conditions": [{` + fails + `, "to": ["Y"]}]}`:                    "end_cpn_ids",
		`{"conditions": [{` + holds + `}], "end_cpn_ids": ["Y"]}`:           "conditions[0].to",
		`{"conditions": [{` + holds + `, "to": []}], "end_cpn_ids": ["Y"]}`: "conditions[0].to",
	} {
		s := one(t, `Switch `+params, `{}`, `Y Message {"content": "y"}`)
		require.ErrorContains(t, s.err, want+": reference to nothing: the chosen branch leads nowhere")
		c, err := engine.Load(registry(t),
			sketch.Bytes("begin Begin -> X", "X Switch "+params, `Y Message {"content": "y"}`))
		require.NoError(t, err)
		require.Contains(t, c.Validate(), engine.Diagnostic{
			Severity: engine.SeverityWarning, Code: engine.CodeUnknownTarget, Node: "X", Param: want,
			Message: "leads nowhere: choosing this branch is an error; connect it to a node",
		})
	}
}

func TestSwitchShowsItsDecision(t *testing.T) {
	s := one(t, `Switch {"conditions": [{"items": [{"cpn_id": "{begin@a}", "operator": "empty"}], "to": `+
		`["Y", "N"]}], "end_cpn_ids": ["N"]}`,
		`{}`, `Y Message {"content": "y"}`, `N Message {"content": "n"}`)
	require.NoError(t, s.err)
	require.Equal(t, `{"begin@a":""}`, s.inputs["X"].JSON())
	require.Equal(t, `["Y","N"]`, s.outputs["X"].Get("_next").JSON())
	require.Equal(t, "yn", s.said)
}

func TestSwitchErrors(t *testing.T) {
	s := one(t,
		`Switch {"conditions": [{"items": [{"cpn_id": "begin@a", "operator": "resembles"}], "to": ["Y"]}], "end_cpn_ids": `+
			`["Y"]}`, `{}`, `Y Message {"content": "y"}`)
	require.ErrorContains(t, s.err, `operator "resembles" is not supported`)
	s = one(t, `Switch {"conditions": [{"logical_operator": "xor", "to": ["Y"]}], "end_cpn_ids": ["Y"]}`, `{}`,
		`Y Message {"content": "y"}`)
	require.ErrorContains(t, s.err, `logical_operator "xor" is not supported; use and or or`)
	s = one(t,
		`Switch {"conditions": [{"items": [{"cpn_id": "Nope@a", "operator": "empty"}], "to": `+
			`["Y"]}], "end_cpn_ids": ["Y"]}`, `{}`, `Y Message {"content": "y"}`)
	require.ErrorIs(t, s.err, engine.ErrRef)
	for param, params := range map[string]string{
		"conditions":       `{"end_cpn_ids": ["begin"]}`,
		"conditions[0].to": `{"conditions": [{"to": "begin"}], "end_cpn_ids": ["begin"]}`,
	} {
		require.Contains(t, refused(t, `begin Begin`, `X Switch `+params), "parameter "+param+":")
	}
	require.Contains(t, refused(t, `begin Begin`,
		`X Switch {"conditions": [{"to": ["begin"]}], "end_cpn_ids": "begin"}`), "parameter end_cpn_ids:")
}
