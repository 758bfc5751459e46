package plugin

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/wattest"
)

// twoExports returns its input as the output message of easel_invoke, and a fixed text from the
// export forecast.
const twoExports = `(module` + importAll + `
	(data (i32.const 60000) "{\"outputs\":{\"text\":\"sun\"}}")
	(func (export "easel_invoke") (result i32) (local $n i32)
		i32.const 0 i32.const 0 i32.const 30000 call $input_read call $output_write
		i32.const 0)
	(func (export "forecast") (result i32)
		i32.const 60000 i32.const 26 call $output_write
		i32.const 0)
	(func (export "wrong") (param i32) (result i32) i32.const 0)
	(func (export "easel_check") (result i32)
		i32.const 0 i32.const 0 i32.const 30000 call $input_read call $error_write
		i32.const 1))`

// part is a component of a manifest.
func part(name string, fields map[string]any) map[string]any {
	c := map[string]any{"name": name, "description": "A part."}
	for k, v := range fields {
		c[k] = v
	}
	return c
}

// TestComponentsOfAFileAreCalledByTheirOwnExports loads one file with several components.
func TestComponentsOfAFileAreCalledByTheirOwnExports(t *testing.T) {
	days := map[string]any{"type": "object", "properties": map[string]any{"days": map[string]any{"type": "integer"}}}
	m := load(t, newHost(t, Config{}), twoExports, map[string]any{"components": []any{
		part("sample", map[string]any{"entry": map[string]any{"export": "easel_invoke", "output": "json"}}),
		part("forecast", map[string]any{"export": "forecast", "params": days}),
		part("echo", map[string]any{"entry": map[string]any{"export": "easel_invoke"}}),
	}})
	call := func(ref string, params engine.Value) (Answer, error) {
		about, err := m.Manifest().Named(ref)
		require.NoError(t, err)
		return m.Invoke(context.Background(), Invocation{Component: about, Params: params})
	}
	answer, err := call("sample.forecast@1", engine.Object("days", 2))
	require.NoError(t, err)
	require.Equal(t, `{"text":"sun"}`, answer.Outputs.JSON())
	_, err = call("sample.forecast@1", engine.Object("days", "many"))
	require.ErrorIs(t, err, contract.InvalidArgument, "the params are those of the component")
	answer, err = call("sample.echo@1", engine.Object("input", "as it is"))
	require.NoError(t, err)
	require.Equal(t, `{"output":"as it is"}`, answer.Outputs.JSON())

	about, err := m.Manifest().Named("sample.forecast")
	require.NoError(t, err)
	err = m.Check(context.Background(), about, engine.Object("days", 3))
	require.ErrorContains(t, err, `{"params":{"days":3},"call":{"component":"forecast"}}`)
}

// TestComponentReadsItsName calls a file whose components share easel_invoke.
func TestComponentReadsItsName(t *testing.T) {
	m := load(t, newHost(t, Config{}), twoExports, map[string]any{"components": []any{part("a", nil), part("b", nil)}})
	for _, name := range []string{"a", "b"} {
		about, err := m.Manifest().ByName(name)
		require.NoError(t, err)
		input, err := m.Input(context.Background(), Invocation{Component: about, ID: "c1"})
		require.NoError(t, err)
		require.Contains(t, string(input), `"component":"`+name+`"`)
	}
	_, err := m.Manifest().ByName("c")
	require.ErrorContains(t, err, `component "c": want one of a, b`)
}

// TestHostileComponentsAreNotLoaded refuses files whose components the host cannot call.
func TestHostileComponentsAreNotLoaded(t *testing.T) {
	h := newHost(t, Config{BuiltIn: func(name string) bool { return strings.EqualFold(name, "Message") }})
	for name, c := range map[string]struct {
		part map[string]any
		code contract.Code
		want string
	}{
		"no such export":   {part("a", map[string]any{"export": "gone"}), contract.Unsupported, "no function gone"},
		"export with args": {part("a", map[string]any{"export": "wrong"}), contract.Unsupported, "wrong as (i32)"},
		"built-in name":    {part("message", nil), contract.BadManifest, `"message" is the name of a built-in`},
		"own grant":        {part("a", map[string]any{"limits": nil}), contract.BadManifest, "belongs to the file"},
	} {
		_, err := h.Load(context.Background(), pack(t, wattest.Must(twoExports), map[string]any{
			"components": []any{part("fine", nil), c.part},
		}), LoadOptions{})
		require.ErrorIs(t, err, c.code, name)
		require.ErrorContains(t, err, c.want, name)
	}
}

// TestMajorsOfAFileWithComponents installs a second major with several components in addition to a
// first one with one component: canvases of both keep working.
func TestMajorsOfAFileWithComponents(t *testing.T) {
	ctx, h := context.Background(), newHost(t, Config{})
	c, err := OpenCatalog(ctx, h, t.TempDir(), contract.Everything())
	require.NoError(t, err)
	_, err = c.Install(ctx, pack(t, wattest.Must(twoExports), nil), Local)
	require.NoError(t, err)
	e, err := c.Install(ctx, pack(t, wattest.Must(twoExports), map[string]any{
		"version": "2.0.0", "components": []any{part("sample", nil), part("forecast", nil)},
	}), Local)
	require.NoError(t, err)
	require.Equal(t, []string{"sample", "sample.forecast"}, e.Active.Components)
	for ref, want := range map[string]string{"sample@1": "", "sample@2": "sample", "sample.forecast@2": "forecast"} {
		m, err := c.Get(ref)
		require.NoError(t, err, ref)
		about, err := m.Manifest().Named(ref)
		require.NoError(t, err, ref)
		require.Equal(t, want, about.Component, ref)
	}
	m, err := c.Get("sample.forecast@1")
	require.NoError(t, err)
	_, err = m.Manifest().Named("sample.forecast@1")
	require.ErrorIs(t, err, contract.NotFound)
	raw, err := json.Marshal(m.Manifest())
	require.NoError(t, err)
	require.NotContains(t, string(raw), "components", "a file with one component is written as before")
}
