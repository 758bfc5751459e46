package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// repository writes files to a temporary folder and makes it the working directory of the test.
func repository(t *testing.T, files map[string]string) tree {
	t.Helper()
	t.Chdir(t.TempDir())
	out := tree{}
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		out[name] = []byte(text)
	}
	return out
}

func TestDocumentsNameWhatExists(t *testing.T) {
	found, err := documents(repository(t, map[string]string{
		"Makefile":           "run:\nbuild/out/easel:\n",
		"engine/run.go":      "package engine\n",
		"engine/run_test.go": "package engine\n\nfunc TestRun(t *testing.T) {}\n\nfunc ExampleRun_stop() {}\n",
		"docs/guide.md":      "# A guide, in short\n",
		"docs/page.md": "[a](guide.md) [b](guide.md#a-guide-in-short) [c](guide.md#chapter) [d](gone.md) " +
			"[e](https://a.b/c)\n" +
			"`engine/run.go:3` `engine/*.go` `engine/gone.go` `text/html` `host.name/x`\n" +
			"`make run` `make build/out/easel` `make gone`, and make sure\n" +
			"```\n[f](gone.md) `engine/gone.go`\nmake lost\n```\n" +
			"`TestRun/first`, ExampleRun_stop and Tests pass, TestGone and `BenchmarkGone` fail\n",
	}))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, []string{
		"docs/page.md:1: link guide.md#chapter: no such heading",
		"docs/page.md:1: link gone.md: no such file or folder",
		"docs/page.md:2: engine/gone.go: no such file or folder",
		"docs/page.md:3: make gone: the Makefile has no such target",
		"docs/page.md:6: make lost: the Makefile has no such target",
		"docs/page.md:8: TestGone: no such test",
		"docs/page.md:8: BenchmarkGone: no such test",
	}, found[0].where)
}

func TestIndexOfDecisionsIsComplete(t *testing.T) {
	found, err := documents(repository(t, map[string]string{
		"Makefile":                 "run:\n",
		"docs/decisions/README.md": "- [One](one.md)\n",
		"docs/decisions/one.md":    "# One\n",
		"docs/decisions/two.md":    "# Two\n",
	}))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, []string{"docs/decisions/README.md: two.md is missing"}, found[0].where)
}

func TestDependenciesHaveReasons(t *testing.T) {
	table := "| name | why |\n| dop251/goja, @codemirror/* (page) | scripts |\n| old/gone | unused |\n" +
		"| golang.org/x/perf | tool |\n"
	names := namedModules("## Dependencies\n" + table)
	for module, want := range map[string]bool{
		"github.com/dop251/goja":          true,
		"github.com/dop251/goja_nodejs":   false,
		"@codemirror/view":                true,
		"golang.org/x/perf/cmd/benchstat": true,
		"github.com/new/module":           false,
	} {
		got := false
		for _, n := range names {
			got = got || covers(n, module)
		}
		require.Equal(t, want, got, module)
	}
}

// The limits of what a reader opens to follow one value through a server and through the page.
const (
	serverFiles    = 14
	serverPackages = 6
	pageFiles      = 12
)

// The documented way of one value stays within its limits, and every file on it exists.
func TestWayOfOneValueIsShort(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	server, question, events := waysOfOneValue(t, string(text))
	require.LessOrEqual(t, len(server), serverFiles, "files of a server")
	packages := map[string]bool{}
	for _, file := range server {
		packages[path.Dir(file)] = true
	}
	require.LessOrEqual(t, len(packages), serverPackages, "packages of a server")
	require.LessOrEqual(t, len(question), pageFiles, "files from the page to the engine")
	require.LessOrEqual(t, len(events), pageFiles, "files from the engine to the page")
	for _, way := range [][]string{server, question, events} {
		require.Greater(t, len(way), 5, "a way of so few files is not read from the document")
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(way))), len(way), "a file stands twice")
		for _, file := range way {
			require.FileExists(t, filepath.Join(root, filepath.FromSlash(file)))
		}
	}
}

func TestWaysOfOneValueAreRead(t *testing.T) {
	server, question, events := waysOfOneValue(t, "## The path of a request\n\n"+
		"**A completion on a server**, in `host/x`:\n\n| step | file |\n|---|---|\n"+
		"| `Start` reads | `host/a.go` |\n| writes | `host/b/c.go` |\n\nAsked: `host/d.go`.\n\n"+
		"**A question in the page**, there: `web/a.ts`, `wasm/b.go`.\n\n**Its events**, back: `wasm/b.go`.\n\n"+
		"**Where something is decided:**\n\n| question | file |\n| x | `host/e.go` |\n\n"+
		"## Next\n| x | `host/f.go` |\n")
	require.Equal(t, []string{"host/a.go", "host/b/c.go"}, server)
	require.Equal(t, []string{"web/a.ts", "wasm/b.go"}, question)
	require.Equal(t, []string{"wasm/b.go"}, events)
}

// waysOfOneValue reads the files that architecture.md lists for a completion on a server, for a
// question in the page and for its events.
func waysOfOneValue(t *testing.T, text string) (server, question, events []string) {
	t.Helper()
	_, section, ok := strings.Cut(text, "\n## The path of a request\n")
	if !ok {
		section, ok = strings.CutPrefix(text, "## The path of a request\n")
	}
	require.True(t, ok, "no chapter about the way of one value")
	section, _, _ = strings.Cut(section, "\n## ")
	name := regexp.MustCompile("`((?:host|web|wasm|engine)/[\\w./-]+\\.(?:go|ts|tsx))`")
	var way *[]string
	for line := range strings.SplitSeq(section, "\n") {
		switch {
		case strings.HasPrefix(line, "**A completion on a server**"):
			way = &server
			continue
		case strings.HasPrefix(line, "**A question in the page**"):
			way = &question
		case strings.HasPrefix(line, "**Its events**"):
			way = &events
		case line != "" && !strings.HasPrefix(line, "|"):
			way = nil
		}
		if way == nil {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(line, -1) {
			*way = append(*way, m[1])
		}
	}
	return server, question, events
}

// CONTRIBUTING.md states the limits of the rules.
func TestContributingStatesLimits(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf(
		"columns (%d for code, %d for comments), lines per file (%d) and function (%d), methods per type (%d), "+
			"embedded fields per struct (%d), packages directly in a folder (%d)",
		codeWidth, commentWidth, fileLines, functionLines, maxMethods, maxEmbedded, maxRooms,
	))
}
