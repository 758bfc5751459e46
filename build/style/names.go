package main

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// names finds names of built-in components in the code of the page: what the page knows of a
// component it reads from the component's description.
func names(files tree) ([]measure, error) {
	found := componentNames(component.Builtin())
	lines := places{}
	for name, data := range files {
		if !ofPage(name) {
			continue
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			if m := found.Find(line); m != nil {
				lines.add("names", name, fmt.Sprintf("%s:%d: %s", name, i+1, m))
			}
		}
	}
	return lines.measures(), nil
}

// ofPage reports code of the page: no tests, no examples, no words.
func ofPage(name string) bool {
	if ext := path.Ext(name); ext != ".ts" && ext != ".tsx" {
		return false
	}
	top, rest, _ := strings.Cut(name, "/")
	folder, _, _ := strings.Cut(rest, "/")
	return top == "web" && folder != "test" && folder != "examples" && folder != "words"
}

// componentNames matches a name or alias as a whole string, as a member of an object and as a
// choice in a regular expression.
func componentNames(specs []engine.Spec) *regexp.Regexp {
	var all []string
	for _, s := range specs {
		for _, name := range append([]string{s.Name}, s.Aliases...) {
			all = append(all, regexp.QuoteMeta(name))
		}
	}
	any := "(?:" + strings.Join(all, "|") + ")"
	return regexp.MustCompile("[\"'`]" + any + "[\"'`]|^\\s*" + any + `: ["'{]|[(|/^]` + any + `[|)$]`)
}
