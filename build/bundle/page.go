package main

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// page builds web and replaces the previous build in one step, so that a failing build leaves the
// old page in place.
func (b bundler) page() error {
	out := b.out
	b.out = strings.TrimRight(out, "/") + ".new"
	if err := b.draw(); err != nil {
		return errors.Join(err, os.RemoveAll(b.out))
	}
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	return os.Rename(b.out, out)
}

// draw builds web into b.out.
func (b bundler) draw() error {
	if err := os.RemoveAll(b.out); err != nil {
		return err
	}
	built, err := b.scripts()
	if err != nil {
		return err
	}
	if err := b.index(built); err != nil {
		return err
	}
	if err := b.chat(); err != nil {
		return err
	}
	if err := b.report(built); err != nil {
		return err
	}
	return b.compress()
}

// scripts builds the workers and the page. Workers are built first because the page contains their
// file names.
func (b bundler) scripts() (*result, error) {
	names := map[string]string{}
	for define, entry := range map[string]string{
		"EASEL_ENGINE_WORKER": "../wasm/js/src/worker.browser.ts",
		"EASEL_CODE_WORKER":   "../wasm/js/src/code/worker.ts",
		"EASEL_PYTHON_WORKER": "../wasm/js/src/code/python.worker.ts",
		"EASEL_PLUGIN_WORKER": "../wasm/js/src/plugin/kernel.browser.ts",
		"EASEL_READ_WORKER":   "read/worker.ts",
	} {
		options := b.options()
		options.EntryPoints = []string{entry}
		options.EntryNames = "assets/" + strings.ToLower(strings.TrimPrefix(strings.ReplaceAll(define, "_", "-"),
			"EASEL-")) + "-[hash]"
		built, err := b.build(options)
		if err != nil {
			return nil, err
		}
		names[define] = built.main(".js")
	}
	for define, file := range map[string]string{"EASEL_WASM": "engine.wasm", "EASEL_RUNTIME": "wasm_exec.js"} {
		name, err := b.asset(file)
		if err != nil {
			return nil, err
		}
		names[define] = name
	}
	python, err := b.python()
	if err != nil {
		return nil, err
	}
	names["EASEL_PYTHON"] = python
	tools, err := b.tools()
	if err != nil {
		return nil, err
	}
	names["EASEL_TOOLS"] = tools
	components, err := b.components()
	if err != nil {
		return nil, err
	}
	names["EASEL_COMPONENTS"] = components
	guides, err := b.guides()
	if err != nil {
		return nil, err
	}
	names["EASEL_GUIDES"] = guides

	options := b.options()
	options.EntryPoints = []string{"view/main.tsx"}
	options.EntryNames = "assets/page-[hash]"
	options.Define = map[string]string{"process.env.NODE_ENV": `"production"`}
	for define, name := range names {
		text, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		options.Define[define] = string(text)
	}
	options.Plugins = []api.Plugin{b.canvases()}
	built, err := b.build(options)
	if err == nil {
		built.data = components
	}
	return built, err
}

// options returns the options common to all builds of the page.
func (b bundler) options() api.BuildOptions {
	maps := api.SourceMapNone
	if b.maps {
		maps = api.SourceMapLinked
	}
	return api.BuildOptions{
		AbsWorkingDir:     b.abs("web"),
		Outdir:            b.absolute(b.out),
		Bundle:            true,
		Splitting:         true,
		Write:             b.packages == nil,
		Metafile:          true,
		Format:            api.FormatESModule,
		Platform:          api.PlatformBrowser,
		Target:            api.ES2022,
		JSX:               api.JSXAutomatic,
		PreserveSymlinks:  true,
		MinifySyntax:      true,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		LegalComments:     api.LegalCommentsLinked,
		Sourcemap:         maps,
		ChunkNames:        "assets/part-[hash]",
		AssetNames:        "assets/[name]-[hash]",
		// quickjs and Pyodide detect Node at run time; browsers never load these modules.
		External: []string{"module", "node:*"},
		Loader:   map[string]api.Loader{".wasm": api.LoaderFile},
		LogLevel: api.LogLevelSilent,
	}
}

// asset copies a file of the engine to a name with its hash.
func (b bundler) asset(file string) (string, error) {
	if b.packages != nil {
		return file, nil
	}
	bytes, err := os.ReadFile(filepath.Join(b.wasm, file))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w (build the engine module first: go run ./build/module)", err)
	}
	if err != nil {
		return "", err
	}
	return b.store(file, bytes)
}

