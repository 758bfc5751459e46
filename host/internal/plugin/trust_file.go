package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/host/internal/disk"
)

// TrustFile lists, in a folder of plugins, whose signatures are trusted:
// {publisher: [key]}.
const TrustFile = "trust.json"

// ReadTrust reads the trusted keys of a folder, for [Trust].Keys. No file means
// none.
func ReadTrust(dir string) (map[string][]string, error) {
	path := filepath.Join(dir, TrustFile)
	keys := map[string][]string{}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return keys, nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &keys)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// ChangeTrust changes the trusted keys of a folder, creating it if missing, and returns the new
// keys. Changes of several processes wait for each other.
func ChangeTrust(ctx context.Context, dir string, change func(keys map[string][]string)) (map[string][]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("plugin: change trust: %w", err)
	}
	unlock, err := lock(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	keys, err := ReadTrust(dir)
	if err != nil {
		return nil, err
	}
	change(keys)
	raw, err := json.MarshalIndent(keys, "", "  ")
	if err == nil {
		err = disk.Replace(filepath.Join(dir, TrustFile), raw)
	}
	if err != nil {
		return nil, fmt.Errorf("plugin: change trust: %w", err)
	}
	return keys, nil
}
