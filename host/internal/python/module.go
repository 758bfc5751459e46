package python

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	Cache   string // folder for machine code; "" is one beside Path
	About   About
}

// About describes what an interpreter is. It is written when the interpreter is added.
type About struct {
	Version string   `json:"version"` // such as 3.12.0; "" when the file was not added by a command
	Modules []string `json:"modules"` // what it can import, sorted; names of packages only
}

// cacheDir returns the folder for machine code.
func (m *Module) cacheDir() string {
	if m.Cache != "" {
		return m.Cache
	}
	return filepath.Join(filepath.Dir(m.Path), cacheName)
}

// hint explains that a module could not be imported.
func (m *Module) hint(missing string) string {
	if missing == "" {
		return ""
	}
	name, _, _ := strings.Cut(missing, ".")
	if slices.Contains(m.About.Modules, name) {
		return "" // a part of a package that is there
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
			return nil, fmt.Errorf("Python interpreter: %w", err)
		}
		return open(path)
	}
	return nil, ErrMissing
}

// open describes the interpreter at path by the files beside it.
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
		return nil, fmt.Errorf("Python interpreter: %w; add it again", err)
	}
	return m, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// probe is a script that describes its interpreter.
const probe = `
import sys, pkgutil
def main():
    names = set(sys.builtin_module_names) | {m.name for m in pkgutil.iter_modules()}
    return {"version": sys.version.split()[0], "modules": sorted(n for n in names if not n.startswith("_"))}
`

// Probe compiles the interpreter if it is not in the cache, runs a script in it, and describes it.
// Errors: [ErrModule].
func Probe(ctx context.Context, worker []string, m *Module) (About, error) {
	r := Runner{Worker: worker, Find: func() (*Module, error) { return m, nil }}
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

// Source is what [Add] copies.
type Source struct {
	Module  io.Reader
	Library io.Reader // zip file with further packages; nil is none
}

// Add installs an interpreter in a folder: any WASI program that runs Python. It is tried before it
// replaces the one that is there. Errors: [ErrModule].
func Add(ctx context.Context, worker []string, dir string, from Source) (*Module, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	fresh, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return nil, err
	}
	m := &Module{Path: filepath.Join(fresh, moduleName), Cache: filepath.Join(dir, cacheName)}
	err = write(m.Path, from.Module)
	if err == nil && from.Library != nil {
		m.Library = filepath.Join(fresh, libraryName)
		err = write(m.Library, from.Library)
	}
	if err == nil {
		m.About, err = Probe(ctx, worker, m)
	}
	if err == nil {
		err = m.install(fresh, dir)
	}
	if removed := os.RemoveAll(fresh); err == nil {
		err = removed
	}
	if err != nil {
		return nil, fmt.Errorf("add Python: %w", err)
	}
	return open(filepath.Join(dir, moduleName))
}

// install moves the files of an interpreter that was tried to their folder, the module last.
func (m *Module) install(fresh, dir string) error {
	text, err := json.MarshalIndent(m.About, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(fresh, aboutName), append(text, '\n'), 0o644); err != nil {
		return err
	}
	if m.Library == "" {
		if err := os.Remove(filepath.Join(dir, libraryName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range []string{libraryName, aboutName, moduleName} {
		err := os.Rename(filepath.Join(fresh, name), filepath.Join(dir, name))
		if err != nil && !(name == libraryName && m.Library == "") {
			return err
		}
	}
	return nil
}

// maxModule bounds the size of an interpreter.
const maxModule = 512 << 20

func write(path string, from io.Reader) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(from, maxModule+1))
	if err == nil && n > maxModule {
		err = fmt.Errorf("%w: it is larger than %d MB", ErrModule, maxModule>>20)
	}
	return errors.Join(err, f.Close())
}
