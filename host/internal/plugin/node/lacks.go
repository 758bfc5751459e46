package node

import (
	"fmt"
	"maps"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// Lacks lists the required settings of a plugin that are not set, and the secrets that it requests
// and hasSecret does not know.
func Lacks(m *plugin.Module, set engine.Value, hasSecret func(name string) bool) (out []engine.Diagnostic) {
	about := m.Manifest()
	lack := func(kind plugin.SettingKind, name string) {
		out = append(out, engine.Diagnostic{
			Code: engine.CodeMissingSetting,
			Message: fmt.Sprintf("%s %s of plugin %s is not set; %s", kind, name, about.Name,
				plugin.HowToSet(m, kind, name)),
		})
	}
	for _, name := range about.MissingSettings(set) {
		lack(plugin.Setting, name)
	}
	for _, name := range slices.Sorted(maps.Keys(about.Permissions.Secrets)) {
		if !hasSecret(name) {
			lack(plugin.Secret, name)
		}
	}
	return out
}
