package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDebtMayOnlyFall(t *testing.T) {
	d := debt{"words a": 3, "words b": 2, "words gone": 1}
	found := []measure{
		{rule: "words", key: "a", n: 4, where: []string{"a/x.go:1"}},
		{rule: "words", key: "b", n: 1},
		{rule: "words", key: "new", n: 1},
		{rule: "methods", key: "small", n: 40, limit: 40},
	}
	problems := d.compare(found)
	require.Len(t, problems, 5)
	require.Equal(t, []string{"words a: 4, at most 3", "\ta/x.go:1"}, problems[:2])
	require.Contains(t, problems[2], "words b: 1 now, 2 in")
	require.Equal(t, "words new: 1, at most 0", problems[3])
	require.Contains(t, problems[4], "words gone: 0 now, 1 in")
	require.Equal(t, debt{"words a": 3, "words b": 1}, d.lowered(found), "an update neither raises nor adds entries")
}

func TestDebtFileSurvivesARoundTrip(t *testing.T) {
	file := filepath.Join(t.TempDir(), "debt.txt")
	want := debt{"import a > b": 1, "methods engine.run": 114}
	require.NoError(t, writeDebt(file, want))
	got, err := readDebt(file)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NoError(t, os.WriteFile(file, []byte("methods x many\n"), 0o644))
	_, err = readDebt(file)
	require.ErrorContains(t, err, `:1: "methods x many" does not end in a number`)
}

func TestWidths(t *testing.T) {
	long := make([]byte, 101)
	for i := range long {
		long[i] = 'x'
	}
	files := tree{"a/b.go": []byte("\t// " + string(long) + "\n\t" + string(long) + "\n//go:embed " + string(long))}
	found, err := widths(files)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "comment-width", found[0].rule)
	require.Equal(t, []string{"a/b.go:1: 108 columns"}, found[0].where)
	require.Equal(t, 5, width([]byte("\té")), "a tab is four columns, a letter one")
	for line, want := range map[string]bool{
		" * more": true, "*/": true, "\t*": true, "/** a */": true, "\t*p = 1": false, "  *each() {": false,
	} {
		require.Equal(t, want, comment([]byte(line)), line)
	}
}

func TestImportsOfTestsDoNotCount(t *testing.T) {
	files := tree{
		"host/a.go":      []byte("package host\nimport _ \"" + module + "engine\"\nimport _ \"os\"\n"),
		"host/a_test.go": []byte("package host\nimport _ \"" + module + "wasm\"\n"),
	}
	edges, err := imports(files.product())
	require.NoError(t, err)
	require.Equal(t, map[string]bool{"host > engine": true}, edges)
}

func TestCyclesCountImportsOfTypes(t *testing.T) {
	files := tree{
		"web/a.ts":  []byte("import type { B } from \"./b.ts\";\n"),
		"web/b.ts":  []byte("export { c } from './sub/c.tsx';\n"),
		"web/d.ts":  []byte("import \"./a.ts\";\nimport { x } from \"react\";\n"),
		"web/e.mjs": []byte("import \"./e.mjs\";\n"),

		"web/sub/c.tsx": []byte("const a = await import(\"../a.ts\");\n"),
		"sdk/a.ts":      []byte("import { B } from \"./b\";\n"),
		"sdk/b.ts":      []byte("export { A } from \"./a\";\n"),
		"as/index.ts":   []byte("export * from \"./body\";\nexport { D } from \"./deep\";\n"),
		"as/body.ts":    []byte("import { C } from \".\";\n"),

		"as/deep/index.ts": []byte("import { C } from \"..\";\n"),
	}
	found, err := cycles(files)
	require.NoError(t, err)
	require.Len(t, found, 3)
	require.Equal(t, []string{"as/body.ts", "as/deep/index.ts", "as/index.ts"}, found[0].where)
	require.Equal(t, []string{"sdk/a.ts", "sdk/b.ts"}, found[1].where)
	require.Equal(t, []string{"web/a.ts", "web/b.ts", "web/sub/c.tsx"}, found[2].where)
}

func TestSubjects(t *testing.T) {
	for _, good := range []string{
		"engine: resolve refs inside lists", "host/api: page sessions by key", "engine, wasm: bring back the floor",
		"api: process forms", "build: embed the SDK", "store: need one index less",
	} {
		require.Empty(t, subjectProblem(good), good)
	}
	for bad, want := range map[string]string{
		"resolve refs": "want area", "Engine: resolve refs": "want area", "engine: Resolve refs": "want area",
		"engine: resolves refs":  `"resolves" is not an imperative`,
		"engine: added refs":     `"added" is not an imperative`,
		"engine: resolving refs": `"resolving" is not an imperative`,

		"engine: resolve refs inside lists and maps and wherever else they may be found": "longer than 72",
	} {
		require.Contains(t, subjectProblem(bad), want, bad)
	}
}

func TestDiscouragedWordsAreFoundByFolder(t *testing.T) {
	found, err := words(tree{
		"a/x.go": []byte(
			"// Nobody's run goes on.\n// fine\n",
		), "a/y.md": []byte("it is no list\n"), "b/z.ts": []byte("ok\n"),
	})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "a", found[0].key)
	require.Equal(t, 2, found[0].n)
}

func TestNamesOfComponentsInThePage(t *testing.T) {
	page := func(line string) tree { return tree{"web/view/x.tsx": []byte(line + "\n")} }
	for _, line := range []string{
		`if (kind === "Switch") return;`, `  LLM: "M12 3l2 6",`, `/^(LLM|Agent)$/.test(kind)`,
		"const a = `Generate`;", `new Set(['Loop'])`,
	} {
		found, err := names(page(line))
		require.NoError(t, err)
		require.Len(t, found, 1, line)
	}
	for _, line := range []string{
		`import { Message } from "./message.ts";`, `t("chat.Switch")`,
		`// a Switch or a Categorize`, `const file: File = new File([], "x");`,
	} {
		found, err := names(page(line))
		require.NoError(t, err)
		require.Empty(t, found, line)
	}
	for _, name := range []string{"web/test/x.ts", "web/words/en.ts", "web/examples/x.json", "wasm/js/src/x.ts"} {
		found, err := names(tree{name: []byte(`"Switch"`)})
		require.NoError(t, err)
		require.Empty(t, found, name)
	}
}
