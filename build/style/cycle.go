package main

import (
	"maps"
	"path"
	"regexp"
	"slices"
)

// tsImport matches a TypeScript import, types included: from "./x.ts", import "./x.ts",
// import("./x.ts").
var tsImport = regexp.MustCompile(`(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}(?:/[^"']*)?)["']`)

// endings of the file that an import means. AssemblyScript names no endings.
var endings = []string{"", ".ts", "/index.ts"}

// cycles finds groups of TypeScript and AssemblyScript files that import each other, directly or
// indirectly.
func cycles(files tree) ([]measure, error) {
	graph := map[string][]string{}
	for name, data := range files {
		if ext := path.Ext(name); ext != ".ts" && ext != ".tsx" {
			continue
		}
		for _, m := range tsImport.FindAllSubmatch(data, -1) {
			for _, ending := range endings {
				target := path.Join(path.Dir(name), string(m[1])+ending)
				if _, ok := files[target]; ok {
					graph[name] = append(graph[name], target)
					break
				}
			}
		}
	}
	var found []measure
	for _, group := range components(graph) {
		slices.Sort(group)
		found = append(found, measure{rule: "import-cycle", key: group[0], n: len(group), where: group})
	}
	return found, nil
}

// components returns the strongly connected components of more than one node (Tarjan's algorithm).
func components(graph map[string][]string) [][]string {
	t := tarjan{graph: graph, index: map[string]int{}, low: map[string]int{}, onStack: map[string]bool{}}
	for _, node := range slices.Sorted(maps.Keys(graph)) {
		if _, seen := t.index[node]; !seen {
			t.visit(node)
		}
	}
	return t.groups
}

type tarjan struct {
	graph      map[string][]string
	index, low map[string]int
	stack      []string
	onStack    map[string]bool
	groups     [][]string
}

func (t *tarjan) visit(node string) {
	t.index[node] = len(t.index)
	t.low[node] = t.index[node]
	t.stack = append(t.stack, node)
	t.onStack[node] = true
	for _, next := range t.graph[node] {
		if _, seen := t.index[next]; !seen {
			t.visit(next)
			t.low[node] = min(t.low[node], t.low[next])
		} else if t.onStack[next] {
			t.low[node] = min(t.low[node], t.index[next])
		}
	}
	if t.low[node] != t.index[node] {
		return
	}
	at := slices.Index(t.stack, node)
	group := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, member := range group {
		t.onStack[member] = false
	}
	if len(group) > 1 || slices.Contains(t.graph[node], node) {
		t.groups = append(t.groups, group)
	}
}
