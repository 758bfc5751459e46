package main

import (
	"fmt"
	"os"
	"path/filepath"
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
		"Makefile":      "run:\nbuild/out/easel:\n",
		"engine/run.go": "package engine\n",
		"docs/guide.md": "# A guide, in short\n",
		"docs/page.md": "[a](guide.md) [b](guide.md#a-guide-in-short) [c](guide.md#chapter) [d](gone.md) " +
			"[e](https://a.b/c)\n" +
			"`engine/run.go:3` `engine/*.go` `engine/gone.go` `text/html` `host.name/x`\n" +
			"`make run` `make build/out/easel` `make gone`, and make sure\n" +
			"```\n[f](gone.md) `engine/gone.go`\nmake lost\n```\n",
	}))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, []string{
		"docs/page.md:1: link guide.md#chapter: no such heading",
		"docs/page.md:1: link gone.md: no such file or folder",
		"docs/page.md:2: engine/gone.go: no such file or folder",
		"docs/page.md:3: make gone: the Makefile has no such target",
		"docs/page.md:6: make lost: the Makefile has no such target",
	}, found[0].where)
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

// CONTRIBUTING.md states the limits of the rules.
func TestContributingStatesLimits(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf(
		"columns (%d for code, %d for comments), lines per file (%d) and function (%d), methods per type (%d)",
		codeWidth, commentWidth, fileLines, functionLines, typeMethods,
	))
}
