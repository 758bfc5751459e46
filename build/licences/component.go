package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// component is a third-party component.
type component struct {
	Kind          string   `json:"-"` // golang or npm, "" for components without a registry, easel for easel itself
	Name, Version string   // as in its registry
	Licences      []string `json:"-"` // SPDX identifiers
	Files         []file   `json:"-"`
	Part          string   `json:"-"` // the component that contains it
	Notice        string   `json:"-"` // attribution that its licence requires
}

// file is a licence or a notice of a component.
type file struct{ Name, Text string }

func (c *component) String() string { return strings.TrimSpace(c.Name + " " + c.Version) }

var (
	noticeFile  = regexp.MustCompile(`(?i)^notice`)
	patentsFile = regexp.MustCompile(`(?i)^patents`)
)

// read finds the component's licences in folders below root.
func (c *component) read(classify *classifier, root string, folders map[string]bool) error {
	var failed []error
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) || notLicence.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			if err := c.add(classify, file{filepath.ToSlash(name), string(text)}); err != nil {
				failed = append(failed, err)
			}
		}
	}
	if len(c.Licences) == 0 && failed == nil {
		return fmt.Errorf("%s: no licence file in it", c)
	}
	return errors.Join(failed...)
}

// add adds a file, and the licences identified in it.
func (c *component) add(classify *classifier, f file) error {
	ids, known := reviewed[c.Name+"@"+c.Version+" "+f.Name]
	if known && ids == nil {
		return nil
	}
	c.Files = append(c.Files, f)
	base := filepath.Base(f.Name)
	if noticeFile.MatchString(base) || patentsFile.MatchString(base) {
		return nil
	}
	if !known {
		var err error
		if ids, err = classify.identify(f.Text); err != nil {
			return fmt.Errorf("%s: %s: %w", c, f.Name, err)
		}
	}
	for _, id := range ids {
		if !allowed[id] {
			return fmt.Errorf("%s: %s: %s does not go together with Apache-2.0", c, f.Name, id)
		}
		if !slices.Contains(c.Licences, id) {
			c.Licences = append(c.Licences, id)
		}
	}
	return nil
}

// ordered sorts components by name and removes duplicates. easel itself comes first.
func ordered(list []component) []component {
	slices.SortFunc(list, func(a, b component) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(or(a.Part, a.Name), or(b.Part, b.Name)),
			cmp.Compare(a.Part, b.Part), cmp.Compare(a.Name, b.Name))
	})
	return slices.CompactFunc(list, func(a, b component) bool { return a.Name == b.Name && a.Part == b.Part })
}

// rank orders Go modules before npm packages, and those before all others.
func rank(c component) int {
	return slices.Index([]string{"easel", "golang", "npm", ""}, c.Kind)
}

func or(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}
