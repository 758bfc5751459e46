package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// project writes a tiny page with one lazy part, and the other files of a real project.
func project(t *testing.T) bundler {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"web/index.html": "<head>\n<!-- styles -->\n</head><body><!-- scripts " +
			"--></body>",
		"web/icon.svg":        "<svg/>",
		"web/examples/a.json": `{"id": "a"}`,
		"web/view/main.tsx": `import examples from "easel:examples"; ` +
			`import "../page.css"; console.log(EASEL_ENGINE_WORKER, examples[0].id); import("./lazy.ts");`,
		"web/view/lazy.ts":                               `export const word = "only later";`,
		"web/page.css":                                   "body { color: red }",
		"wasm/js/src/worker.browser.ts":                  `console.log("engine")`,
		"wasm/js/src/code/worker.ts":                     `console.log("code")`,
		"wasm/js/src/code/python.ts":                     `export const python = 1`,
		"wasm/js/src/code/python.worker.ts":              `console.log("python")`,
		"web/read/worker.ts":                             `console.log("read")`,
		"web/widget/widget.ts":                           `console.log("widget")`,
		"web/widget/share.ts":                            `console.log("chat")`,
		"web/widget/share.html":                          "<head><!-- styles --></head><body><!-- scripts --></body>",
		"wasm/js/src/plugin/kernel.browser.ts":           `console.log("plugin")`,
		"wasm/js/node_modules/pyodide/package.json":      `{"version": "1.2.3"}`,
		"wasm/js/node_modules/pyodide/pyodide.asm.mjs":   "1",
		"wasm/js/node_modules/pyodide/pyodide.asm.wasm":  "1",
		"wasm/js/node_modules/pyodide/python_stdlib.zip": "1",
		"build/licences/lists/page.txt":                  "list of components",
		"wasm/dist/engine.wasm":                          "\x00asm",
		"wasm/dist/wasm_exec.js":                         "1",
	}
	for _, g := range guides() {
		files[g.file] = "# Title\n\nText.\n"
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return bundler{root: root, wasm: filepath.Join(root, "wasm", "dist"), out: filepath.Join(root, "web", "dist")}
}

func TestPageListsItsFilesWithoutInlineScript(t *testing.T) {
	b := project(t)
	require.NoError(t, b.run("page"))
	html, err := os.ReadFile(filepath.Join(b.out, "index.html"))
	require.NoError(t, err)
	require.Regexp(t, `<link rel="stylesheet" href="assets/page-\w+\.css">`, string(html))
	require.Regexp(t, `<script type="module" src="assets/page-\w+\.js"></script>`, string(html))

	scripts, err := filepath.Glob(filepath.Join(b.out, "assets", "page-*.js"))
	require.NoError(t, err)
	require.Len(t, scripts, 1)
	page, err := os.ReadFile(scripts[0])
	require.NoError(t, err)
	require.Regexp(t, `assets/engine-worker-\w+\.js`, string(page), "the page contains the URL of its worker")
	require.NotContains(t, string(page), "only later", "a lazy import is a separate file")

	licences, err := os.ReadFile(filepath.Join(b.out, "licences.txt"))
	require.NoError(t, err)
	require.Equal(t, "list of components", string(licences))
}

