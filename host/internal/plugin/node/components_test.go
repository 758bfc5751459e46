package node_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
)

const severalManifest = `{
	"settings": {"type": "object", "properties": {"region": {"type": "string", "default": "eu"}}},
	"components": [
		{"name": "sample", "description": "Gives back what it gets.",
			"arguments": {"type": "object", "properties": {"city": {"type": "string"}}}},
		{"name": "forecast", "display": {"en": "Forecast"}, "description": "Looks ahead.",
			"params": {"type": "object", "properties": {"days": {"type": "integer", "default": 3}}},
			"arguments": {"type": "object", "properties": {"place": {"type": "string"}}}},
		{"name": "sorter", "description": "Chooses.", "params": {"type": "object", "properties": {
			"rain": {"type": "array", "items": {"type": "string"}, "x-easel-branch": true}}}},
		{"name": "storms", "description": "Begins runs.", "trigger": "poll"}]}`

// several installs a file with several components.
func several(t *testing.T) *shop {
	s := newShop(t, node.Config{})
	m := s.add(mirror, severalManifest)
	for _, c := range m.Manifest().Nodes() {
		s.modules[c.NodeName()+"@1"] = m
	}
	return s
}

// TestComponentsOfAFileAreNodesOfTheirOwn runs two components of one file in a canvas.
func TestComponentsOfAFileAreNodesOfTheirOwn(t *testing.T) {
	got := several(t).play(t.Context(), engine.Ports{},
		"begin Begin -> A", `A plugin:sample@1 {"city": "{sys.query}"} -> B`,
		`B plugin:sample.forecast@1 {"place": "{A@arguments.city}", "city": "ignored"} -> M`,
		`M Message {"content": ["{B@call.component}"]}`)
	require.NoError(t, got.err)
	a, b := got.outputs["A"], got.outputs["B"]
	require.Equal(t, "sample", a.Get("call").Get("component").Str())
	require.JSONEq(t, `{"city": "Q"}`, a.Get("arguments").JSON())
	require.Equal(t, "forecast", b.Get("call").Get("component").Str())
	require.JSONEq(t, `{"place": "Q"}`, b.Get("arguments").JSON())
	require.JSONEq(t, `{"days": 3}`, b.Get("params").JSON())
	require.JSONEq(t, `{"region": "eu"}`, b.Get("call").Get("settings").JSON(), "settings are those of the file")
	require.Equal(t, []string{"forecast"}, got.said)
}

// TestComponentsDescribeThemselves reads the forms, branches and tools of the components of a file.
func TestComponentsDescribeThemselves(t *testing.T) {
	s := several(t)
	spec, ok := s.adapter.Lookup("plugin:sample.forecast@1")
	require.True(t, ok)
	require.Equal(t, "sample_forecast", spec.Tool.Function)
	require.False(t, spec.Params.Get("properties").Get("days").IsNull())
	require.True(t, spec.Params.Get("properties").Get("city").IsNull())
	spec, _ = s.adapter.Lookup("plugin:sample@1")
	require.Equal(t, "sample", spec.Tool.Function)
	spec, _ = s.adapter.Lookup("plugin:sample.sorter@1")
	require.Len(t, spec.Branches, 1)
	require.Nil(t, spec.Tool)
	spec, _ = s.adapter.Lookup("plugin:sample.storms@1")
	require.Contains(t, spec.Missing, "begins runs")

	s.modules["sample.snow@1"] = s.modules["sample@1"]
	spec, _ = s.adapter.Lookup("plugin:sample.snow@1")
	require.Contains(t, spec.Missing, "no component of that name (it has sample, forecast, sorter, storms")
	require.Equal(t, "sample_snow", spec.Tool.Function, "providers refuse functions with a point")
}

// TestBuiltInNames knows the components of a canvas, in whatever case they are written, but not the
// tools.
func TestBuiltInNames(t *testing.T) {
	registry, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	builtIn := node.BuiltIn(registry)
	for name, want := range map[string]bool{
		"begin": true, "userfillup": true, "Message": true, "tavilysearch": false, "forecast": false,
	} {
		require.Equal(t, want, builtIn(name), name)
	}
}
