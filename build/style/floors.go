package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// floorsFile orders the files of a package from the ground up. An arrow leads from a file to one
// that declares a name, a field or a method that it uses; it runs upward if the file it leads to
// has a higher floor. Arrows within a floor are free: the largest circle of files is a separate
// figure, which no floor changes.
const floorsFile = "build/style/floors.txt"

// arrows are pairs of files of one package, the first of which uses names that the second declares.
type arrows map[[2]string][]string

// upward counts the arrows that run to a higher floor, for each package in floors.txt.
func upward(p *program) ([]measure, error) {
	data, err := os.ReadFile(floorsFile)
	if errors.Is(err, fs.ErrNotExist) { // another module, see -figures
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	floors, err := readFloors(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", floorsFile, err)
	}
	var found []measure
	for _, pkg := range p.packages {
		if of, ok := floors[pkg.path]; ok {
			found = append(found, measureFloors(pkg.path, of, pkg.names(p), pkg.arrows(p))...)
		}
	}
	return found, nil
}

// readFloors reads "package:" lines, each followed by floors "name: file file", ground first.
func readFloors(text string) (map[string]map[string]int, error) {
	all := map[string]map[string]int{}
	var floors map[string]int
	floor := 0
	for i, line := range strings.Split(text, "\n") {
		name, files, ok := strings.Cut(line, ":")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !ok:
			return nil, fmt.Errorf("line %d: no colon after the name", i+1)
		case strings.TrimSpace(files) == "":
			floors, floor = map[string]int{}, 0
			all[name] = floors
		case floors == nil:
			return nil, fmt.Errorf("line %d: a floor before the first package", i+1)
		default:
			for _, file := range strings.Fields(files) {
				if _, ok := floors[file+".go"]; ok {
					return nil, fmt.Errorf("line %d: %s is on two floors", i+1, file)
				}
				floors[file+".go"] = floor
			}
			floor++
		}
	}
	return all, nil
}

// measureFloors counts the arrows that run up, and compares the files of a package with its floors.
func measureFloors(name string, floors map[string]int, files []string, found arrows) []measure {
	up := measure{rule: "upward", key: name}
	for arrow, names := range found {
		if floors[arrow[1]] > floors[arrow[0]] {
			up.where = append(up.where, fmt.Sprintf("%s -> %s: %s", arrow[0], arrow[1], strings.Join(names, ", ")))
		}
	}
	slices.Sort(up.where)
	up.n = len(up.where)
	out := []measure{up}
	report := func(file, problem string) {
		out = append(out, measure{rule: "floor", key: name + "/" + file, n: 1, where: []string{problem}})
	}
	for _, file := range files {
		if _, ok := floors[file]; !ok {
			report(file, "not in "+floorsFile)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(floors)) {
		if !slices.Contains(files, file) {
			report(file, "in "+floorsFile+", but the package has no such file")
		}
	}
	return out
}

// fileCircles measures each package by its largest circle of files: so many have to be read
// together, whatever their floors.
func fileCircles(p *program) []measure {
	var found []measure
	for _, pkg := range p.packages {
		graph := map[string][]string{}
		for arrow := range pkg.arrows(p) {
			graph[arrow[0]] = append(graph[arrow[0]], arrow[1])
		}
		largest := measure{rule: "file-circle", key: pkg.path}
		for _, group := range components(graph) {
			largest.n = max(largest.n, len(group))
		}
		found = append(found, largest)
	}
	return found
}

// names returns the sorted names of the files of a package.
func (c *checked) names(p *program) []string {
	var names []string
	for _, file := range c.files {
		names = append(names, filepath.Base(p.set.Position(file.Pos()).Filename))
	}
	slices.Sort(names)
	return names
}

// arrows returns which files of a package use which.
func (c *checked) arrows(p *program) arrows {
	names := map[[2]string]map[string]bool{}
	for _, file := range c.files {
		from := filepath.Base(p.set.Position(file.Pos()).Filename)
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || !c.declares(c.uses[id]) {
				return true
			}
			to := filepath.Base(p.set.Position(c.uses[id].Pos()).Filename)
			if arrow := [2]string{from, to}; to != from {
				if names[arrow] == nil {
					names[arrow] = map[string]bool{}
				}
				names[arrow][id.Name] = true
			}
			return true
		})
	}
	found := arrows{}
	for arrow, used := range names {
		found[arrow] = slices.Sorted(maps.Keys(used))
	}
	return found
}

// declares reports whether the package declares an object: a name of the package, a field or a
// method.
func (c *checked) declares(o types.Object) bool {
	if o == nil || o.Pkg() != c.types || !o.Pos().IsValid() {
		return false
	}
	if v, ok := o.(*types.Var); ok && v.IsField() {
		return true
	}
	return o.Parent() == nil || o.Parent() == c.types.Scope() // methods have no scope
}