// store writes a file to a name with its hash.
func (b bundler) store(file string, bytes []byte) (string, error) {
	if b.packages != nil {
		return file, nil
	}
	sum := sha256.Sum256(bytes)
	ext := filepath.Ext(file)
	name := "assets/" + strings.TrimSuffix(file, ext) + "-" + base32.StdEncoding.EncodeToString(sum[:5]) + ext
	if err := os.MkdirAll(filepath.Join(b.out, "assets"), 0o755); err != nil {
		return "", err
	}
	return name, os.WriteFile(filepath.Join(b.out, name), bytes, 0o644)
}

// pythonFolder begins the name of the folder with the files of Pyodide.
const pythonFolder = "assets/python-"

// python copies the files of Pyodide to a folder named after its version: its loader requests them
// by their names.
func (b bundler) python() (string, error) {
	from := b.abs("wasm/js/node_modules/pyodide")
	var about struct{ Version string }
	text, err := os.ReadFile(filepath.Join(from, "package.json"))
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	name := pythonFolder + about.Version + "/"
	if err != nil || b.packages != nil {
		return name, err
	}
	to := filepath.Join(b.out, name)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return "", err
	}
	files := map[string]string{}
	for _, file := range []string{"pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip"} {
		files[filepath.Join(from, file)] = filepath.Join(to, file)
	}
	return name, copyFiles(files)
}

// canvases resolves the imports easel:examples and easel:templates to the canvases of web/examples
// and web/templates, in order of their names.
func (b bundler) canvases() api.Plugin {
	return api.Plugin{Name: "canvases", Setup: func(build api.PluginBuild) {
		filter := api.OnResolveOptions{Filter: "^easel:(examples|templates)$"}
		build.OnResolve(filter, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: strings.TrimPrefix(args.Path, "easel:"), Namespace: "canvases"}, nil
		})
		from := api.OnLoadOptions{Filter: ".*", Namespace: "canvases"}
		build.OnLoad(from, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			folder := b.abs(filepath.Join("web", args.Path))
			files, err := filepath.Glob(filepath.Join(folder, "*.json"))
			if err != nil {
				return api.OnLoadResult{}, err
			}
			var code strings.Builder
			list := make([]string, len(files))
			for i, file := range files {
				list[i] = fmt.Sprintf("c%d", i)
				fmt.Fprintf(&code, "import c%d from %q;\n", i, file)
			}
			fmt.Fprintf(&code, "export default [%s];\n", strings.Join(list, ", "))
			text := code.String()
			return api.OnLoadResult{
				Contents: &text, ResolveDir: folder, WatchDirs: []string{folder}, WatchFiles: files,
			}, nil
		})
	}}
}

// index writes index.html with the hashed names, and copies the static files next to it.
func (b bundler) index(built *result) error {
	html, err := os.ReadFile(b.abs("web/index.html"))
	if err != nil {
		return err
	}
	styles := fmt.Sprintf(`<link rel="stylesheet" href="%s">`, built.main(".css"))
	for _, name := range built.initial() {
		if name != built.main(".js") {
			styles += fmt.Sprintf("\n<link rel=\"modulepreload\" href=%q>", name)
		}
	}
	styles += fmt.Sprintf("\n<link rel=\"preload\" as=\"fetch\" crossorigin href=%q>", built.data)
	text := strings.Replace(string(html), "<!-- styles -->", styles, 1)
	text = strings.Replace(text, "<!-- scripts -->",
		fmt.Sprintf(`<script type="module" src="%s"></script>`, built.main(".js")), 1)
	if err := os.WriteFile(filepath.Join(b.out, "index.html"), []byte(text), 0o644); err != nil {
		return err
	}
	return copyFiles(map[string]string{
		b.abs("web/icon.svg"):                  filepath.Join(b.out, "icon.svg"),
		b.abs("build/licences/lists/page.txt"): filepath.Join(b.out, "licences.txt"),
	})
}

// copyFiles copies files from the keys to the values.
func copyFiles(files map[string]string) error {
	for from, to := range files {
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (b bundler) abs(path string) string { return b.absolute(filepath.Join(b.root, path)) }

func (b bundler) absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
