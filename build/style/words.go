package main

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
)

// discouraged matches words that the project does not use in its own prose: CONTRIBUTING.md lists
// the technical term for each. The list may grow, the numbers in debt.txt may only fall.
var discouraged = regexp.MustCompile(`(?i)\b(nobody('s)?|whoever|goes on|comes again|(is|are) told|without a word|` +
	`(is|are) wanted|no text|for company|given up|took over by|lets go of|hears of|is said (once|twice)|anew|worldly|` +
	`toil|who asks|(is|are) no (list|object|number|map|string)|means nothing without|belongs into|goes behind|` +
	`takes nothing more|this once)\b`)

// words counts the lines with such words, by folder.
func words(files tree) ([]measure, error) {
	lines := places{}
	for name, data := range files {
		if path.Ext(name) == ".css" || path.Dir(name) == "build/style" {
			continue
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			if m := discouraged.Find(line); m != nil {
				lines.add("words", path.Dir(name), fmt.Sprintf("%s:%d: %q", name, i+1, m))
			}
		}
	}
	return lines.measures(), nil
}
