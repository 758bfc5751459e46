package pluginkit

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// extismManifest is a manifest with which hosts of Extism load a module.
type extismManifest struct {
	Wasm []struct {
		Path, URL, Name, Hash string
		Data                  json.RawMessage // base64, or an object that names another encoding
	}
	Config map[string]string
	Hosts  []string          `json:"allowed_hosts"`
	Paths  map[string]string `json:"allowed_paths"`
	Memory struct {
		MaxPages int `json:"max_pages"`
	}
	TimeoutMS int `json:"timeout_ms"`
}

// mergeAdvice explains what a plugin is to an author of linked modules.
const mergeAdvice = "a plugin is one module; link them when they are built"

// ReadForeign reads a module, or the one that a manifest of Extism names: its configuration, hosts
// and limits are added to a. from are the files that were read.
func ReadForeign(file string, a *Adaption) (wasm []byte, from []string, err error) {
	from = []string{file}
	data, err := readRegular(file)
	if err != nil || !strings.HasPrefix(strings.TrimSpace(string(data[:min(len(data), 100)])), "{") {
		return data, from, err
	}
	var m extismManifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, nil, fmt.Errorf("%s: manifest of Extism: %w", file, err)
	}
	if len(m.Wasm) != 1 {
		names := make([]string, len(m.Wasm))
		for i, w := range m.Wasm {
			names[i] = cmp.Or(w.Name, w.Path, w.URL, "one without a name")
		}
		return nil, nil, fmt.Errorf("%s: the manifest names %d modules (%s); %s", file, len(m.Wasm),
			strings.Join(names, ", "), mergeAdvice)
	}
	if m.Memory.MaxPages < 0 || m.TimeoutMS < 0 {
		return nil, nil, fmt.Errorf("%s: limits are less than 0", file)
	}
	if len(m.Paths) > 0 {
		return nil, nil, fmt.Errorf("%s: allowed_paths: a plugin has no folders", file)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Config)) {
		if strings.Contains(name, "=") {
			return nil, nil, fmt.Errorf("%s: config %q: a name has no =", file, name)
		}
		a.Config = append(a.Config, name+"="+m.Config[name])
	}
	a.Hosts = append(a.Hosts, m.Hosts...)
	a.Limits = contract.Limits{MemoryMB: (m.Memory.MaxPages + 15) / 16, TimeoutMS: m.TimeoutMS}
	w := m.Wasm[0]
	switch {
	case len(w.Data) > 0:
		var text string
		if err := json.Unmarshal(w.Data, &text); err != nil {
			return nil, nil, fmt.Errorf("%s: data: %w", file, err)
		}
		wasm, err = base64.StdEncoding.DecodeString(text)
	case w.Path != "":
		path := w.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		from = append(from, path)
		wasm, err = readRegular(path)
	default:
		err = errors.New("the manifest names no path of the module; download it and write its path")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	sum := sha256.Sum256(wasm)
	if got := hex.EncodeToString(sum[:]); w.Hash != "" && !strings.EqualFold(w.Hash, got) {
		return nil, nil, fmt.Errorf("%s: the hash of the module is %s, the manifest has %s", file, got, w.Hash)
	}
	return wasm, from, nil
}

// readRegular reads a file that ends: a stranger's manifest may name a device or a pipe.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return os.ReadFile(path)
}

// checkLinks returns an error for a module that imports from another one.
func checkLinks(shape meter.Shape) error {
	for _, i := range shape.Imports {
		known := strings.HasPrefix(i.Module, "easel:") || strings.HasPrefix(i.Module, "extism:") ||
			strings.HasPrefix(i.Module, "wasi_")
		if !known {
			return fmt.Errorf("the module imports %s of the module %q; %s", i.Name, i.Module, mergeAdvice)
		}
	}
	return nil
}
