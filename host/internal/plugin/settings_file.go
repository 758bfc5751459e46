package plugin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/disk"
)

// SettingsFile holds, in a folder of plugins, the settings of `easel run`: {owner: {name: value}}.
// A host keeps those of its tenants among its records.
const SettingsFile = "settings.json"

// ReadSettings reads the settings of a folder, by [Module.Owner]. No file means none.
func ReadSettings(dir string) (engine.Value, error) {
	path := filepath.Join(dir, SettingsFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return engine.Object(), nil
	}
	if err != nil {
		return engine.Null, err
	}
	all, err := engine.ParseJSON(raw)
	if err != nil {
		return engine.Null, fmt.Errorf("%s: %w", path, err)
	}
	return all, nil
}

// ChangeSettings sets the members of change for an owner; null removes one. Changes of several
// processes wait for each other.
func ChangeSettings(ctx context.Context, dir, owner string, change engine.Value) error {
	unlock, err := lock(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := ReadSettings(dir)
	if err != nil {
		return err
	}
	err = disk.Replace(filepath.Join(dir, SettingsFile), all.With(owner, MergeSettings(all.Get(owner),
		change)).AppendJSON(nil))
	if err != nil {
		return fmt.Errorf("plugin: change settings: %w", err)
	}
	return nil
}

// MergeSettings returns set with the members of change; null removes one.
func MergeSettings(set, change engine.Value) engine.Value {
	if set.IsNull() {
		set = engine.Object()
	}
	for name, v := range change.Fields() {
		if set = set.Without(name); !v.IsNull() {
			set = set.With(name, v)
		}
	}
	return set
}
