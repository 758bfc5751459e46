package pluginnode

import (
	"maps"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Lacks lists the required settings of a plugin that are not set, and the secrets that it asks for
// and hasSecret does not know.
func Lacks(m *contract.Manifest, set engine.Value, hasSecret func(name string) bool) (out []engine.Diagnostic) {
	lack := func(what, name, value string) {
		out = append(out, engine.Diagnostic{
			Code: engine.CodeMissingSetting,
			Message: what + " " + name + " of plugin " + m.Name + " is not set; set it with `easel plugin set " +
				m.Name + " " + name + value + "`",
		})
	}
	for _, name := range m.MissingSettings(set) {
		lack("setting", name, "=VALUE")
	}
	for _, name := range slices.Sorted(maps.Keys(m.Permissions.Secrets)) {
		if !hasSecret(name) {
			lack("secret", name, "=@VARIABLE")
		}
	}
	return out
}
