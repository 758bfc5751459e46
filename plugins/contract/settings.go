package contract

import (
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// CheckSettings compares new settings with the manifest: each is declared and has a
// value that its schema allows. Its error has the code InvalidArgument.
func (m *Manifest) CheckSettings(set engine.Value) error {
	for i := range set.Len() {
		name, v := set.Key(i), set.At(i)
		p, ok := m.Settings.Property(name)
		if !ok {
			known := "it has none"
			if names := m.Settings.Names(); len(names) > 0 {
				known = "one of " + strings.Join(names, ", ")
			}
			return Errorf(InvalidArgument, "unknown setting %q (%s)", short(name), known).At(m.Name, "")
		}
		if err := p.Check(name, v); err != nil {
			return Errorf(InvalidArgument, "setting %v", err).At(m.Name, "")
		}
	}
	return nil
}

// Configured returns the settings of a call: those that are set and still declared, and the
// defaults of the others. It is null for a plugin without settings. A required setting without a
// value is a MissingSetting.
func (m *Manifest) Configured(set engine.Value) (engine.Value, error) {
	names := m.Settings.Names()
	if len(names) == 0 {
		return engine.Null, nil
	}
	if missing := m.MissingSettings(set); len(missing) > 0 {
		return engine.Null, Errorf(MissingSetting, "setting %s is not set", strings.Join(missing, ", "))
	}
	b := engine.NewObject(len(names))
	for _, name := range names {
		p, _ := m.Settings.Property(name)
		v := set.Get(name)
		if v.IsNull() {
			v = p.Default()
		}
		if !v.IsNull() {
			b.Set(name, v)
		}
	}
	return b.Value(), nil
}

// MissingSettings lists the required settings that have neither a value nor a default.
func (m *Manifest) MissingSettings(set engine.Value) []string {
	return slices.DeleteFunc(slices.Clone(m.Settings.Required()), func(name string) bool {
		p, _ := m.Settings.Property(name)
		return !set.Get(name).IsNull() || !p.Default().IsNull()
	})
}

// SettingText returns a setting in the form of config_get: a string unchanged, any other value as
// JSON.
func SettingText(v engine.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.Text()
}
