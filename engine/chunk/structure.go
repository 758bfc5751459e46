package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/engine/pattern"
)

// Structure cuts Markdown, or plain text, where its structure allows: before headings, between
// paragraphs, rows of tables, sentences and words, in this order. Small neighbours under one
// heading are merged.
//
// The concatenated chunks are the text: nothing but blanks is lost or repeated. Headings and
// Repeated hold the context that makes a chunk understandable alone.
type Structure struct {
	Count Counter
	Size  int // tokens that no chunk exceeds, without headings and the head of a table
}

// part is a part of a document that is cut only when it is too large.
type part struct {
	text      string
	kind      partKind
	path      []string // headings above it, with itself for a heading
	positions []Position
	caption   string // of a table
	tokens    int
}

type partKind int

const (
	paragraph partKind = iota
	heading
	table
	code
)

// Text cuts Markdown or plain text.
func (s *Structure) Text(text string) []Chunk { return s.parts(parts(text)) }

// Blocks cuts a parsed document. The chunks are Markdown; a table stays apart from text unless both
// are small. Images without a description are left out.
func (s *Structure) Blocks(list []block.Block) []Chunk {
	out := make([]part, 0, len(list))
	for i := range list {
		b := &list[i]
		p := part{text: b.Markdown(), path: b.Path, positions: b.Positions}
		if strings.TrimSpace(p.text) == "" {
			continue
		}
		switch b.Kind {
		case block.Heading:
			p.kind, p.path = heading, append(b.Path[:len(b.Path):len(b.Path)], block.Line(b.Text))
		case block.Table:
			p.kind = table
			if i > 0 && isCaption(&list[i-1]) {
				p.caption = block.Line(list[i-1].Text) + "\n"
			}
		case block.Code:
			p.kind = code
		}
		p.text += "\n\n"
		out = append(out, p)
	}
	return s.parts(out)
}

// isCaption reports whether a block names the table after it.
func isCaption(b *block.Block) bool {
	const longest = 200 // bytes
	return b.Kind == block.Paragraph && len(b.Text) <= longest && caption.Match(b.Text)
}

var caption = pattern.MustCompile(`(?i:table|tab\.|tabelle|tableau|tabla)\s*[0-9IVX]|表\s*[0-9一二三四五六七八九十]`)

func (s *Structure) parts(list []part) []Chunk {
	var out []Chunk
	var open []part
	tokens := 0
	flush := func() {
		if c, ok := joined(open); ok {
			out = append(out, c)
		}
		open, tokens = nil, 0
	}
	for _, b := range list {
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

// staysOpen reports whether a new section may join the blocks before it: it is below the same
// heading, and they are small.
func (s *Structure) staysOpen(open []part, tokens int, next part) bool {
	const small = 4 // of this part of the size
	first := open[0].path
	parent := next.path[:len(next.path)-1]
	return tokens < s.Size/small && len(parent) > 0 && len(common(first, parent)) == len(parent)
}

// common returns the common prefix of two paths.
func common(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// joined returns a chunk of blocks; ok is false when there is nothing but blanks.
func joined(list []part) (c Chunk, ok bool) {
	size, tables := 0, 0
	for _, b := range list {
		size += len(b.text)
	}
	var text strings.Builder
	text.Grow(size)
	for i, b := range list {
		text.WriteString(b.text)
		c.Positions = append(c.Positions, b.positions...)
		if b.kind == table {
			tables++
		}
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
	if tables > 0 && tables == len(list) {
		c.Type = Table
	}
	return c, c.Text != ""
}

// cut makes chunks of a block that is too large. The headings before it go into the first.
func (s *Structure) cut(headings []part, b part) []Chunk {
	head := ""
	parts := sentenceEnds.behind(b.text)
	switch b.kind {
	case table:
		parts = strings.SplitAfter(b.text, "\n")
		for i := 1; i < min(len(parts)-1, deepestHead); i++ {
			if isRule(parts[i]) {
				if whole := b.caption + strings.Join(parts[:i+1], ""); s.Count(whole) <= s.Size {
					head = whole
				}
				break
			}
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
		if c, ok := joined(append(headings, part{
			text: piece, kind: b.kind, path: b.path,
			positions: b.positions,
		})); ok {
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
			if fits == len(p) {
				n = s.Count(p)
				break
			}
			piece, p = p[:fits], p[fits:]
			flush()
		}
		piece += p
		tokens += n
	}
	flush()
	return out
}

// deepestHead bounds the rows in the head of a table.
const deepestHead = 8

// fitting returns the number of bytes of a text fit into a chunk: all, or up to a blank where there
// is one, at least one character. It counts no more than a few chunks of a long text.
func (s *Structure) fitting(text string) int {
	low, fits := 0, 0 // bytes that fit, and their tokens
	high, over := 4*s.Size, 0
	for high < len(text) {
		if over = s.Count(text[:high]); over > s.Size {
			break
		}
		low, fits, high = high, over, 2*high
	}
	if high >= len(text) {
		high = len(text)
		if over = s.Count(text); over <= s.Size {
			return high
		}
	}
	// Tokens have about equal length, so an estimate by their number is closer than the middle.
	for guess := true; high-low > 1 && fits < s.Size; guess = !guess {
		at := (low + high) / 2
		if guess {
			at = low + max(1, min(high-low-1, (high-low)*(s.Size-fits)/(over-fits)))
		}
		if n := s.Count(text[:at]); n <= s.Size {
			low, fits = at, n
		} else {
			high, over = at, n
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

// parts cuts a text into blocks, whose concatenation is the text.
func parts(text string) (out []part) {
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

// line returns the first line, with its end.
func (r *reader) line() string {
	if at := strings.IndexByte(r.rest, '\n'); at >= 0 {
		return r.rest[:at+1]
	}
	return r.rest
}

// block takes lines up to the end of a heading, table, code or paragraph, and the blank ones after
// it.
func (r *reader) block() part {
	first := r.line()
	b := part{kind: kindOf(first)}
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

func kindOf(line string) partKind {
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

// headingOf returns the level and the title of a heading; level 0 means that the line is not a
// heading.
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
