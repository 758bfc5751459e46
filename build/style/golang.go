package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
)

const (
	functionLines = 80
	typeMethods   = 40
)

// functions measures functions that are too long to read at once.
func functions(files tree) ([]measure, error) {
	var found []measure
	err := eachFunction(files.product(), func(name string, set *token.FileSet, f *ast.FuncDecl) {
		start, end := set.Position(f.Pos()).Line, set.Position(f.End()).Line
		if n := end - start + 1; n > functionLines {
			key := name + ":" + f.Name.Name
			found = append(found, measure{rule: "function-lines", key: key, n: n, limit: functionLines})
		}
	})
	return found, err
}

// methods counts the methods of each type over all files of its package.
func methods(files tree) ([]measure, error) {
	counts := map[string]int{}
	err := eachFunction(files.product(), func(name string, _ *token.FileSet, f *ast.FuncDecl) {
		if f.Recv != nil {
			counts[path.Dir(name)+"."+receiver(f.Recv.List[0].Type)]++
		}
	})
	var found []measure
	for key, n := range counts {
		if n > typeMethods {
			found = append(found, measure{rule: "methods", key: key, n: n, limit: typeMethods})
		}
	}
	return found, err
}

func eachFunction(files tree, visit func(name string, set *token.FileSet, f *ast.FuncDecl)) error {
	set := token.NewFileSet()
	for name, data := range files {
		file, err := parser.ParseFile(set, name, data, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				visit(name, set, f)
			}
		}
	}
	return nil
}

func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}
