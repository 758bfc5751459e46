package main

import (
	"bytes"
	"fmt"
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

func TestEmbeddedFieldsAreCountedInStructs(t *testing.T) {
	found := embeddedFields(typed(t, map[string]string{
		"a.go": "type a struct{}\ntype b struct{ a; *c; i; x, y a }\ntype c struct{ a a }\n" +
			"type i interface{ error; any; j }\ntype j interface{}\ntype d = b\nvar v struct{ a }\n",
	}))
	above := map[string]int{}
	for _, m := range found {
		if m.n > m.limit {
			above[m.key] = m.n
		}
	}
	require.Equal(t, map[string]int{"p.b": 3}, above)
}

func TestArrowsThatRunUp(t *testing.T) {
	p := typed(t, map[string]string{
		"low.go":   "type low struct{ of *high }\nfunc (l low) up() { l.of.down(); l.of.field++ }\n",
		"high.go":  "type high struct{ field int }\nfunc (h *high) down() { _ = low{} }\n",
		"loose.go": "var _ low\n",
		"alone.go": "type alone int\n",
	})
	floors, err := readFloors("# about\np:\nground: low removed\nfirst: high\n")
	require.NoError(t, err)
	pkg := p.packages[0]
	require.Equal(t, []measure{
		{rule: "upward", key: "p", n: 1, where: []string{"low.go -> high.go: down, field, high"}},
		{rule: "floor", key: "p/alone.go", n: 1, where: []string{"not in build/style/floors.txt"}},
		{rule: "floor", key: "p/loose.go", n: 1, where: []string{"not in build/style/floors.txt"}},
		{rule: "floor", key: "p/removed.go", n: 1, where: []string{
			"in build/style/floors.txt, but the package has no such file",
		}},
	}, measureFloors("p", floors["p"], pkg.names(p), pkg.arrows(p)))
	require.Equal(t, []measure{{rule: "file-circle", key: "p", n: 2}}, fileCircles(p))
	for text, want := range map[string]string{
		"ground: low\n": "line 1: a floor before the first package", "p:\nlow\n": "line 2: no colon",
		"p:\na: low\nb: high low\n": "line 3: low is on two floors",
	} {
		_, err = readFloors(text)
		require.ErrorContains(t, err, want)
	}
}

func TestFilesWithoutACircle(t *testing.T) {
	p := typed(t, map[string]string{"low.go": "type low int\n", "high.go": "type high struct{ of low }\n"})
	require.Equal(t, []measure{{rule: "file-circle", key: "p"}}, fileCircles(p))
}

func TestVagueWordsOfNames(t *testing.T) {
	p := typed(t, map[string]string{
		"a.go": "type heldBox struct{ MostFiles, inMost int }\n" +
			"func leftover(kept heldBox) { _ = kept.MostFiles; given: goto given }\n",
	})
	// The package, its type, both fields, function, parameter and label.
	require.Equal(t, naming{all: 7, vague: 3, superlative: 1}, namingOf(p))
	require.Zero(t, naming{}.per1000(0))
}

func TestFilesAndImportsOfPackages(t *testing.T) {
	p := typed(t, map[string]string{"a.go": "import _ \"strings\"\nimport q \"path\"\nvar _ = q.Base\n", "b.go": ""})
	files, imports := spread(p)
	require.Equal(t, []measure{{rule: "package-files", key: "p", n: 2}}, files)
	require.Equal(t, []measure{{rule: "package-imports", key: "p", n: 0}}, imports, "of other modules")
	p.packages = append(p.packages, &checked{path: "path", types: types.NewPackage("path", "path")})
	_, imports = spread(p)
	require.Equal(t, 1, imports[0].n)
}

func TestPackagesInAFolder(t *testing.T) {
	files := tree{"main.go": nil, "x/rooms_test.go": nil, "x/deep/er/a.go": nil}
	for i := range maxRooms + 1 {
		files[fmt.Sprintf("x/p%02d/a.go", i)] = nil
		files[fmt.Sprintf("x/p%02d/b.go", i)] = nil
	}
	found := map[string]measure{}
	for _, m := range rooms(files) {
		found[m.key] = m
	}
	require.Len(t, found, 2)
	require.Equal(t, 31, found["x"].n, "folders without a package of their own and with tests only do not count")
	require.Greater(t, found["x"].n, found["x"].limit)
	require.Equal(t, "x/p00", found["x"].where[0])
	require.Equal(t, []string{"x/deep/er"}, found["x/deep"].where)
}

func TestRoomsOfTheHostAreInNoCircle(t *testing.T) {
	edges := map[string]bool{
		"host > host/internal/app": true, "host/internal/app > host/internal/store": true, "wasm > engine": true,
		"host/internal/knowledge/ingest > host/internal/knowledge/index": true,
		"host/internal/knowledge/ingest > host/internal/store":           true,
	}
	require.Empty(t, roomCircles(edges))
	edges["host/internal/store > host/internal/knowledge/dataset"] = true
	require.Equal(t, []measure{{
		rule: "room-circle", key: "host/internal/knowledge", n: 2, where: []string{"knowledge", "store"},
	}}, roomCircles(edges), "packages without a circle may lie in rooms with one")
}

func TestAccentCountsCommentsOnly(t *testing.T) {
	found := accents(tree{
		"a/x.go": []byte(
			"// n is what a caller reads.\n//\nx := `is what` // it gives\n/* beside it, there is none\n",
		),
		"a/x_test.go":      []byte("// It tells.\n"),
		"a/x.md":           []byte("// It tells.\n"),
		"b/x.ts":           []byte("/**\n * It gives a list,\n * and is what it tells.\n */\nsays(); // it says\n"),
		"b/x.tsx":          []byte("// It asks.\n"),
		"b/x.mjs":          []byte("// It asks.\n"),
		"b/test/x.test.ts": []byte("// It tells.\n"),
	})
	counts := map[string]int{}
	for _, m := range found {
		counts[m.rule+" "+m.key] = m.n
	}
	require.Equal(t, map[string]int{
		"accent a": 3, "accent-test a": 1, "accent b": 5, "accent-test b/test": 1,
	}, counts)
}

func TestAccentOfTypeScriptHasTheLimitOfGo(t *testing.T) {
	found := accents(tree{"a/x.ts": bytes.Repeat([]byte("// fine\n"), 200)})
	require.Empty(t, found)
	text := append(bytes.Repeat([]byte("// fine\n"), 198), "// it gives\n// it says\n"...)
	found = accents(tree{"a/x.ts": text})
	require.Len(t, found, 1)
	require.Equal(t, 2, found[0].n)
	require.Equal(t, 3, found[0].limit, "15 of 1,000 in 200 lines")
}

func TestAccentByPattern(t *testing.T) {
	d := densityOf(tree{
		"a/x.go": []byte("// n is what a caller reads, and is that of it.\n// Returns a list.\n*p = 1\n"),
		"a/y.go": []byte("\t// It Gives, beside of its own,\n// meanwhile there are none.\nx() // it tells\n"),
		"b/z.ts": []byte("/**\n * fine\n */\n"),

		"build/style/accent.go": []byte("// it gives\n"),
	})
	require.Equal(t, density{lines: 6, hits: []int{2, 1, 3, 1}}, d)
	require.InDelta(t, 333.3, d.per1000(0), 0.1)
	require.InDelta(t, 1166.7, d.all(), 0.1)
	require.Zero(t, densityOf(tree{}).all())
}

func TestTypeScriptThatDoesNotParseIsReported(t *testing.T) {
	t.Chdir("../..")
	const file = "build/style/testdata/broken.ts"
	functions, unparsed, err := tsFunctions(tree{file: nil})
	require.NoError(t, err)
	require.Equal(t, []measure{{rule: "function-lines", key: file + ":cut", n: 3, limit: functionLines}}, functions)
	require.Equal(t, []measure{
		{rule: "unparsed", key: file, n: 1, where: []string{file + ":2: see the parser of build/style/functions.mjs"}},
	}, unparsed)
}

func TestFunctionsOfTypeScript(t *testing.T) {
	t.Chdir("../..")
	found, unparsed, err := tsFunctions(tree{"build/style/testdata/shape.tsx": nil})
	require.NoError(t, err)
	require.Empty(t, unparsed)
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
