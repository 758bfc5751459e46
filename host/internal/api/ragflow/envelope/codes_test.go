package envelope

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
)

// answered are the numbers that RAGFlow's agent API answers failures with; unused are those that it
// defines besides: not effective, connection error, forbidden.
var (
	answered = []int{100, 101, 102, 103, 106, 108, 109, 400, 401, 404, 409, 500}
	unused   = []int{10, 105, 403}
)

func TestEveryKindHasANumber(t *testing.T) {
	for _, k := range api.Kinds() {
		require.Contains(t, codes, k, "%s", k.Code())
	}
	require.Len(t, codes, len(api.Kinds()))
}

func TestEveryNumberHasAKind(t *testing.T) {
	numbers := slices.Sorted(maps.Values(codes))
	require.Equal(t, answered, slices.Compact(numbers))
	for _, n := range unused {
		require.NotContains(t, numbers, n)
	}
}

// The numbers stand in codes.go only: a handler names a kind.
func TestNumbersAreInTheTableOnly(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.Contains(name, "/apitest/") || strings.HasSuffix(name, "/envelope/codes.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		for _, at := range numbersIn(file) {
			t.Errorf("%s: a code of RAGFlow; use a kind and envelope.Code", set.Position(at))
		}
		return nil
	}))
	require.Greater(t, files, 100, "the source of the API was not found")
}

// The scan finds numbers where they would stand, and passes over other numbers.
func TestScanFindsNumbers(t *testing.T) {
	for text, found := range map[string]bool{
		`engine.Object("code", 0)`: true, `engine.Object("code", 400)`: true, `v.With("code", engine.Int(500))`: true,
		`Failure{Code: 404}`: true, `failed(102, "x")`: true, `f.Code == 401`: true, `100 == f.Code`: true,
		`engine.Object("code", status)`: false, `page(100)`: false, `w.WriteHeader(404)`: false,
		`Route{Status: 409}`: false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar x = "+text+"\n", 0)
		require.NoError(t, err, text)
		require.Equal(t, found, len(numbersIn(file)) > 0, text)
	}
}

// numbersIn finds codes of RAGFlow as literals: those of 101 to 109 anywhere, all of them as the
// value of a member or field named code, or compared with one.
func numbersIn(file *ast.File) (found []token.Pos) {
	note := func(e ast.Expr) {
		if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 {
			e = call.Args[0]
		}
		if n, ok := number(e); ok && (n == 0 || slices.Contains(answered, n) || slices.Contains(unused, n)) {
			found = append(found, e.Pos())
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if v, ok := number(n); ok && v > 100 && v < 110 {
				found = append(found, n.Pos())
			}
		case *ast.CallExpr:
			for i, arg := range n.Args[:max(len(n.Args)-1, 0)] {
				if lit, ok := arg.(*ast.BasicLit); ok && lit.Value == `"code"` {
					note(n.Args[i+1])
				}
			}
		case *ast.KeyValueExpr:
			if isCode(n.Key) {
				note(n.Value)
			}
		case *ast.BinaryExpr:
			if isCode(n.X) {
				note(n.Y)
			}
			if isCode(n.Y) {
				note(n.X)
			}
		}
		return true
	})
	return found
}

func number(e ast.Expr) (int, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.INT {
		return 0, false
	}
	n, err := strconv.Atoi(strings.ReplaceAll(lit.Value, "_", ""))
	return n, err == nil
}

// isCode reports whether an expression is named code.
func isCode(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return strings.EqualFold(e.Name, "code")
	case *ast.SelectorExpr:
		return isCode(e.Sel)
	case *ast.BasicLit:
		return e.Value == `"code"`
	}
	return false
}