func TestPackagesAreThoseInTheScripts(t *testing.T) {
	b := project(t)
	for name, text := range map[string]string{
		"web/node_modules/used/index.js":      `export const used = Math.random();`,
		"web/node_modules/@some/one/index.js": `export const one = Math.random();`,
		"web/node_modules/unused/index.js":    `export const unused = 1;`,
		"wasm/js/src/browser.ts":              ``,
		"wasm/js/src/node.ts":                 `import { used } from "used"; console.log(used);`,
		"wasm/js/node_modules/used/index.js":  `export const used = Math.random();`,
		"web/view/lazy.ts":                    `import { one } from "@some/one"; console.log(one);`,
		"web/view/main.tsx": `import { used } from "used"; import { unused } from "unused"; ` +
			`console.log(used); import("./lazy.ts");`,
		"wasm/js/src/worker.node.ts":           ``,
		"wasm/js/src/state.ts":                 ``,
		"wasm/js/src/model/scripted.ts":        ``,
		"wasm/js/src/model/record.ts":          ``,
		"wasm/js/src/model/openai.ts":          ``,
		"wasm/js/src/model/proxy.ts":           ``,
		"wasm/js/src/code/runner.ts":           ``,
		"wasm/js/src/plugin/kernel.node.ts":    ``,
		"web/node_modules/unused/package.json": `{"sideEffects": false}`,
	} {
		path := filepath.Join(b.root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	var out strings.Builder
	require.NoError(t, b.list(&out))
	require.JSONEq(t, `{"page": ["@some/one", "used"], "package": ["used"]}`, out.String())
	require.NoDirExists(t, b.out, "nothing is written")
}

func TestSameSourcesGiveSameNames(t *testing.T) {
	b := project(t)
	names := func() []string {
		require.NoError(t, b.run("page"))
		list, err := filepath.Glob(filepath.Join(b.out, "assets", "*"))
		require.NoError(t, err)
		return list
	}
	require.Equal(t, names(), names())
}

// The page is identical, file by file, when built in another directory, also when npm packages are
// symbolic links.
func TestPageDoesNotDependOnTheDirectory(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed: it compresses the files")
	}
	modules := filepath.Join(t.TempDir(), "node_modules")
	require.NoError(t, os.MkdirAll(filepath.Join(modules, "used"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(modules, "used", "index.js"),
		[]byte(`export const used = Math.random();`), 0o644))
	build := func(b bundler) map[string]string {
		require.NoError(t, os.WriteFile(filepath.Join(b.root, "web/view/lazy.ts"),
			[]byte(`export { used as word } from "used";`), 0o644))
		b.embed = filepath.Join(b.root, "embed")
		require.NoError(t, b.run("page"))
		files := map[string]string{}
		require.NoError(t, fs.WalkDir(os.DirFS(b.root), ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasPrefix(path, "embed/") &&
				!strings.HasPrefix(path, "web/dist/") {
				return err
			}
			content, err := os.ReadFile(filepath.Join(b.root, path))
			files[path] = string(content)
			return err
		}))
		return files
	}
	one, other := project(t), project(t)
	require.NoError(t, os.CopyFS(filepath.Join(one.root, "web/node_modules"), os.DirFS(modules)))
	require.NoError(t, os.Symlink(modules, filepath.Join(other.root, "web/node_modules")))
	require.Equal(t, build(one), build(other))
}

func TestCompressedPageFollowsThePage(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed: it compresses the files")
	}
	b := project(t)
	b.embed = filepath.Join(b.root, "embed")
	require.NoError(t, b.run("page"))
	first, err := filepath.Glob(filepath.Join(b.embed, "assets", "page-*"))
	require.NoError(t, err)
	require.Len(t, first, 4, "a script and a style sheet, each as .br and .gz: %v", first)
	require.FileExists(t, filepath.Join(b.embed, "index.html.br"))

	engine, err := filepath.Glob(filepath.Join(b.embed, "assets", "engine-*.wasm.br"))
	require.NoError(t, err)
	require.Len(t, engine, 1)
	before, err := os.Stat(engine[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(b.root, "web/page.css"), []byte("body { color: blue }"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(b.embed, ".gitignore"), []byte("*"), 0o644))
	require.NoError(t, b.run("page"))
	second, err := filepath.Glob(filepath.Join(b.embed, "assets", "page-*"))
	require.NoError(t, err)
	require.Len(t, second, 4, "outdated files are removed")
	require.NotEqual(t, first, second)
	after, err := os.Stat(engine[0])
	require.NoError(t, err)
	require.Equal(t, before.ModTime(), after.ModTime(), "unchanged files are not compressed again")
	require.FileExists(t, filepath.Join(b.embed, ".gitignore"))
}

func TestErrorNamesFileAndLine(t *testing.T) {
	b := project(t)
	require.NoError(t, os.WriteFile(filepath.Join(b.root, "web/view/lazy.ts"), []byte("export const = 3"), 0o644))
	err := b.run("page")
	require.ErrorContains(t, err, "view/lazy.ts:1:13")
	require.NoDirExists(t, b.out+".new")
}

func TestMissingEngineError(t *testing.T) {
	b := project(t)
	b.wasm = filepath.Join(b.root, "none")
	require.ErrorContains(t, b.run("page"), "build the engine module first")
}

func TestGzipSizeIsOfTheBestCompression(t *testing.T) {
	size, err := gzipped([]byte(strings.Repeat("easel ", 1000)))
	require.NoError(t, err)
	require.Less(t, size, 100)
}
