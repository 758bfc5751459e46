// Package pattern matches regular expressions that people write in canvases, in the syntax of
// Python's re module. Its time is linear in the text whatever the expression, except for
// look-ahead.
//
// The standard library's regexp reads another syntax and makes the browser module 400 KB larger.
package pattern

import (
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled expression. Any number of goroutines may use it.
type Pattern struct {
	expr string
	code program
}

// Compile parses an expression. Back references, look-behind, possessive quantifiers, atomic and
// conditional groups are errors.
func Compile(expr string) (*Pattern, error) {
	code, err := compile(expr)
	if err != nil {
		return nil, err
	}
	return &Pattern{expr: expr, code: code}, nil
}

// MustCompile is [Compile] for expressions that are constants of a program.
func MustCompile(expr string) *Pattern {
	p, err := Compile(expr)
	if err != nil {
		panic(err)
	}
	return p
}

// String returns the expression.
func (p *Pattern) String() string { return p.expr }

// Match reports whether a text begins with a match.
func (p *Pattern) Match(text string) bool {
	return newMachine(p.code, text).run(0, true) >= 0
}

// MatchWithin is [Pattern.Match] in at most so many steps, which are taken from *steps; ok is false
// if they do not suffice. See [Pattern.FindWithin].
func (p *Pattern) MatchWithin(text string, steps *int) (matched, ok bool) {
	m := newMachine(p.code, text)
	m.left = steps
	matched = m.run(0, true) >= 0
	return matched && *steps >= 0, *steps >= 0
}

// Find returns the first match at or after byte from of a text, or -1, -1.
func (p *Pattern) Find(text string, from int) (start, end int) {
	m := newMachine(p.code, text)
	if end = m.run(from, false); end < 0 {
		return -1, -1
	}
	return m.start, end
}

// FindWithin is [Pattern.Find] from the start of a text, in at most so many steps; ok is false if
// these do not suffice. A step takes some 10 ns. With look-ahead their number may grow with the
// square of the text.
func (p *Pattern) FindWithin(text string, steps int) (start, end int, ok bool) {
	m := newMachine(p.code, text)
	m.left = &steps
	end = m.run(0, false)
	switch {
	case steps < 0:
		return -1, -1, false
	case end < 0:
		return -1, -1, true
	}
	return m.start, end, true
}

// Replace returns a text with all matches replaced by another text.
func (p *Pattern) Replace(text, with string) string {
	var b strings.Builder
	copied := 0
	for at := 0; at <= len(text); {
		start, end := p.Find(text, at)
		if start < 0 {
			break
		}
		b.WriteString(text[copied:start])
		b.WriteString(with)
		copied = end
		if at = end; start == end {
			_, size := utf8.DecodeRuneInString(text[end:])
			at += max(1, size)
		}
	}
	return b.String() + text[copied:]
}
