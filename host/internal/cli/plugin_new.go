package cli

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	sdkas "github.com/easel-canvas/easel/plugins/sdk-as"
	sdkgo "github.com/easel-canvas/easel/plugins/sdk-go"
	sdkrust "github.com/easel-canvas/easel/plugins/sdk-rust"
)

// scaffolds holds one folder per language; names that the Go tools would pick up end with .tmpl.
//
//go:embed scaffolds
var scaffolds embed.FS

var pluginNew = command{
	name:    "plugin new",
	args:    "NAME [--lang go|as|rust | --js | --http] [--trigger poll|webhook | --components LIST] [FLAGS]",
	summary: "creates the folder of a new plugin",
	help: `
The folder builds with the plain tools of its language: Go; npm and the AssemblyScript compiler; rustc with the target
wasm32-unknown-unknown. It holds a plugin that greets, a case, a copy of the SDK, and a file for continuous integration.
With --http it holds no program but a spec: the requests of a tool and how the answers become outputs; it needs no
compiler. With --js it holds one file of JavaScript, plugin.js, and needs no compiler either.
With --trigger it begins runs instead: a schedule calls it at its times (poll), or with each request to an address
(webhook).
With --components its file holds several nodes and tools with one version, one form of settings and one grant.
Go suits plugins that need libraries; AssemblyScript and Rust make small files that start in no time, which matters in a
browser.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		lang := fs.String("lang", "go", "`LANGUAGE`: go, as (AssemblyScript) or rust")
		data := fs.Bool("http", false, "a tool without code: a manifest and the spec of its requests")
		js := fs.Bool("js", false, "one file of JavaScript, run by an interpreter in the sandbox")
		trigger := fs.String("trigger", "", "`KIND` of a plugin that begins runs: poll or webhook")
		several := fs.String("components", "", "`NAME,...` of the components of a file with several")
		dir := fs.String("dir", "", "`DIR` to create; NAME when left out")
		sdk := fs.String("sdk", "",
			"`DIR` of the Go SDK to build against instead of a copy, such as plugins/sdk of a checkout")
		return func(_ context.Context, a *app, args []string) error {
			name, err := one("new", "NAME", args)
			if err != nil {
				return err
			}
			if !pluginName.MatchString(name) {
				return misuse("plugin new",
					"name %q: expected lower-case letters, digits, - and _, starting with a letter", name)
			}
			kind, err := pluginKind(*lang, given(fs, "lang"), *js, *data)
			if err != nil {
				return err
			}
			components, err := newComponents(name, *several)
			if err != nil {
				return misuse("plugin new", "%w", err)
			}
			roots, err := templates(kind, *trigger, len(components) > 0)
			if err != nil {
				return misuse("plugin new", "%w", err)
			}
			files, err := scaffold(roots, components, kind, name, *sdk)
			if err != nil {
				return misuse("plugin new", "%w", err)
			}
			to := or(*dir, name)
			if kind == "go" && insideWorkspace(to) {
				files["go.work"] = []byte(workspace)
			}
			if err := writeScaffold(to, files); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s is ready. Next:\n%s  %s plugin test %s\n  %s plugin dev %s\n",
				to, firstStep[kind](quoted(to)), a.program, quoted(to), a.program, quoted(to))
			return err
		}
	},
}

// pluginKind returns the kind of a new plugin: a language, js or http.
func pluginKind(lang string, chosen, js, data bool) (string, error) {
	switch {
	case chosen && data || chosen && js || js && data:
		return "", misuse("plugin new", "--lang, --js and --http exclude each other")
	case data:
		return "http", nil
	case js:
		return "js", nil
	case lang == "http" || lang == "js":
		return "", misuse("plugin new", "--lang %s: use --%s", lang, lang)
	}
	return lang, nil
}

var pluginName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)

// firstStep returns what a language needs before its first build.
var firstStep = map[string]func(dir string) string{
	"go":   func(dir string) string { return "  (cd " + dir + " && go test ./...)\n" },
	"as":   func(dir string) string { return "  (cd " + dir + " && npm install)\n" },
	"http": func(string) string { return "" },
	"js":   func(string) string { return "" },
	"rust": func(string) string {
		return "  rustup target add wasm32-unknown-unknown   # or RUSTC=/usr/bin/rustc with libstd-rust-dev-wasm32\n"
	},
}

const (
	// carriedSDK is the folder of the Go SDK in a new plugin until the SDK has a published version.
	carriedSDK = `
// The SDK is a copy from the program that created this folder.
replace (
	github.com/easel-canvas/easel/plugins/sdk => ./easel/sdk
	github.com/extism/go-pdk => ./easel/go-pdk
)
`
	// workspace is a go.work that keeps a new plugin out of the workspace around it.
	workspace = "// Keeps this module out of the workspace around it.\ngo 1.24.0\n\nuse .\n"
)

// insideWorkspace reports whether a folder above dir has a go.work.
func insideWorkspace(dir string) bool {
	at, err := filepath.Abs(dir)
	for err == nil && filepath.Dir(at) != at {
		at = filepath.Dir(at)
		if _, missing := os.Stat(filepath.Join(at, "go.work")); missing == nil {
			return true
		}
	}
	return false
}

// templates returns the folders of files for a new plugin; files of a later one replace those of an
// earlier one.
func templates(lang, trigger string, several bool) ([]string, error) {
	if firstStep[lang] == nil {
		return nil, fmt.Errorf("--lang %s: expected go, as or rust", lang)
	}
	roots := []string{"all", lang}
	from := path.Join("trigger", trigger)
	switch {
	case several && trigger != "":
		return nil, errors.New("--components and --trigger exclude each other")
	case several && lang == "http":
		return nil, errors.New("--components: a tool without code is one component; use --js or --lang")
	case several:
		from = "components"
	case trigger == "":
		return roots, nil
	case trigger != "poll" && trigger != "webhook":
		return nil, fmt.Errorf("--trigger %s: expected poll or webhook", trigger)
	case lang == "http":
		return nil, errors.New("--trigger: a tool without code does not begin runs; use --js or --lang")
	}
	roots = append(roots, path.Join(from, "all"))
	if lang != "go" && (lang != "js" || !several) { // which describe themselves
		roots = append(roots, path.Join(from, "manifest"))
	}
	return append(roots, path.Join(from, lang)), nil
}

// scaffold returns the files of a new plugin by path.
func scaffold(roots []string, components []newComponent, lang, name, sdk string) (map[string][]byte, error) {
	replace := carriedSDK
	if sdk != "" {
		abs, err := filepath.Abs(sdk)
		if err != nil {
			return nil, err
		}
		replace = "\nreplace github.com/easel-canvas/easel/plugins/sdk => " + abs + "\n"
	}
	fill := strings.NewReplacer("NAME", name, "REPLACE\n", replace)
	files := map[string][]byte{}
	for _, from := range roots {
		root := path.Join("scaffolds", from)
		err := fs.WalkDir(scaffolds, root, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			raw, err := scaffolds.ReadFile(p)
			if err == nil && strings.HasPrefix(from, "components/") {
				raw, err = fillComponents(p, raw, components)
			}
			target := strings.TrimSuffix(strings.TrimPrefix(p, root+"/"), ".tmpl")
			files[strings.Replace(target, "dot-", ".", 1)] = []byte(fill.Replace(string(raw)))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, addSDK(files, lang, sdk)
}

// addSDK adds the SDK of a language. For Go it uses the folder sdk if that is set, and adds the
// go.sum of the SDK's dependencies.
func addSDK(files map[string][]byte, lang, sdk string) error {
	switch lang {
	case "go":
		if sdk != "" {
			return nil
		}
		delete(files, "go.sum")
		for name, content := range sdkgo.Files() {
			files["easel/"+name] = content
		}
	case "rust":
		files["easel.rs"] = sdkrust.File
	case "as":
		return fs.WalkDir(sdkas.Files, "assembly", func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			files["easel/"+path.Base(p)], err = sdkas.Files.ReadFile(p)
			return err
		})
	}
	return nil
}

func writeScaffold(dir string, files map[string][]byte) error {
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return &usageError{"", err}
	}
	for _, name := range sorted(mapKeys(files)) {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := writeNew(to, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
