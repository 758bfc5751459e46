package chunking

import (
	"strings"
	"unicode/utf8"
)

// lineCounter counts the tokens of the texts of one document like [Count]. A line that is counted
// in a block is there again in the chunk that the block goes into; it is looked up then. It is for
// one goroutine at a time.
type lineCounter struct {
	pieces *pieceCounter
	known  map[string]int // tokens of lines
}

const (
	// shortestLine is the length in bytes from which looking a line up is cheaper than counting.
	shortestLine = 24
	// mostLines bounds how many lines are remembered.
	mostLines = 1 << 16
)

// newLineCounter returns a counter, which the caller closes.
func newLineCounter() *lineCounter {
	return &lineCounter{
		pieces: counters.Get().(*pieceCounter), // the pool has nothing else
		known:  map[string]int{},
	}
}

func (l *lineCounter) close() { counters.Put(l.pieces) }

func (l *lineCounter) count(text string) (total int) {
	for len(text) > 0 {
		n := lineEnd(text)
		total += l.line(text[:n])
		text = text[n:]
	}
	return total
}

func (l *lineCounter) line(line string) int {
	if len(line) < shortestLine {
		return l.pieces.count(line)
	}
	n, ok := l.known[line]
	if !ok {
		n = l.pieces.count(line)
		if len(l.known) < mostLines {
			l.known[line] = n
		}
	}
	return n
}

// lineEnd returns the length of a text up to the first line end that no space follows. No piece of
// the vocabulary's pattern goes beyond it: a piece may begin or end with line ends, but nothing
// follows them in it.
func lineEnd(text string) int {
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
		if next, _ := utf8.DecodeRuneInString(text[at:]); at == len(text) || !isSpace(next) {
			return at
		}
	}
}
