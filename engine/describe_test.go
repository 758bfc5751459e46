package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestEveryComponentSaysWhatADrawingNeeds(t *testing.T) {
	categories, roles := map[string]bool{}, map[string]bool{"": true}
	for _, c := range engine.Categories() {
		categories[c.Word] = true
	}
	for _, r := range engine.Roles() {
		roles[r.Word] = true
	}
	groups := map[string]bool{}
	for _, g := range engine.Groups() {
		groups[g.Word] = g.Word != string(engine.GroupPlugins)
	}
	starts := 0
	for _, s := range builtins(t).Specs() {
		d := s.Describe()
		require.NotEmpty(t, s.Category, s.Name)
		require.NotEmpty(t, s.Icon, s.Name)
		require.True(t, categories[d.Get("category").Str()], s.Name)
		require.True(t, groups[d.Get("group").Str()], "%s is listed under its group", s.Name)
		require.True(t, roles[d.Get("role").Str()], s.Name)
		_, branches := s.New().(engine.Brancher)
		require.Equal(t, branches, len(s.Branches) > 0, "%s: a component that chooses names its branches", s.Name)
		for _, b := range s.Branches {
			param := d.Get("params").Get("properties").Get(b.Param)
			require.True(t, param.Truthy(), "%s has no param %q", s.Name, b.Param)
		}
		if s.Role == engine.RoleStart {
			starts++
		}
		if d.Get("role").Str() == string(engine.RoleItem) {
			require.NotEmpty(t, s.Label, s.Name)
		}
		for name, p := range d.Get("params").Get("properties").Fields() {
			require.NotEmpty(t, p.Get("title").Str(), "%s.%s", s.Name, name)
		}
	}
	require.Equal(t, 2, starts, "a canvas and a pipeline begin somewhere")
}

// bare is a component with the least description.
type bare struct{ engine.Component }

func TestDescribeOfAComponentThatSaysNothing(t *testing.T) {
	d := (&engine.Spec{Name: "Bare", New: func() engine.Component { return bare{} }}).Describe()
	require.Equal(t, "tool", d.Get("category").Str())
	require.Equal(t, "plugins", d.Get("group").Str())
	require.Equal(t, "box", d.Get("icon").Str())
	for _, absent := range []string{"role", "branches", "label", "stand_in", "ignores"} {
		require.True(t, d.Get(absent).IsNull(), absent)
	}
}

func TestRolesFollowFromWhatAComponentDoes(t *testing.T) {
	reg := builtins(t)
	for name, want := range map[string]string{
		"Begin": "start", "File": "start", "Iteration": "container", "Loop": "container", "IterationItem": "item",
		"LoopItem": "item", "Switch": "branch", "Categorize": "branch", "ExitLoop": "sink", "Message": "",
	} {
		s, err := reg.Lookup(name)
		require.NoError(t, err)
		require.Equal(t, want, s.Describe().Get("role").Str(), name)
	}
}
