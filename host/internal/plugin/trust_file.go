package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
