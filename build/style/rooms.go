package main

import (
	"path"
	"slices"
)

// maxRooms is how many packages may lie directly in one folder; the anchors have 16 to 28.
const maxRooms = 30

// rooms measures folders by the packages directly in them, tests apart.
func rooms(files tree) []measure {
	packages := map[string]bool{}
	for name := range files.product() {
		packages[path.Dir(name)] = true
	}
	in := places{}
	for name := range packages {
		if name != "." {
			in.add("packages", path.Dir(name), name)
		}
	}
	all := in.measures()
	for i := range all {
		all[i].limit = maxRooms
		slices.Sort(all[i].where)
	}
	return all
}

// spread measures packages: their files, and how many others of the module they import.
func spread(p *program) (files, imports []measure) {
	ours := map[string]bool{}
	for _, pkg := range p.packages {
		ours[pkg.types.Path()] = true
	}
	for _, pkg := range p.packages {
		files = append(files, measure{rule: "package-files", key: pkg.path, n: len(pkg.files)})
		n := 0
		for _, imported := range pkg.types.Imports() {
			if ours[imported.Path()] {
				n++
			}
		}
		imports = append(imports, measure{rule: "package-imports", key: pkg.path, n: n})
	}
	return files, imports
}
