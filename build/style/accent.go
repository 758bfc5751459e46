package main

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// accent has the fillers, and the verbs that replace the field's own, by pattern: "n is what a
// caller reads", "it gives a list", "beside", "there is none". Code bases of the field have 1 to 3
// in 1,000 comment lines.
var accent = []struct{ name, match string }{
	{"is what/how/that of", `\b(is|are) (what|how|that of|those of)\b`},
	{"gives/says/tells/asks", `\b(gives|says|tells|asks)\b`},
	{"beside/in place of/of its own/meanwhile", `\b(beside|in place of|of its own|of their own|meanwhile)\b`},
	{"there is none", `\bthere (is|are) none\b`},
}

// anyAccent matches all patterns, each as a group.
var anyAccent = func() *regexp.Regexp {
	var groups []string
	for _, a := range accent {
		groups = append(groups, "("+strings.ReplaceAll(a.match, "(", "(?:")+")")
	}
	return regexp.MustCompile("(?i)" + strings.Join(groups, "|"))
}()

// maxAccent is how many of them 1,000 comment lines of a folder may have.
const maxAccent = 15

// accents counts them in comments of Go and TypeScript, by folder. Tests count separately.
func accents(files tree) []measure {
	found, lines := places{}, map[[2]string]int{}
	for name, data := range files {
		if !isCode(name) || path.Dir(name) == "build/style" {
			continue
		}
		key := [2]string{"accent", path.Dir(name)}
		if isTest(name) {
			key[0] = "accent-test"
		}
		comments := commentLines(data)
		lines[key] += len(comments)
		for i, line := range comments {
			for _, m := range anyAccent.FindAll(line, -1) {
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

// density counts the accent of a whole language by pattern; it has no limit.
type density struct {
	lines int // of comments; a comment behind code does not count
	hits  []int
}

func densityOf(files tree) density {
	d := density{hits: make([]int, len(accent))}
	for name, data := range files {
		if path.Dir(name) == "build/style" {
			continue // its patterns
		}
		for _, line := range commentLines(data) {
			d.lines++
			for _, m := range anyAccent.FindAllSubmatchIndex(line, -1) {
				for i := range accent {
					if m[2*i+2] >= 0 {
						d.hits[i]++
					}
				}
			}
		}
	}
	return d
}

// per1000 returns the hits of a pattern in 1,000 comment lines.
func (d density) per1000(pattern int) float64 {
	return 1000 * float64(d.hits[pattern]) / float64(max(1, d.lines))
}

func (d density) all() (sum float64) {
	for i := range accent {
		sum += d.per1000(i)
	}
	return sum
}

// commentLines returns the lines that are comments by their numbers.
func commentLines(data []byte) map[int][]byte {
	lines := map[int][]byte{}
	for i, line := range bytes.Split(data, []byte("\n")) {
		if text := bytes.TrimLeft(line, " \t"); comment(line) && len(text) > len("//") {
			lines[i+1] = text
		}
	}
	return lines
}
