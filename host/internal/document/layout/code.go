package layout

import (
	"math"
	"strings"
	"unicode/utf8"
)

// codeLines is the number of lines in fixed pitch that are code; fewer are a part of a text.
const codeLines = 2

// maxBlanks bounds the blanks between two parts of a line of code.
const maxBlanks = 200

// advance returns the width of a letter of a line in fixed pitch.
func advance(l *segment) float64 {
	return max(l.width()/float64(max(utf8.RuneCountInString(l.text), 1)), 0.1)
}

// blanks returns the blanks of a gap in a line of code.
func blanks(gap float64, l *segment) string {
	return strings.Repeat(" ", min(max(int(math.Round(gap/advance(l))), 1), maxBlanks))
}

// codeText returns lines with their indents and the empty lines between them.
func codeText(list []segment) string {
	left := list[0].Left
	for i := range list {
		left = min(left, list[i].Left)
	}
	var b strings.Builder
	for i := range list {
		l := &list[i]
		if i > 0 {
			b.WriteByte('\n')
			if l.Top-list[i-1].Bottom > emptyLine*l.height() {
				b.WriteByte('\n')
			}
		}
		if indent := l.Left - left; indent > advance(l)/2 {
			b.WriteString(blanks(indent, l))
		}
		b.WriteString(l.text)
	}
	return b.String()
}

// emptyLine is the gap between lines of code where one is left empty, in heights.
const emptyLine = 0.7
