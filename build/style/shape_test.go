package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/stretchr/testify/require"
)

// typed checks the types of one package, of files by their names.
func typed(t *testing.T, files map[string]string) *program {
	t.Helper()
	p := &program{set: token.NewFileSet()}
	pkg := &checked{path: "p", uses: map[*ast.Ident]types.Object{}}
	for name, text := range files {
		file, err := parser.ParseFile(p.set, name, "package p\n"+text, parser.SkipObjectResolution)
		require.NoError(t, err)
		pkg.files = append(pkg.files, file)
	}
	cfg := types.Config{Importer: importer.Default()}
	var err error
	pkg.types, err = cfg.Check("p", p.set, pkg.files, &types.Info{Uses: pkg.uses})
	require.NoError(t, err)
	p.packages = []*checked{pkg}
	return p
}

func TestMethodSetsCountEmbeddedMethods(t *testing.T) {
	found := methodSets(typed(t, map[string]string{
		"a.go": "type inner[T any] struct{}\nfunc (i *inner[T]) a() {}\nfunc (inner[T]) b() {}\n",
		"b.go": "type Outer struct{ *inner[int]; i }\nfunc (Outer) c() {}\ntype i interface{ d(); e() }\n",
	}))
	sizes := map[string]int{}
	for _, m := range found {
		sizes[m.key] = m.n
	}
	require.Equal(t, map[string]int{"p.inner": 2, "p.Outer": 5, "p.i": 2}, sizes)
}

func TestArrowsThatRunUp(t *testing.T) {
	p := typed(t, map[string]string{
		"low.go":   "type low struct{ of *high }\nfunc (l low) up() { l.of.down(); l.of.field++ }\n",
		"high.go":  "type high struct{ field int }\nfunc (h *high) down() { _ = low{} }\n",
		"loose.go": "var _ low\n",
	})
	floors, err := readFloors("# about\np:\nground: low\nfirst: high\n")
	require.NoError(t, err)
	found := measureFloors("p", floors["p"], p.packages[0].arrows(p))
	require.Equal(t, []measure{
		{rule: "upward", key: "p", n: 1, where: []string{"low.go -> high.go: down, field, high"}},
		{rule: "floor", key: "p/loose.go", n: 1, where: []string{"not in build/style/floors.txt"}},
	}, found)
	_, err = readFloors("ground: low\n")
	require.ErrorContains(t, err, "line 1: a floor before the first package")
	_, err = readFloors("p:\nlow\n")
	require.ErrorContains(t, err, "line 2: no colon")
}

func TestAccentCountsCommentsOnly(t *testing.T) {
	found := accents(tree{
		"a/x.go": []byte(
			"// n is what a caller reads.\n//\nx := `is what` // it gives\n/* beside it, there is none\n",
		),
		"a/x_test.go": []byte("// It tells.\n"),
		"a/x.ts":      []byte("// It tells.\n"),
	})
	counts := map[string]int{}
	for _, m := range found {
		counts[m.rule+" "+m.key] = m.n
	}
	require.Equal(t, map[string]int{"accent a": 3, "accent-test a": 1}, counts)
}

func TestTypeScriptThatDoesNotParseIsReported(t *testing.T) {
	t.Chdir("../..")
	const file = "build/style/testdata/broken.ts"
	found, err := tsFunctions(tree{file: nil})
	require.NoError(t, err)
	require.Equal(t, []measure{
		{rule: "function-lines", key: file + ":cut", n: 3, limit: functionLines},
		{rule: "unparsed", key: file, n: 1, where: []string{file + ":2: see the parser of build/style/functions.mjs"}},
	}, found)
}

func TestFunctionsOfTypeScript(t *testing.T) {
	t.Chdir("../..")
	found, err := tsFunctions(tree{"build/style/testdata/shape.tsx": nil})
	require.NoError(t, err)
	lines := map[string]int{}
	for _, m := range found {
		lines[m.key] = m.n
	}
	const file = "build/style/testdata/shape.tsx:"
	require.Equal(t, map[string]int{
		file + "View": 7, file + "inner": 3, file + "short": 1, file + "method": 3, file + "#hidden": 2,
		file + "line 12": 1, file + "shorthand": 3, file + "getter": 3, file + "held": 5, file + "named": 5,
	}, lines)
}
