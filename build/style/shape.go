package main

import (
	"bytes"
	"slices"
)

// shape holds the findings about functions, types, files and comments. All functions, types
// and folders are in it, those within their limits too.
type shape struct {
	goLines, tsLines         int // tests apart, as are the functions, types and folders
	goFunctions, tsFunctions []measure
	unparsed                 []measure // TypeScript in which functions may be missing
	methodSets, embedded     []measure
	upward, fileCircles      []measure
	rooms, files, imports    []measure // of folders, of packages
	naming                   naming
	accents                  []measure // by folder
	accentGo, accentTS       density   // tests apart
}

func shapeOf(files tree, builds []build) (*shape, error) {
	product, page := files.product(), files.typeScript()
	s := &shape{
		goLines: product.lines(), tsLines: page.lines(), rooms: rooms(files), accents: accents(files),
		accentGo: densityOf(product), accentTS: densityOf(page),
	}
	p, err := loadProgram(builds)
	if err != nil {
		return nil, err
	}
	s.methodSets, s.embedded, s.fileCircles = methodSets(p), embeddedFields(p), fileCircles(p)
	s.naming = namingOf(p)
	s.files, s.imports = spread(p)
	if s.upward, err = upward(p); err != nil {
		return nil, err
	}
	if s.goFunctions, err = goFunctions(product); err != nil {
		return nil, err
	}
	s.tsFunctions, s.unparsed, err = tsFunctions(page)
	return s, err
}

// measures returns the findings that are above a limit or that debt.txt may name. Circles of files
// and the files and imports of packages have no limit: they are rows of the table.
func (s *shape) measures() []measure {
	all := slices.Concat(
		s.goFunctions, s.tsFunctions, s.unparsed, s.methodSets, s.embedded, s.upward, s.rooms, s.accents,
	)
	return slices.DeleteFunc(all, func(m measure) bool { return m.n <= m.limit })
}

// lines counts the lines of all files.
func (t tree) lines() (n int) {
	for _, data := range t {
		n += bytes.Count(data, []byte("\n"))
	}
	return n
}
