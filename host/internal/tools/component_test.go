package tools

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/tools"
)

// A component and the tool that serves it describe the same thing: function, arguments, defaults.
func TestToolsAgreeWithTheirComponents(t *testing.T) {
	registry, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	list, err := tools.All()
	require.NoError(t, err)
	for _, tool := range list {
		t.Run(tool.Component, func(t *testing.T) {
			spec, err := registry.Lookup(tool.Component)
			require.NoError(t, err)
			m, err := contract.ParseManifest(tool.Manifest)
			require.NoError(t, err)
			require.Equal(t, spec.Tool.Function, m.Name)
			for _, f := range spec.Tool.Args {
				require.Contains(t, m.Arguments.Names(), f.Name, "argument of the component")
				require.Equal(t, f.Required, slices.Contains(m.Arguments.Required(), f.Name), f.Name)
			}
			for _, name := range m.Arguments.Names() {
				require.NotNil(t, field(spec.Tool.Args, name), "argument %s of the tool", name)
			}
			for _, f := range spec.Outputs {
				if f.Name != "formalized_content" || !slices.Contains(m.Outputs.Names(), "chunks") {
					require.Contains(t, m.Outputs.Names(), f.Name, "output of the component")
				}
			}
			params := spec.Schema().Get("properties")
			for _, name := range m.Params.Names() {
				p, known := params.Lookup(name)
				require.True(t, known, "param %s of the tool", name)
				own, _ := m.Params.Property(name)
				if p.Get("enum").Len() > 0 {
					require.Equal(t, engine.List(own.Enum()...).JSON(), p.Get("enum").JSON(), "values of %s", name)
				}
			}
			for name, p := range params.Fields() {
				def, known := p.Lookup("default")
				own, has := m.Params.Property(name)
				if !known || !has || own.Default().IsNull() || def.Text() == "" {
					continue
				}
				require.Equal(t, def.JSON(), own.Default().JSON(), "default of %s", name)
			}
		})
	}
}

func field(fields []engine.Field, name string) *engine.Field {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
	}
	return nil
}
