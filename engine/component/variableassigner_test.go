package component_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// assign runs assignments and returns the globals afterwards.
func assign(t testing.TB, assignments string, globals ...string) *seen {
	t.Helper()
	return one(t, `VariableAssigner {"variables": [`+assignments+`]}`,
		`{"s": "S", "n": 4, "f": 1.5, "l": ["p", "q"], "ln": [1, 2], "none": null, "o": {"k": 1}}`, globals...)
}

func TestVariableAssignerOperators(t *testing.T) {
	tests := []struct{ before, operator, parameter, after string }{
		{`"x"`, "overwrite", `"begin@o"`, `{"k":1}`},
		{`"x"`, "overwrite", `"{begin@none}"`, `null`},
		{`"x"`, "overwrite", `[1]`, `[1]`},

		{`"x"`, "set", `"v {sys.query} {begin@l} {begin@none}w"`, `"v Q [\"p\", \"q\"] w"`},
		{`null`, "set", `"x{begin@n}"`, `"x4"`},
		{`5`, "set", `"{sys.query}"`, `"{sys.query}"`},
		{`"x"`, "set", `9`, `9`},
		{`[1]`, "set", `["z"]`, `["z"]`},

		{`"x"`, "clear", `"y"`, `""`},
		{`[1]`, "clear", `null`, `[]`},
		{`{"a": 1}`, "clear", `null`, `{}`},
		{`5`, "clear", `null`, `0`},
		{`5.5`, "clear", `null`, `0.0`},
		{`true`, "clear", `null`, `false`},
		{`null`, "clear", `null`, `null`},

		{`[3]`, "append", `"begin@n"`, `[3,4]`},
		{`[]`, "append", `"begin@s"`, `["S"]`},
		{`null`, "append", `"begin@n"`, `[4]`},
		{`[3]`, "append", `"begin@s"`, `"ERROR:PARAMETER_NOT_LIST_ELEMENT_TYPE"`},
		{`[3]`, "append", `"begin@f"`, `"ERROR:PARAMETER_NOT_LIST_ELEMENT_TYPE"`},
		{`"a,b"`, "append", `"begin@n"`, `"ERROR:VARIABLE_NOT_LIST"`},

		{`["a"]`, "extend", `"begin@l"`, `["a","p","q"]`},
		{`null`, "extend", `"begin@l"`, `["p","q"]`},
		{`[]`, "extend", `"begin@ln"`, `[1,2]`},
		{`[1, 2]`, "extend", `"env.x"`, `[1,2,1,2]`},
		{`["a"]`, "extend", `"begin@s"`, `"ERROR:PARAMETER_NOT_LIST"`},
		{`["a"]`, "extend", `"begin@ln"`, `"ERROR:PARAMETER_NOT_LIST_ELEMENT_TYPE"`},
		{`1`, "extend", `"begin@l"`, `"ERROR:VARIABLE_NOT_LIST"`},

		{`[1, 2, 3]`, "remove_first", `null`, `[2,3]`},
		{`[1, 2, 3]`, "remove_last", `null`, `[1,2]`},
		{`[]`, "remove_first", `null`, `[]`},
		{`""`, "remove_last", `null`, `""`},
		{`"text"`, "remove_first", `null`, `"ERROR:VARIABLE_NOT_LIST"`},
		{`{"a": 1}`, "remove_first", `null`, `"ERROR:VARIABLE_NOT_LIST"`},

		{`5`, "+=", `2`, `7`},
		{`5`, "-=", `7`, `-2`},
		{`5`, "*=", `3`, `15`},
		{`5`, "/=", `2`, `2.5`},
		{`4`, "/=", `2`, `2.0`},
		{`1`, "+=", `0.5`, `1.5`},
		{`9223372036854775807`, "+=", `1`, `9.223372036854775807e+18`},
		{`-9223372036854775808`, "*=", `-1`, `9.223372036854775808e+18`},
		{`5`, "/=", `0`, `"ERROR:DIVIDE_BY_ZERO"`},
		{`5`, "+=", `"2"`, `"ERROR:VARIABLE_NOT_NUMBER or PARAMETER_NOT_NUMBER"`},
		{`true`, "+=", `1`, `"ERROR:VARIABLE_NOT_NUMBER or PARAMETER_NOT_NUMBER"`},

		{`3`, "zzz", `1`, `null`},
	}
	for _, tt := range tests {
		t.Run(tt.before+" "+tt.operator+" "+tt.parameter, func(t *testing.T) {
			s := assign(t, `{"variable": "env.x", "operator": "`+tt.operator+`", "parameter": `+tt.parameter+`}`,
				`=env.x `+tt.before)
			require.NoError(t, s.err)
			after, _ := s.state.Global("env.x")
			require.True(t, engine.Equal(value(t, tt.after), after), "%s", after.JSON())
			require.Equal(t, value(t, tt.after).IsInt(), after.IsInt())
		})
	}
}

