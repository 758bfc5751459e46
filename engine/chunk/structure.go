package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Structure cuts Markdown, or plain text, where its structure allows: before headings, between
// paragraphs, rows of tables, sentences and words, in this order. Small neighbours under one
// heading are merged.
//
// The chunks together are the text: none loses or repeats anything but blanks. What is repeated so
// that a chunk can be understood alone stands beside its text, in Headings and Repeated.
type Structure struct {
	Count Counter
	Size  int // tokens that no chunk exceeds, without headings and the head of a table
}

// block is a part of a text that is cut only when it is too large.
type block struct {
	text   string
	kind   blockKind
	path   []string // headings above it, with itself for a heading
	tokens int
}

type blockKind int

const (
	paragraph blockKind = iota
	heading
	table
	code
)

// Text cuts a text.
func (s *Structure) Text(text string) []Chunk {
	var out []Chunk
	var open []block
	tokens := 0
	flush := func() {
		if c, ok := joined(open); ok {
			out = append(out, c)
		}
		open, tokens = nil, 0
	}
	for _, b := range blocks(text) {
		b.tokens = s.Count(b.text)
		if len(open) > 0 && (tokens+b.tokens > s.Size || b.kind == heading && !s.staysOpen(open, tokens, b)) {
			// Headings go with what follows them.
			last := len(open)
			for last > 0 && open[last-1].kind == heading {
				last--
			}
			if moved := open[last:]; last > 0 {
				open = open[:last]
				flush()
				for _, h := range moved {
					open, tokens = append(open, h), tokens+h.tokens
				}
			}
		}
		if tokens+b.tokens > s.Size {
			out = append(out, s.cut(open, b)...)
			open, tokens = nil, 0
			continue
		}
		open, tokens = append(open, b), tokens+b.tokens
	}
	flush()
	return out
}

// staysOpen reports whether a section that begins may join the blocks before it: it stands below
// the same heading, and they are small.
func (s *Structure) staysOpen(open []block, tokens int, next block) bool {
	const small = 4 // of this part of the size
	first := open[0].path
	parent := next.path[:len(next.path)-1]
	return tokens < s.Size/small && len(parent) > 0 && len(common(first, parent)) == len(parent)
}

// common is what two paths begin with.
func common(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// joined is a chunk of blocks; ok is false when there is nothing but blanks.
func joined(list []block) (c Chunk, ok bool) {
	var text strings.Builder
	kinds := map[blockKind]bool{}
	for i, b := range list {
		text.WriteString(b.text)
		kinds[b.kind] = true
		above := b.path
		if b.kind == heading {
			above = above[:len(above)-1]
		}
		if i == 0 {
			c.Headings = above
		}
		c.Headings = common(c.Headings, above)
	}
	c.Text, c.Type = strings.TrimFunc(text.String(), unicode.IsSpace), Text
	if kinds[table] && len(kinds) == 1 {
		c.Type = Table
	}
	return c, c.Text != ""
}

// cut makes chunks of a block that is too large. The headings before it go into the first.
func (s *Structure) cut(headings []block, b block) []Chunk {
	head := ""
	parts := sentences(b.text)
	switch b.kind {
	case table:
		parts = strings.SplitAfter(b.text, "\n")
		if len(parts) > 2 && isRule(parts[1]) {
			head = parts[0] + parts[1]
		}
	case code:
		parts = strings.SplitAfter(b.text, "\n")
	}
	var out []Chunk
	piece, tokens, first := "", 0, true
	for _, h := range headings {
		tokens += h.tokens
	}
	flush := func() {
		if piece == "" && len(headings) == 0 {
			return
		}
		if c, ok := joined(append(headings, block{text: piece, kind: b.kind, path: b.path})); ok {
			if !first {
				c.Repeated = head
			}
			out = append(out, c)
		}
		first = first && piece == ""
		headings, piece, tokens = nil, "", 0
	}
	for _, p := range parts {
		n := s.Count(p)
		if tokens+n > s.Size {
			flush()
		}
		for n > s.Size {
			fits := s.fitting(p)
			piece, p = p[:fits], p[fits:]
			flush()
			n = s.Count(p)
		}
		piece += p
		tokens += n
	}
	flush()
	return out
}

// fitting is how many bytes of a text fit into a chunk: up to a blank where there is one, at least
// one character.
func (s *Structure) fitting(text string) int {
	low, high := 0, len(text) // low fits, high does not
	for high-low > 1 {
		middle := (low + high) / 2
		if s.Count(text[:middle]) <= s.Size {
			low = middle
		} else {
			high = middle
		}
	}
	for low > 0 && !utf8.RuneStart(text[low]) {
		low--
	}
	if at := strings.LastIndexFunc(text[:low], unicode.IsSpace); at > low/2 {
		_, size := utf8.DecodeRuneInString(text[at:])
		return at + size
	}
	if low == 0 {
		_, low = utf8.DecodeRuneInString(text)
	}
	return low
}

// blocks cuts a text into blocks; together they are the text.
func blocks(text string) (out []block) {
	var path []string
	var levels []int
	r := reader{rest: text}
	for r.rest != "" {
		b := r.block()
		if b.kind == heading {
			level, title := headingOf(b.text)
			for len(levels) > 0 && levels[len(levels)-1] >= level {
				levels, path = levels[:len(levels)-1], path[:len(path)-1]
			}
			levels, path = append(levels, level), append(path[:len(path):len(path)], title)
		}
		b.path = path
		out = append(out, b)
	}
	return out
}

// reader takes blocks from the beginning of a text.
type reader struct{ rest string }

// line is the first line, with its end.
func (r *reader) line() string {
	if at := strings.IndexByte(r.rest, '\n'); at >= 0 {
		return r.rest[:at+1]
	}
	return r.rest
}

// block takes lines up to the end of a heading, table, code or paragraph, and the blank ones after
// it.
func (r *reader) block() block {
	first := r.line()
	b := block{kind: kindOf(first)}
	fence := strings.TrimSpace(first)
	n := len(first)
	for b.kind != heading && n < len(r.rest) {
		next := (&reader{r.rest[n:]}).line()
		if b.kind == code {
			n += len(next)
			if strings.HasPrefix(strings.TrimSpace(next), fence[:3]) {
				break
			}
			continue
		}
		if isBlank(next) || kindOf(next) != b.kind {
			break
		}
		n += len(next)
	}
	for n < len(r.rest) {
		next := (&reader{r.rest[n:]}).line()
		if !isBlank(next) {
			break
		}
		n += len(next)
	}
	b.text, r.rest = r.rest[:n], r.rest[n:]
	return b
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

func kindOf(line string) blockKind {
	line = strings.TrimSpace(line)
	switch level, _ := headingOf(line); {
	case level > 0:
		return heading
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		return code
	case strings.HasPrefix(line, "|"):
		return table
	}
	return paragraph
}

// headingOf is the level and the title of a heading; level 0 means that it is none.
func headingOf(line string) (level int, title string) {
	line = strings.TrimSpace(line)
	const deepest = 6
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > deepest || level == len(line) || line[level] != ' ' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(line[level:], "# "))
}

// isRule reports whether a row is the line below the head of a table.
func isRule(row string) bool {
	return strings.Contains(row, "-") && strings.Trim(strings.TrimSpace(row), "|-: ") == ""
}
