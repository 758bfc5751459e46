package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
)

const functionLines = 80

// goFunctions measures the functions of Go files in lines.
func goFunctions(files tree) ([]measure, error) {
	var found []measure
	err := eachFunction(files, func(name string, set *token.FileSet, f *ast.FuncDecl) {
		start, end := set.Position(f.Pos()).Line, set.Position(f.End()).Line
		key := name + ":" + f.Name.Name
		found = append(found, measure{rule: "function-lines", key: key, n: end - start + 1, limit: functionLines})
	})
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
