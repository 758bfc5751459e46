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

// floorsFile orders the files of a package from the ground up: what a file uses should be on its
// own floor or below.
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
			found = append(found, measureFloors(pkg.path, of, pkg.arrows(p))...)
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
				floors[file+".go"] = floor
			}
			floor++
		}
	}
	return all, nil
}

func measureFloors(name string, floors map[string]int, found arrows) []measure {
	up := measure{rule: "upward", key: name}
	missing := map[string]bool{}
	for arrow, names := range found {
		for _, file := range arrow {
			if _, ok := floors[file]; !ok {
				missing[file] = true
			}
		}
		if floors[arrow[1]] > floors[arrow[0]] {
			up.where = append(up.where, fmt.Sprintf("%s -> %s: %s", arrow[0], arrow[1], strings.Join(names, ", ")))
		}
	}
	slices.Sort(up.where)
	up.n = len(up.where)
	out := []measure{up}
	for _, file := range slices.Sorted(maps.Keys(missing)) {
		out = append(out, measure{rule: "floor", key: name + "/" + file, n: 1, where: []string{"not in " + floorsFile}})
	}
	return out
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
