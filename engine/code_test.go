package engine_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// listedCodes returns the words of engine.Codes.
func listedCodes(t *testing.T) map[string]bool {
	t.Helper()
	listed := map[string]bool{}
	for _, g := range engine.Codes() {
		for _, c := range g.Codes {
			require.False(t, listed[c.Word], "%s is listed twice", c.Word)
			require.Regexp(t, regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`), c.Word)
			require.NotEmpty(t, c.Doc, c.Word)
			require.NotContains(t, c.Doc, "\n", c.Word)
			listed[c.Word] = true
		}
	}
	return listed
}

func TestCodesListsEveryConstant(t *testing.T) {
	listed := listedCodes(t)
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	require.NoError(t, err)
	found := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		word, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		require.True(t, listed[word], "%s = %q is not in Codes", spec.Names[0].Name, word)
		found++
		return true
	})
	require.Greater(t, found, 20)
}

func TestEveryDiagnosticHasAListedCode(t *testing.T) {
	listed := listedCodes(t)
	seen := map[string]bool{}
	for _, dsl := range []string{
		manyProblems, `{`, `[1]`, `{"components": {}}`,
		sketch.Canvas(`begin Begin {"prologe": 1} -> T:1`, "T:1 TavilySearch -> T:1"),
		sketch.Canvas("File File"),
	} {
		for _, d := range engine.Validate(builtins(t), []byte(dsl)) {
			require.True(t, listed[d.Code], "%q of %s", d.Code, d)
			seen[d.Code] = true
		}
	}
	for _, code := range []string{
		engine.CodeBadCanvas, engine.CodeBadParam, engine.CodeBadReference,
		engine.CodeEmptySetting, engine.CodeEndlessCycle, engine.CodeNeedsHost, engine.CodeNoItem,
		engine.CodeUnknownComponent,
		engine.CodeUnknownOutput,
		engine.CodeUnknownParam, engine.CodeUnknownTarget, engine.CodeUnreachable,
	} {
		require.True(t, seen[code], code)
	}
}

func TestDiagnosticValueIsItsJSON(t *testing.T) {
	for _, d := range engine.Validate(builtins(t), []byte(manyProblems)) {
		require.Equal(t, jsonText(t, d), d.Value().JSON())
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return strings.NewReplacer("\n", "").Replace(b.String())
}
