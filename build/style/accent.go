package main

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
)

// accent matches fillers and verbs that stand for the field's own: "n is what a caller reads", "it
// gives a list", "beside", "there is none". Code bases of the field have 1 to 3 in 1,000 comment
// lines.
var accent = regexp.MustCompile(`(?i)\b(is|are) (what|how|that of|those of)\b|\b(gives|says|tells|asks)\b|` +
	`\b(beside|in place of|of its own|of their own|meanwhile)\b|\bthere (is|are) none\b`)

// maxAccent is how many of them 1,000 comment lines of a folder may have.
const maxAccent = 15

// accents counts them in comments of Go, by folder. Tests count separately.
func accents(files tree) []measure {
	found, lines := places{}, map[[2]string]int{}
	for name, data := range files {
		key := [2]string{"accent", path.Dir(name)}
		if isTest(name) {
			key[0] = "accent-test"
		}
		comments := commentLines(name, data)
		lines[key] += len(comments)
		for i, line := range comments {
			for _, m := range accent.FindAll(line, -1) {
				found.add(key[0], key[1], fmt.Sprintf("%s:%d: %q", name, i, m))
			}
		}
	}
	all := found.measures()
	for i := range all {
		all[i].limit = maxAccent * lines[[2]string{all[i].rule, all[i].key}] / 1000
	}
	return all
}

// commentLines returns the comment lines of a Go file by their numbers.
func commentLines(name string, data []byte) map[int][]byte {
	lines := map[int][]byte{}
	if path.Ext(name) != ".go" || path.Dir(name) == "build/style" {
		return lines
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if text := bytes.TrimLeft(line, " \t"); comment(line) && len(text) > len("//") {
			lines[i+1] = text
		}
	}
	return lines
}
