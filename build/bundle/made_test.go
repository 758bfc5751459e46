package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// project writes a tiny page with one lazy part, and the files that a real one has.
func project(t *testing.T) bundler {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"web/index.html":                     "<head>\n<!-- styles -->\n</head><body><!-- scripts --></body>",
		"web/icon.svg":                       "<svg/>",
		"web/examples/a.json":                `{"id": "a"}`,
		"web/view/main.tsx":                  `import examples from "easel:examples"; import "../page.css"; console.log(EASEL_ENGINE_WORKER, examples[0].id); import("./lazy.ts");`,
		"web/view/lazy.ts":                   `export const word = "only later";`,
		"web/page.css":                       "body { color: red }",
		"wasm/js/test/toy/worker.browser.ts": `console.log("toy")`,
		"wasm/js/src/code/worker.ts":         `console.log("code")`,
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return bundler{root: root, wasm: filepath.Join(root, "none"), out: filepath.Join(root, "web", "dist"), toy: true}
}

func TestPageNamesItsPartsAndHasNoScriptInside(t *testing.T) {
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
	require.Regexp(t, `assets/engine-worker-\w+\.js`, string(page), "the page is told where its worker is")
	require.NotContains(t, string(page), "only later", "what is imported lazily is a file of its own")
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

func TestErrorNamesFileAndLine(t *testing.T) {
	b := project(t)
	require.NoError(t, os.WriteFile(filepath.Join(b.root, "web/view/lazy.ts"), []byte("export const = 3"), 0o644))
	err := b.run("page")
	require.ErrorContains(t, err, "view/lazy.ts:1:13")
}

func TestMissingEngineSaysWhatToDo(t *testing.T) {
	b := project(t)
	b.toy = false
	require.NoError(t, os.WriteFile(filepath.Join(b.root, "wasm/js/src/worker.browser.ts"), []byte("console.log(1)"), 0o644))
	require.ErrorContains(t, b.run("page"), "build the engine module first")
}

func TestGzipSizeIsOfTheBestCompression(t *testing.T) {
	size, err := gzipped([]byte(strings.Repeat("easel ", 1000)))
	require.NoError(t, err)
	require.Less(t, size, 100)
}
