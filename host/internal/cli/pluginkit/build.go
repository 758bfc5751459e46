package pluginkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Files of a plugin's folder that are packed with it.
const (
	ManifestFile = "manifest.json"
	CasesFile    = "cases.json"
	iconFile     = "icon.svg"
	i18nFile     = "i18n.json"
)

// Build compiles the plugin in a folder with its language's own tool: Go where there are .go files,
// the interpreters where there is http.json or plugin.js, otherwise what `npm run build` or
// build.sh leaves as the folder's .wasm file. What the tool prints is part of the error.
func Build(ctx context.Context, dir string) ([]byte, error) {
	for _, how := range []struct {
		sign string
		run  func(context.Context, string) ([]byte, error)
	}{
		{"*.go", buildGo},
		{HTTPFile, buildHTTP},
		{JSFile, buildJS},
		{"package.json", func(ctx context.Context, dir string) ([]byte, error) {
			if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
				return nil, fmt.Errorf("build %s: no node_modules; run `npm install` there first", dir)
			}
			return buildWith(ctx, dir, "npm", "run", "--silent", "build")
		}},
		{"build.sh", func(ctx context.Context, dir string) ([]byte, error) { return buildWith(ctx, dir, "sh", "build.sh") }},
	} {
		found, err := filepath.Glob(filepath.Join(dir, how.sign))
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return how.run(ctx, dir)
		}
	}
	return nil, fmt.Errorf("build %s: no .go files, http.json, plugin.js, package.json or build.sh in it", dir)
}

func buildGo(ctx context.Context, dir string) (wasm []byte, err error) {
	tmp, err := os.MkdirTemp("", "easel-plugin-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	out := filepath.Join(tmp, "plugin.wasm")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out, ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: go build: %w\n%s", dir, err, bytes.TrimSpace(said))
	}
	return os.ReadFile(out)
}

func buildWith(ctx context.Context, dir, tool string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir = dir
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build %s: %s: %w\n%s", dir, tool, err, bytes.TrimSpace(said))
	}
	return Prebuilt(dir)
}

// Prebuilt reads the one .wasm file of a folder.
func Prebuilt(dir string) ([]byte, error) {
	found, err := filepath.Glob(filepath.Join(dir, "*.wasm"))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s: want one .wasm file, found %d", dir, len(found))
	}
	return os.ReadFile(found[0])
}

// Pack writes the files of a folder into a module: the manifest (from manifest.json, or else from
// the module's own description), the cases, the icon and the texts. A signature is removed; sign
// last.
func Pack(ctx context.Context, h *plugin.Host, wasm []byte, dir string) ([]byte, error) {
	manifest, err := optional(dir, ManifestFile)
	if err != nil {
		return nil, err
	}
	if manifest == nil {
		if manifest, err = h.Describe(ctx, wasm); err != nil {
			return nil, err
		}
	}
	if _, err := contract.ParseManifest(manifest); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, ManifestFile), err)
	}
	sections := []struct{ name, file string }{
		{contract.CasesSection, CasesFile},
		{contract.IconSection, iconFile},
		{contract.I18nSection, i18nFile},
	}
	if wasm, err = contract.WithSection(wasm, contract.ManifestSection, compact(manifest)); err != nil {
		return nil, err
	}
	for _, s := range sections {
		content, err := optional(dir, s.file)
		if err != nil {
			return nil, err
		}
		if content == nil {
			continue
		}
		if s.name == contract.CasesSection {
			if _, err := ReadCases(content); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, s.file), err)
			}
		}
		if wasm, err = contract.WithSection(wasm, s.name, compact(content)); err != nil {
			return nil, err
		}
	}
	return wasm, nil
}

// optional reads a file that may be missing.
func optional(dir, name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// compact takes blanks out of JSON; what is none stays as it is.
func compact(b []byte) []byte {
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return b
	}
	return out.Bytes()
}

// CasesOf reads the cases a packed plugin carries.
func CasesOf(wasm []byte) ([]Case, error) {
	raw, ok, err := contract.Section(wasm, contract.CasesSection)
	if err != nil || !ok {
		return nil, err
	}
	return ReadCases(raw)
}
