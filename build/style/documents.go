package main

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	mdLink    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	mdCode    = regexp.MustCompile("`([^`]+)`")
	mdHeading = regexp.MustCompile(`^#{1,6} +(.+?) *$`)
	pathName  = regexp.MustCompile(`^[\w.-]+(/[\w.*-]+)*/?$`)
	makeCall  = regexp.MustCompile(`\bmake ([a-z][\w./-]*\w)`)
	makeRule  = regexp.MustCompile(`(?m)^([a-z][\w./-]*):`)
	testName  = regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz|Example)[A-Z]\w*`)
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)[A-Z]\w*)\(`)
	// slugDrops matches the characters that GitHub omits from the anchor of a heading.
	slugDrops = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// decisions is the folder of the decisions, whose README.md lists all of them.
const decisions = "docs/decisions"

// documents checks references from Markdown files to the repository: link targets and their
// headings, names of files, folders and tests, and make targets. It also checks that the index of
// the decisions is complete.
func documents(files tree) ([]measure, error) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		return nil, err
	}
	d := documentation{files: files, targets: map[string]bool{}, tests: map[string]bool{}, found: places{}}
	for _, m := range makeRule.FindAllSubmatch(makefile, -1) {
		d.targets[string(m[1])] = true
	}
	for name, data := range files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, m := range testFunc.FindAllSubmatch(data, -1) {
			d.tests[string(m[1])] = true
		}
	}
	for name, data := range files {
		if path.Ext(name) == ".md" && name != "CHANGELOG.md" { // which mentions removed files
			d.check(name, string(data))
		}
	}
	d.checkIndex()
	return d.found.measures(), nil
}

type documentation struct {
	files   tree
	targets map[string]bool // of the Makefile
	tests   map[string]bool // functions in _test.go files
	found   places
}

func (d *documentation) check(name, text string) {
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		report := func(format string, args ...any) {
			d.found.add("document", name, fmt.Sprintf("%s:%d: ", name, i+1)+fmt.Sprintf(format, args...))
		}
		for _, m := range makeCall.FindAllStringSubmatch(line, -1) {
			if inCode := fenced || strings.Contains(line, "`make "+m[1]); inCode && !d.targets[m[1]] && !built(m[1]) {
				report("make %s: the Makefile has no such target", m[1])
			}
		}
		for _, test := range testName.FindAllString(line, -1) {
			if !d.tests[test] {
				report("%s: no such test", test)
			}
		}
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, m := range mdLink.FindAllStringSubmatch(mdCode.ReplaceAllString(line, ""), -1) {
			if problem := d.link(name, m[1]); problem != "" {
				report("link %s: %s", m[1], problem)
			}
		}
		for _, m := range mdCode.FindAllStringSubmatch(line, -1) {
			if !d.named(name, m[1]) {
				report("%s: no such file or folder", m[1])
			}
		}
	}
}

// checkIndex reports decisions that the index of their folder does not link.
func (d *documentation) checkIndex() {
	index := path.Join(decisions, "README.md")
	for name := range d.files {
		file := path.Base(name)
		if path.Dir(name) == decisions && name != index && !bytes.Contains(d.files[index], []byte("]("+file+")")) {
			d.found.add("document", index, index+": "+file+" is missing")
		}
	}
}

// link returns a problem with a link of a document, or "".
func (d *documentation) link(from, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	file, heading, _ := strings.Cut(target, "#")
	if file == "" {
		file = from
	} else {
		file = path.Join(path.Dir(from), file)
	}
	if _, err := os.Stat(file); err != nil {
		return "no such file or folder"
	}
	if heading == "" {
		return ""
	}
	if text, ok := d.files[file]; ok && !slices.Contains(headings(string(text)), heading) {
		return "no such heading"
	}
	return ""
}

// headings returns the anchors of a document's headings as GitHub generates them.
func headings(text string) []string {
	var slugs []string
	for line := range strings.SplitSeq(text, "\n") {
		if m := mdHeading.FindStringSubmatch(line); m != nil {
			slug := slugDrops.ReplaceAllString(strings.ToLower(m[1]), "")
			slugs = append(slugs, strings.ReplaceAll(slug, " ", "-"))
		}
	}
	return slugs
}

// named reports whether a code span in a document, if it is a path in the repository, exists there.
// A path starts with a top-level folder; any other span passes.
func (d *documentation) named(from, code string) bool {
	code, _, _ = strings.Cut(code, ":") // file.go:12
	if !strings.Contains(code, "/") || !pathName.MatchString(code) {
		return true
	}
	top, _, _ := strings.Cut(code, "/")
	if info, err := os.Stat(top); err != nil || !info.IsDir() {
		return true
	}
	for _, base := range []string{"", path.Dir(from)} {
		file := path.Join(base, code)
		if built(file) {
			return true
		}
		if matches, err := filepath.Glob(file); err == nil && len(matches) > 0 {
			return true
		}
	}
	return false
}

// built reports whether a file is a build output and so may be missing.
func built(file string) bool {
	return strings.HasPrefix(file, "build/out/") || slices.Contains(strings.Split(file, "/"), "dist")
}
