package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

// ownCodes are packages whose codes are stored with documents that cannot be read.
var ownCodes = []string{"host/internal/document/", "host/internal/knowledge/folder/"}

// wireWord is a word to which the source sets, compares or defines a code, a status or a severity.
type wireWord struct {
	kind, word string
	at         token.Pos
}

// Codes, statuses and severities in the source are words of the vocabulary, and statuses and
// severities are written as constants.
func TestSourceUsesTheVocabulary(t *testing.T) {
	known := map[string]bool{"": true}
	for _, group := range engine.Codes() {
		for _, term := range group.Codes {
			known[term.Word] = true
		}
	}
	statuses := map[string]bool{"error": true, "warning": true}
	for _, term := range engine.Statuses() {
		statuses[term.Word] = true
	}
	found := 0
	for _, top := range []string{"engine", "host", "wasm"} {
		root := filepath.Join("..", "..", top)
		require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			name, _ := strings.CutPrefix(filepath.ToSlash(path), "../../")
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || foreign(name) {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, w := range wireWords(file) {
				found++
				switch {
				case w.kind == "code" && !known[w.word]:
					t.Errorf("%s: code %q is not in engine.Codes", set.Position(w.at), w.word)
				case w.kind != "code" && statuses[w.word]:
					t.Errorf("%s: %s %q: use the constant of engine", set.Position(w.at), w.kind, w.word)
				}
			}
			return nil
		}))
	}
	require.Greater(t, found, 50, "the source was not found")
}

func foreign(name string) bool {
	for _, prefix := range ownCodes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var vocabularyWord = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)

// wireWords finds literals that are the value of a field, a constant or a comparison which is named
// Code, Status or Severity.
func wireWords(file *ast.File) (found []wireWord) {
	note := func(name, value ast.Expr) {
		kind := wireKind(name)
		lit, ok := value.(*ast.BasicLit)
		if kind == "" || !ok || lit.Kind != token.STRING {
			return
		}
		if word, err := strconv.Unquote(lit.Value); err == nil && vocabularyWord.MatchString(word) {
			found = append(found, wireWord{kind, word, lit.Pos()})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			note(n.Key, n.Value)
		case *ast.BinaryExpr:
			note(n.X, n.Y)
			note(n.Y, n.X)
		case *ast.AssignStmt:
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				note(n.Lhs[i], n.Rhs[i])
			}
		case *ast.SwitchStmt:
			for _, clause := range n.Body.List {
				for _, value := range clause.(*ast.CaseClause).List {
					note(n.Tag, value)
				}
			}
		case *ast.ValueSpec:
			for i := range min(len(n.Names), len(n.Values)) {
				if strings.HasPrefix(n.Names[i].Name, "Code") {
					note(ast.NewIdent("code"), n.Values[i])
				}
			}
		case *ast.CompositeLit:
			if name(n.Type) == "Status" && len(n.Elts) > 1 { // an api.Status without names of fields
				note(ast.NewIdent("code"), n.Elts[1])
			}
		case *ast.CallExpr:
			if name(n.Fun) == "Refuse" && len(n.Args) > 0 {
				note(ast.NewIdent("code"), n.Args[0])
			}
			for i := range max(len(n.Args)-1, 0) {
				if lit, ok := n.Args[i].(*ast.BasicLit); ok && name(n.Fun) == "Set" && lit.Value == `"code"` {
					note(ast.NewIdent("code"), n.Args[i+1])
				}
			}
		}
		return true
	})
	return found
}

// wireKind returns "code", "status" or "severity" for an expression of that name, else "".
func wireKind(e ast.Expr) string {
	switch kind := strings.ToLower(name(e)); kind {
	case "code", "status", "severity":
		return kind
	}
	return ""
}

// name returns the last part of the name of an expression, "" when it has none.
func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func TestWireWordsAreFound(t *testing.T) {
	for text, want := range map[string]string{
		`var x = Status{Code: "gone"}`:                  "gone",
		`var x = api.Status{410, "gone", "m"}`:          "gone",
		`var x = Refuse("gone", "m")`:                   "gone",
		`const CodeGone = "gone"`:                       "gone",
		`func f() { if e.Code == "gone" { } }`:          "gone",
		`func f() { switch e.Status { case "done": } }`: "done",
		`func f() { end.Status = "failed" }`:            "failed",
		`var x = Diagnostic{Severity: "error"}`:         "error",
		`var x = Page{Title: "gone"}`:                   "",
		`var x = Status{Code: "No Code"}`:               "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+text+"\n", 0)
		require.NoError(t, err, text)
		got := ""
		for _, w := range wireWords(file) {
			got = w.word
		}
		require.Equal(t, want, got, text)
	}
}
