package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	module     = "github.com/easel-canvas/easel/"
	layersFile = "build/style/layers.txt"
)

// layers compares the imports among packages of the module with the table in layers.txt. Both an
// unlisted import and a listed one that does not exist are problems: the table documents the
// architecture.
func layers(files tree) ([]measure, error) {
	table, err := readLayers(layersFile)
	if err != nil {
		return nil, err
	}
	actual, err := imports(files.product())
	if err != nil {
		return nil, err
	}
	var found []measure
	for _, edge := range slices.Sorted(maps.Keys(actual)) {
		if !table[edge] {
			found = append(found, measure{rule: "import", key: edge, n: 1, where: []string{"not in " + layersFile}})
		}
	}
	for _, edge := range slices.Sorted(maps.Keys(table)) {
		if !actual[edge] {
			found = append(found, measure{rule: "import", key: edge, n: 1, where: []string{
				"in " + layersFile + ", but no file imports it",
			}})
		}
	}
	return append(found, roomCircles(actual)...), nil
}

// hostRooms holds the rooms of the host: its folders, each with all packages below it.
const hostRooms = "host/internal/"

// roomCircles finds rooms of the host that import each other, directly or indirectly. The compiler
// refuses circles of packages only.
func roomCircles(edges map[string]bool) []measure {
	graph := map[string][]string{}
	for edge := range edges {
		importer, imported, _ := strings.Cut(edge, " > ")
		from, inside := strings.CutPrefix(importer, hostRooms)
		to, known := strings.CutPrefix(imported, hostRooms)
		from, _, _ = strings.Cut(from, "/")
		to, _, _ = strings.Cut(to, "/")
		if inside && known && from != to {
			graph[from] = append(graph[from], to)
		}
	}
	var found []measure
	for _, group := range components(graph) {
		slices.Sort(group)
		found = append(found, measure{rule: "room-circle", key: hostRooms + group[0], n: len(group), where: group})
	}
	return found
}

// readLayers reads lines of the form "importer: imported imported".
func readLayers(file string) (map[string]bool, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	edges := map[string]bool{}
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		importer, imported, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%s:%d: no colon after the importing package", file, i+1)
		}
		for _, target := range strings.Fields(imported) {
			edges[importer+" > "+target] = true
		}
	}
	return edges, nil
}

// imports lists "importer > imported" for packages of the module, without the module path.
func imports(files tree) (map[string]bool, error) {
	edges := map[string]bool{}
	set := token.NewFileSet()
	for name, data := range files {
		if strings.HasPrefix(name, "plugins/oracle/") {
			continue // a separate module with its own paths
		}
		file, err := parser.ParseFile(set, name, data, parser.ImportsOnly)
		if err != nil {
			return nil, fmt.Errorf("parse: %w", err)
		}
		for _, spec := range file.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
			}
			if inner, ok := strings.CutPrefix(target, module); ok {
				edges[path.Dir(name)+" > "+inner] = true
			}
		}
	}
	return edges, nil
}
