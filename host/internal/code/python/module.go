package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Names of the files of an interpreter in its folder.
const (
	moduleName  = "python.wasm"
	libraryName = "python-library.zip"
	aboutName   = "python.json"
	cacheName   = "compiled"
)

// Module is an interpreter on disk.
type Module struct {
	Path    string // of the WebAssembly module
	Library string // of a zip file with further packages; "" is none
	Cache   string // folder for machine code; "" is one next to Path
	About   About
}

// About describes an interpreter. It is written when the interpreter is added.
type About struct {
	Version string   `json:"version"` // such as 3.12.0; "" when the file was not added by a command
	Modules []string `json:"modules"` // packages that it can import, sorted
}

// cacheDir returns the folder for machine code, which takes seconds to compile: a folder next to
// the module, or in the user's cache if that is not writable.
func (m *Module) cacheDir() string {
	if m.Cache != "" {
		return m.Cache
	}
	beside := filepath.Join(filepath.Dir(m.Path), cacheName)
	if os.MkdirAll(beside, 0o700) == nil {
		return beside
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "easel", "python")
}

// hint explains that a module could not be imported.
func (m *Module) hint(missing string) string {
	if missing == "" {
		return ""
	}
	name, _, _ := strings.Cut(missing, ".")
	if slices.Contains(m.About.Modules, name) {
		return "" // a part of an installed package
	}
	return fmt.Sprintf("(%s is not part of this Python; \"easel python\" lists what it can import, "+
		"\"easel python add FILE\" installs another one)\n", name)
}

// Find returns the interpreter of the first folder that has one. Errors: [ErrMissing].
func Find(folders ...string) (*Module, error) {
	for _, dir := range folders {
		if dir == "" {
			continue
		}
		path := filepath.Join(dir, moduleName)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("python interpreter: %w", err)
		}
		return open(path)
	}
	return nil, ErrMissing
}

// open describes the interpreter at path by the files in its folder.
func open(path string) (*Module, error) {
	m := &Module{Path: path}
	beside := filepath.Dir(path)
	if library := filepath.Join(beside, libraryName); exists(library) {
		m.Library = library
	}
	text, err := os.ReadFile(filepath.Join(beside, aboutName))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m.About)
	}
	if err != nil {
		return nil, fmt.Errorf("python interpreter: %w; add it again", err)
	}
	return m, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// probe is a script that describes its interpreter. A name is importable if importing it succeeds:
// some packages lack a part that was not compiled in.
const probe = `
import contextlib, importlib, io, pkgutil, sys
def main():
    names = set(sys.builtin_module_names) | {m.name for m in pkgutil.iter_modules()}
    modules = []
    with contextlib.redirect_stdout(io.StringIO()):
        for name in sorted(names - {"antigravity", "idlelib", "turtledemo", "main"}):
            if name.startswith("_"):
                continue
            try:
                importlib.import_module(name)
                modules.append(name)
            except BaseException:
                pass
    return {"version": sys.version.split()[0], "modules": modules}
`

// Probe compiles the interpreter if it is not in the cache, runs a script in it, and describes it.
// Errors: [ErrModule].
func Probe(ctx context.Context, worker []string, m *Module) (About, error) {
	r := Runner{Limits: Limits{Time: startLimit}, Worker: worker, Find: func() (*Module, error) { return m, nil }}
	defer r.spares.drop()
	res, err := r.RunCode(ctx, &engine.CodeCall{Language: "python", Script: probe})
	if err != nil {
		return About{}, err
	}
	var about About
	if res.Value.IsNull() {
		return about, fmt.Errorf("%w: %s", ErrModule, strings.TrimSpace(res.Stderr))
	}
	return about, json.Unmarshal([]byte(res.Value.JSON()), &about)
}
