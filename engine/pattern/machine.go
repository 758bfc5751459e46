package pattern

import (
	"unicode"
	"unicode/utf8"
)

// thread is one way through the program, with the start of its match.
type thread struct{ at, start int }

// machine follows all ways through a program at once, the preferred ones first.
type machine struct {
	code  program
	text  string
	start int // of the match that run found
	now   []thread
	then  []thread
	seen  []int // by step: the position, plus one, at which it was added last
	left  *int  // steps that may still be taken; nil is no limit
}

func newMachine(code program, text string) *machine {
	return &machine{code: code, text: text, seen: make([]int, len(code))}
}

// run returns the end of the preferred match that begins at from, or the first one after it unless
// anchored; -1 without a match.
func (m *machine) run(from int, anchored bool) int {
	found := -1
	m.now = m.now[:0]
	clear(m.seen)
	for pos := from; ; {
		if found < 0 && (!anchored || pos == from) {
			m.now = m.add(m.now, 0, pos, pos)
		}
		if len(m.now) == 0 && (anchored || found >= 0) {
			return found
		}
		if m.spend(len(m.now)) {
			return -1
		}
		r, size := utf8.DecodeRuneInString(m.text[pos:])
		m.then = m.then[:0]
		for _, t := range m.now {
			s := &m.code[t.at]
			if s.op == opMatch {
				found, m.start = pos, t.start
				break // the other threads are less preferred
			}
			if size > 0 && s.set.has(r) {
				m.then = m.add(m.then, t.at+1, pos+size, t.start)
			}
		}
		if size == 0 {
			return found
		}
		pos += size
		m.now, m.then = m.then, m.now
	}
}

// spend takes steps, and reports whether there were too few.
func (m *machine) spend(n int) bool {
	if m.left == nil {
		return false
	}
	*m.left -= n
	return *m.left < 0
}

// add follows the steps from at that read nothing, and appends those that do.
func (m *machine) add(list []thread, at, pos, start int) []thread {
	for m.seen[at] != pos+1 {
		m.seen[at] = pos + 1
		m.spend(1)
		switch s := &m.code[at]; s.op {
		case opJump:
			at = s.next
		case opSplit:
			list = m.add(list, s.next, pos, start)
			at = s.other
		case opAssert:
			if !m.holds(s.assert, pos) {
				return list
			}
			at++
		case opAhead:
			look := newMachine(s.look, m.text)
			look.left = m.left
			m.spend(len(s.look))
			if (look.run(pos, true) >= 0) == (s.other == 1) {
				return list
			}
			at++
		default:
			return append(list, thread{at, start})
		}
	}
	return list
}

// holds reports whether an assertion is true at a position.
func (m *machine) holds(assert byte, pos int) bool {
	text := m.text
	switch assert {
	case '^', 'A':
		return pos == 0
	case '$':
		return pos == len(text) || pos == len(text)-1 && text[pos] == '\n'
	case 'Z':
		return pos == len(text)
	case 'm': // ^ of lines
		return pos == 0 || text[pos-1] == '\n'
	case 'M': // $ of lines
		return pos == len(text) || text[pos] == '\n'
	}
	before, _ := utf8.DecodeLastRuneInString(text[:pos])
	after, _ := utf8.DecodeRuneInString(text[pos:])
	edge := (pos > 0 && isWord(before)) != (pos < len(text) && isWord(after))
	return edge == (assert == 'b')
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) }

func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }
