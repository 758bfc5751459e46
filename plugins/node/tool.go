package node

import (
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// ToolInput is the input of a plugin that implements a component of the engine. Its twin in the
// page is toolInput in wasm/js/src/plugin/tool.ts; both are tested with testdata/tool_input.json.
type ToolInput struct {
	// Params and Arguments are objects, with the members of the canvas that the manifest declares.
	// Params with keys are placeholders with the mark of the call.
	Params, Arguments engine.Value
	// Keys are the values of those params, by name.
	Keys map[string]string
}

// NewToolInput converts the params and arguments of a component, whose marked placeholders have
// own, for a call of its plugin with a different mark. The caller checks them with
// [contract.Manifest.CheckInput].
func NewToolInput(m *contract.Manifest, params, arguments engine.Value, own, mark string) ToolInput {
	in := ToolInput{Keys: map[string]string{}}
	settings := engine.NewObject(params.Len())
	for i := range params.Len() {
		name, v := params.Key(i), params.At(i)
		schema, known := m.Params.Property(name)
		if !known || blank(v) {
			continue
		}
		if _, secret := m.Permissions.Secrets[name]; secret {
			in.Keys[name] = v.Text()
			settings.Set(name, engine.String(engine.Placeholder(name, mark)))
			continue
		}
		settings.Set(name, fitted(schema, v, own))
	}
	given := engine.NewObject(arguments.Len())
	for i := range arguments.Len() {
		name, v := arguments.Key(i), arguments.At(i)
		if schema, known := m.Arguments.Property(name); known && !blank(v) {
			given.Set(name, fitted(schema, v, own))
		}
	}
	in.Params, in.Arguments = settings.Value(), given.Value()
	return in
}

// blank reports whether a param or an argument counts as absent.
func blank(v engine.Value) bool {
	return v.IsNull() || v.Kind() == engine.KindString && strings.TrimSpace(v.Str()) == ""
}

// fitted returns a value without marks of secrets, as a number or a boolean where the schema has
// one and the canvas wrote it as a string.
func fitted(s *contract.Schema, v engine.Value, mark string) engine.Value {
	v = contract.Unmarked(v, mark)
	if v.Kind() != engine.KindString || slices.Contains(s.Types(), "string") {
		return v
	}
	text := strings.TrimSpace(v.Str())
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && slices.Contains(s.Types(), "integer") {
		return engine.Int(n)
	}
	if b, err := strconv.ParseBool(strings.ToLower(text)); err == nil && slices.Contains(s.Types(), "boolean") {
		return engine.Bool(b)
	}
	return v
}
