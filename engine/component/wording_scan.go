package component

import (
	"slices"
	"strconv"
	"strings"
)

// jinjaScan rewrites a text as a template. It scans the template language only as far as needed to
// locate a reference: in the text, in a tag, in a string of a tag, in a comment or in a raw block.
type jinjaScan struct {
	out    []byte
	prefix string // of the variables; occurs nowhere in the text
	place  place
	depth  int  // open brackets inside a tag
	quote  byte // the quotation mark of the string inside a tag, or 0
	from   int  // start of that string in out
	joined bool // that string contains references
}

// place is the syntactic context of the scan.
type place uint8

const (
	inText place = iota
	inExpr
	inTag
	inComment
	inRaw
)

// name returns the variable of a reference.
func (s *jinjaScan) name(ref int) string { return s.prefix + strconv.Itoa(ref) }

// reference replaces a reference with a variable.
func (s *jinjaScan) reference(ref int) {
	name := s.name(ref)
	switch {
	case s.place == inText:
		s.guard()
		s.write("{{ " + name + " }}")
	case s.place == inRaw:
		s.write("{% endraw %}{{ " + name + " }}{% raw %}")
	case s.place == inComment:
	case s.quote != 0:
		q := string(s.quote)
		s.write(q + " ~ " + name + " ~ " + q)
		s.joined = true
	default:
		s.write(name)
	}
}

// guard keeps a brace at the end of the output from joining the following tag.
func (s *jinjaScan) guard() {
	if n := len(s.out); n > 0 && s.out[n-1] == '{' {
		s.out = append(s.out[:n-1], "{{ '{' }}"...)
	}
}

func (s *jinjaScan) write(text string) { s.out = append(s.out, text...) }

// literal copies a part without references.
func (s *jinjaScan) literal(lit string) {
	for lit != "" {
		n := 0
		switch s.place {
		case inText:
			n = s.open(lit)
		case inComment:
			n = s.until(lit, strings.Index(lit, "#}"), len("#}"))
		case inRaw:
			at, length := findTag(lit, "endraw")
			n = s.until(lit, at, length)
		default:
			n = s.code(lit)
		}
		lit = lit[n:]
	}
}

// open copies up to and including the next opening mark.
func (s *jinjaScan) open(lit string) int {
	for i := 0; i+1 < len(lit); i++ {
		if lit[i] != '{' {
			continue
		}
		n := i + 2
		switch lit[i+1] {
		case '{':
			s.place = inExpr
		case '#':
			s.place = inComment
		case '%':
			s.place = inTag
			if length := tagLength(lit[i:], "raw"); length > 0 {
				s.place, n = inRaw, i+length
			}
		default:
			continue
		}
		s.depth = 0
		s.write(lit[:n])
		return n
	}
	s.write(lit)
	return len(lit)
}

// until copies up to and including the end of a comment or raw block at lit[at:]; -1 means not
// here.
func (s *jinjaScan) until(lit string, at, length int) int {
	n := len(lit)
	if at >= 0 {
		n = at + length
		s.place = inText
	}
	s.write(lit[:n])
	return n
}

// code copies one byte, or one escape or mark, of a tag.
func (s *jinjaScan) code(lit string) int {
	c, n := lit[0], 1
	switch {
	case s.quote != 0:
		if c == '\\' && len(lit) > 1 {
			n = 2
		}
	case c == '"' || c == '\'':
		s.quote, s.from, s.joined = c, len(s.out), false
		s.write(lit[:1])
		return 1
	case s.depth == 0 && (s.place == inExpr && strings.HasPrefix(lit, "}}") || s.place == inTag &&
		strings.HasPrefix(lit, "%}")):
		s.place, n = inText, 2
	case strings.IndexByte("([{", c) >= 0:
		s.depth++
	case strings.IndexByte(")]}", c) >= 0 && s.depth > 0:
		s.depth--
	}
	s.write(lit[:n])
	if c == s.quote && n == 1 {
		s.unquote()
	}
	return n
}

// unquote ends a string. One with references has become a sum in parentheses.
func (s *jinjaScan) unquote() {
	s.quote = 0
	if s.joined {
		s.out = append(slices.Insert(s.out, s.from, '('), ')')
	}
}

// findTag finds a tag of a single word: its start, or -1, and its length.
func findTag(text, word string) (at, length int) {
	for from := 0; ; from = at + 2 {
		open := strings.Index(text[from:], "{%")
		if open < 0 {
			return -1, 0
		}
		at = from + open
		if length = tagLength(text[at:], word); length > 0 {
			return at, length
		}
	}
}

// tagLength returns the length of the tag at the start of text if it consists of this word, else 0.
func tagLength(text, word string) int {
	rest := strings.TrimLeft(text[len("{%"):], tagBlanks)
	rest, ok := strings.CutPrefix(rest, word)
	if !ok {
		return 0
	}
	rest, ok = strings.CutPrefix(strings.TrimLeft(rest, tagBlanks), "%}")
	if !ok {
		return 0
	}
	return len(text) - len(rest)
}

// tagBlanks are the characters allowed around the word of a tag.
const tagBlanks = "+- \t\r\n"
