package main

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	codeWidth    = 120
	commentWidth = 100
	tabWidth     = 4
	fileLines    = 600
)

// widths counts the code and comment lines that are too wide, by folder.
func widths(files tree) ([]measure, error) {
	wide := places{}
	for name, data := range files {
		if !isCode(name) {
			continue
		}
		for i, line := range bytes.Split(data, []byte("\n")) {
			rule, limit := "code-width", codeWidth
			if comment(line) {
				rule, limit = "comment-width", commentWidth
			}
			if w := width(line); w > limit && !tagged(line) {
				wide.add(rule, path.Dir(name), fmt.Sprintf("%s:%d: %d columns", name, i+1, w))
			}
		}
	}
	return wide.measures(), nil
}

// commentStart matches // and /*, and the star that continues a block comment. In "*p = 1" and
// "*each() {" the star is code.
var commentStart = regexp.MustCompile(`^[ \t]*(//|/\*|\*([ \t*/]|$))`)

func comment(line []byte) bool {
	text := bytes.TrimLeft(line, " \t")
	directive := bytes.HasPrefix(text, []byte("//go:")) || bytes.HasPrefix(text, []byte("//export"))
	return !directive && commentStart.Match(line)
}

var structTag = regexp.MustCompile("`(json|query|path|header):\"")

// tagged reports a field with a struct tag, or a setting, which is a tag alone. They cannot be
// broken; that of a param holds its doc.
func tagged(line []byte) bool {
	line = bytes.TrimSuffix(line, []byte(","))
	return bytes.HasSuffix(line, []byte("`")) && structTag.Match(line)
}

func width(line []byte) int {
	tabs := bytes.Count(line, []byte("\t"))
	return utf8.RuneCount(line) + tabs*(tabWidth-1)
}

// fileLengths measures the files that are too long.
func fileLengths(files tree) ([]measure, error) {
	var found []measure
	for name, data := range files {
		if n := strings.Count(string(data), "\n"); isCode(name) && n > fileLines {
			found = append(found, measure{rule: "file-lines", key: name, n: n, limit: fileLines})
		}
	}
	return found, nil
}

// places collects findings by rule and key.
type places map[[2]string][]string

func (p places) add(rule, key, where string) {
	k := [2]string{rule, key}
	p[k] = append(p[k], where)
}

func (p places) measures() []measure {
	var found []measure
	for k, where := range p {
		found = append(found, measure{rule: k[0], key: k[1], n: len(where), where: where})
	}
	return found
}
