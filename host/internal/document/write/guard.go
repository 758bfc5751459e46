package write

import (
	"errors"
	"strings"
)

// ErrTangled means that a text has more nesting or more open marks than any real text; parsing
// takes time that grows with their square.
var ErrTangled = errors.New("the text is not valid Markdown: marks are nested too deep")

// ErrPieces means that a text has more lines, cells and marks than a file is made of; make several
// files of it.
var ErrPieces = errors.New("the text has too many lines, cells and marks for a file")

const (
	// mostMemory bounds the memory for making a file of a text, in bytes.
	mostMemory = 128 << 20
	// perLine and perMark bound the memory of a line outside of tables, and of a cell or a mark, in
	// any format: measured.
	perLine = 1600
	perMark = 700
	// fontMemory is the memory of the parsed fonts, which concurrent files share.
	fontMemory = 32 << 20
	// longestPDFCell bounds a cell of a table in a PDF, in bytes. Its lines are set before they are
	// placed, at 100 bytes for each character.
	longestPDFCell = 64 << 10
)

// Memory estimates the bytes that [Make] holds at most for a text that it does not refuse.
func Memory(format, markdown string) int64 {
	if format == "markdown" || len(markdown) > Most {
		return int64(min(len(markdown), Most))
	}
	estimate := 24*int64(len(markdown)) + 1<<20 + pieces(markdown)
	if format == "pdf" {
		estimate += fontMemory + pieces(markdown) // what is drawn is held until the file is written
	}
	return min(estimate, 2*mostMemory)
}

// pieces estimates the memory of the parsed lines, cells and marks of a text, in bytes.
func pieces(markdown string) int64 {
	n := 0
	for line := range strings.Lines(markdown) {
		if strings.TrimSpace(line) != "" && !strings.Contains(line, "|") {
			n += perLine
		}
		for i := range len(line) {
			switch line[i] {
			case '|', '*', '_', '~', '`', '[':
				n += perMark
			}
		}
	}
	return int64(n)
}

// Limits of constructs of the parser in one place. At these it takes some tenths of a second.
const (
	mostNesting = 200     // quotations and lists that a line begins
	mostMarks   = 20_000  // of emphasis, code, links in one paragraph
	mostCells   = 200_000 // of a table, with those that short rows lack
)

// tangled looks at each line and each paragraph, which is lines without a blank one between them.
func tangled(markdown string) bool {
	marks, lines, bars := 0, 0, 0
	for line := range strings.Lines(markdown) {
		if strings.TrimSpace(line) == "" {
			marks, lines, bars = 0, 0, 0
			continue
		}
		lines++
		bars = max(bars, strings.Count(line, "|"))
		for _, r := range line {
			switch r {
			case '*', '_', '~', '`', '[', ']', '<', '!', ':':
				marks++
			}
		}
		if nesting(line) > mostNesting || marks > mostMarks || bars*lines > mostCells {
			return true
		}
	}
	return false
}

// nesting counts the quotations and items that a line begins.
func nesting(line string) int {
	n := 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '>':
			n++
		case c == ' ', c == '\t', c >= '0' && c <= '9':
		case (c == '-' || c == '*' || c == '+' || c == '.' || c == ')') && i+1 < len(line) &&
			(line[i+1] == ' ' || line[i+1] == '\t'):
			n++
		default:
			return n
		}
	}
	return n
}