func TestVariableAssignerOrder(t *testing.T) {
	tests := []struct{ name, assignments, want string }{
		{
			"each assignment sees the ones before it",
			`{"variable": "env.n", "operator": "+=", "parameter": 1}, ` +
				`{"variable": "env.n", "operator": "*=", "parameter": 3}`, `{"n":6}`,
		},
		{
			"also in text",
			`{"variable": "env.s", "operator": "set", "parameter": "a"}, ` +
				`{"variable": "env.s", "operator": "set", "parameter": "{env.s}b"}`, `{"s":"ab"}`,
		},
		{
			"also for a parent path",
			`{"variable": "env.o.x.y", "operator": "set", "parameter": 1}, ` +
				`{"variable": "env.t", "operator": "overwrite", "parameter": "env.o"}`,
			`{"o":{"x":{"y":1}},"t":{"x":{"y":1}}}`,
		},
		{
			"also for a child path",
			`{"variable": "env.o", "operator": "overwrite", "parameter": "begin@o"}, ` +
				`{"variable": "env.t", "operator": "overwrite", "parameter": "env.o.k"}`, `{"o":{"k":1},"t":1}`,
		},
		{
			"a path sets only that member", `{"variable": "env.p.a", "operator": "set", "parameter": 1}`,
			`{"p":{"a":1,"b":0}}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := assign(t, tt.assignments, `=env.n 1`, `=env.s ""`, `=env.o null`, `=env.t 0`,
				`=env.p {"a": 0, "b": 0}`)
			require.NoError(t, s.err)
			for name, want := range value(t, tt.want).Fields() {
				got, _ := s.state.Global("env." + name)
				require.Equal(t, want.JSON(), got.JSON(), name)
			}
		})
	}
}

func TestVariableAssignerWritesOutputs(t *testing.T) {
	s := one(t, `VariableAssigner {"variables": [{"variable": "begin@o.x", "operator": "set", "parameter": "one"}, `+
		`{"variable": "begin@fresh.p", "operator": "set", "parameter": "two"}]} -> M`,
		`{"o": {"x": 1, "y": 2}}`, `M Message {"content": "{begin@o} {begin@fresh}"}`)
	require.NoError(t, s.err)
	require.Equal(t, `{"x": "one", "y": 2} {"p": "two"}`, s.said)
}

func TestVariableAssignerNeverChangesAListInPlace(t *testing.T) {
	s := one(t, `VariableAssigner {"variables": `+
		`[{"variable": "env.a", "operator": "overwrite", "parameter": "begin@l"}, `+
		`{"variable": "env.a", "operator": "append", "parameter": "begin@n"}]} -> M`,
		`{"l": [1], "n": 2}`, `M Message {"content": "{begin@l}{env.a}"}`, `=env.a null`)
	require.Equal(t, `[1][1, 2]`, s.said)
}

func TestVariableAssignerAloneSeesItsOwnChanges(t *testing.T) {
	c, err := engine.Load(registry(t), sketch.Bytes(`=env.a 0`, "begin Begin -> X",
		`X VariableAssigner {"variables": [{"variable": "env.a", "operator": "+=", "parameter": 2}, {"variable": "env.a", "operator": "*=", "parameter": 10}]}`))
	require.NoError(t, err)
	st := c.State()
	_, err = c.Debug(t.Context(), st, "X", value(t, `{"env.a": 1}`), engine.Options{})
	require.NoError(t, err)
	a, _ := st.Global("env.a")
	require.Equal(t, "30", a.JSON(), "(1 + 2) * 10, from the value given by hand")
}

func TestVariableAssignerErrors(t *testing.T) {
	for want, assignment := range map[string]string{
		"Can't find variable: " +
			"'env.nope'": `{"variable": "env.nope", "operator": "set", "parameter": 1}`,
		"{env.x}: overwrite: reference to " +
			"nothing": `{"variable": "env.x", "operator": "overwrite", "parameter": "env.nope"}`,
		"{env.x}: set: reference to " +
			"nothing": `{"variable": "env.x", "operator": "set", "parameter": "{Nope@x}"}`,
		"{env.x}: remove_last: the variable is a " +
			"null": `{"variable": "env.x", "operator": "remove_last"}`,
		"variables[0] is incomplete; expected a variable and an oper": `{"variable": "", "operator": "clear"}`,
	} {
		s := assign(t, assignment, `=env.x null`)
		require.ErrorContains(t, s.err, want)
		x, _ := s.state.Global("env.x")
		require.True(t, x.IsNull(), "nothing was written")
	}
	require.Contains(t, refused(t, `begin Begin`, `X VariableAssigner {"variables": {}}`), "parameter variables")
}
