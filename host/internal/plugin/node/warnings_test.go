package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
)

const strictManifest = `{
	"params": {"type": "object", "required": ["account", "units"], "properties": {
		"account": {"type": "string"}, "units": {"type": "string", "default": "c"}}},
	"arguments": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}}`

// TestValidateNamesParams checks the diagnostics for the params of a plugin: required ones that are
// missing, and unknown ones. The arguments of a tool come from a model.
func TestValidateNamesParams(t *testing.T) {
	type found struct{ code, param, message string }
	const missing = "required parameter is missing; the node fails without it"
	const literal = "is passed to the plugin as text; this parameter takes no references"
	for _, c := range []struct {
		name  string
		lines []string
		want  []found
	}{
		{
			"a node without its params",
			[]string{"begin Begin -> P", `P plugin:sample@1 {"citty": "Oslo", "max_retries": 1}`},
			[]found{
				{engine.CodeBadParam, "account", missing},
				{engine.CodeUnknownParam, "citty", `unknown parameter, which has no effect; did you mean "city"?`},
				{engine.CodeBadParam, "city", missing},
			},
		},
		{
			"a node with its params",
			[]string{"begin Begin -> P", `P plugin:sample@1 {"account": "a", "city": "{sys.query}"}`},
			nil,
		},
		{
			"a reference in a param that takes none",
			[]string{
				"begin Begin -> P",
				`P plugin:sample@1 {"account": "{sys.query}!", "units": "a@b.c {{secret:x}}", "city": "Oslo"}`,
			},
			[]found{{engine.CodeBadParam, "account", "{sys.query} " + literal}},
		},
		{
			"a tool",
			[]string{
				"begin Begin -> A",
				`A Agent {"tools": [{"component_name": "plugin:sample@1", "params": {}}]}`,
			},
			[]found{{engine.CodeBadParam, "tools", "tool plugin:sample@1: account: " + missing}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShop(t, node.Config{})
			s.add(mirror, strictManifest)
			var got []found
			for _, d := range engine.Validate(s.registry(), canvas(t, c.lines...)) {
				if d.Code == engine.CodeBadParam || d.Code == engine.CodeUnknownParam {
					got = append(got, found{d.Code, d.Param, d.Message})
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// A plugin that declares arguments alone is no reason to be silent about a misspelt one.
func TestValidateNamesUndeclaredParams(t *testing.T) {
	for name, c := range map[string]struct{ manifest, want string }{
		"arguments": {
			`{"arguments": {"type": "object", "properties": {"city": {"type": "string"}}}}`,
			`unknown parameter, which the plugin does not declare; did you mean "city"?`,
		},
		"nothing": {`{}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, node.Config{})
			s.add(mirror, c.manifest)
			got := ""
			misspelt := canvas(t, "begin Begin -> P", `P plugin:sample@1 {"citty": "Oslo"}`)
			for _, d := range engine.Validate(s.registry(), misspelt) {
				if d.Code == engine.CodeUnknownParam {
					got += d.Message
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}
