package block

import (
	"strings"
	"unicode/utf8"
)

// Parse reads Markdown: headings (# and underlined), lists, tables between |, fenced code, and
// paragraphs. Marks inside a line are kept. It accepts any text and takes linear time.
func Parse(text string) []Block {
	p := parser{lines: strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")}
	p.frontMatter()
	for p.at < len(p.lines) {
		p.block()
	}
	return p.out
}

// Paragraphs reads plain text: a paragraph for each run of lines that are not blank.
func Paragraphs(text string) []Block {
	var out []Block
	var open []string
	flush := func() {
		if len(open) > 0 {
			out = append(out, Block{Kind: Paragraph, Text: strings.Join(open, "\n")})
		}
		open = nil
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if line = strings.TrimRight(line, " \t"); strings.TrimSpace(line) == "" {
			flush()
			continue
		}
		open = append(open, line)
	}
	flush()
	return out
}

// parser reads lines of Markdown.
type parser struct {
	lines   []string
	at      int // the next line
	outline Outline
	out     []Block
}

func (p *parser) add(b Block) {
	p.out = append(p.out, p.outline.Place(b))
}

// frontMatter takes a block of settings between two lines --- at the beginning.
func (p *parser) frontMatter() {
	if p.lines[0] != "---" {
		return
	}
	for n := 1; n < len(p.lines) && strings.TrimSpace(p.lines[n]) != ""; n++ {
		if p.lines[n] == "---" {
			p.add(Block{Kind: Code, Language: "yaml", Text: strings.Join(p.lines[1:n], "\n")})
			p.at = n + 1
			return
		}
	}
}

func (p *parser) block() {
	line := p.lines[p.at]
	trimmed := strings.TrimSpace(line)
	if trimmed == "" {
		p.at++
		return
	}
	if level, title := headingOf(trimmed); level > 0 {
		p.add(Block{Kind: Heading, Level: level, Text: title})
		p.at++
		return
	}
	switch {
	case isFence(trimmed):
		p.code(trimmed)
	case strings.HasPrefix(trimmed, "|"):
		p.table()
	case isItem(trimmed):
		p.list()
	default:
		p.paragraph()
	}
}

// headingOf returns the level and the title of a heading with marks; level 0 means that the line is
// not a heading.
func headingOf(line string) (level int, title string) {
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level == 0 || level > DeepestHeading || level == len(line) || line[level] != ' ' && line[level] != '\t' {
		return 0, ""
	}
	title = strings.TrimSpace(line[level:])
	if cut := strings.TrimRight(title, "#"); cut == "" || strings.HasSuffix(cut, " ") {
		title = strings.TrimSpace(cut)
	}
	if title == "" {
		return 0, ""
	}
	return level, title
}

func isFence(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

func (p *parser) code(first string) {
	n := 3
	for n < len(first) && first[n] == first[0] {
		n++
	}
	fence := first[:n]
	b := Block{Kind: Code, Language: strings.TrimSpace(first[n:])}
	start := p.at + 1
	end := start
	for end < len(p.lines) {
		closing := strings.TrimSpace(p.lines[end])
		if strings.HasPrefix(closing, fence) && strings.Trim(closing, fence[:1]) == "" {
			break
		}
		end++
	}
	b.Text = strings.Join(p.lines[start:end], "\n")
	p.at = end + 1
	p.add(b)
}

// itemMark divides an item of a list into its mark and its text; mark is "" for other lines.
func itemMark(line string) (mark, text string) {
	if len(line) > 1 && strings.ContainsRune("-*+", rune(line[0])) && line[1] == ' ' {
		return line[:1], strings.TrimSpace(line[2:])
	}
	if r, size := utf8.DecodeRuneInString(line); r == '•' || r == '▪' || r == '◦' || r == '‣' {
		return line[:size], strings.TrimSpace(line[size:])
	}
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	const most = 4 // digits of a number
	if digits == 0 || digits > most || digits+1 >= len(line) || line[digits] != '.' && line[digits] != ')' ||
		line[digits+1] != ' ' {
		return "", line
	}
	return line[:digits+1], strings.TrimSpace(line[digits+2:])
}

func isItem(line string) bool {
	mark, text := itemMark(line)
	return mark != "" && text != "" && !isThematicBreak(line)
}

// isThematicBreak reports lines like - - - or ***.
func isThematicBreak(line string) bool {
	rest := strings.ReplaceAll(line, " ", "")
	return len(rest) > 2 && strings.Trim(rest, rest[:1]) == "" && strings.ContainsAny(rest[:1], "-*_")
}

// list takes items and the lines that belong to them: indented ones, and those that follow an item
// at once.
func (p *parser) list() {
	var lines []string
	for p.at < len(p.lines) {
		line := strings.TrimRight(p.lines[p.at], " \t")
		trimmed := strings.TrimSpace(line)
		if trimmed == "" {
			next := p.at + 1
			if next < len(p.lines) && (isItem(strings.TrimSpace(p.lines[next])) || isIndented(p.lines[next])) {
				p.at++
				continue
			}
			break
		}
		if level, _ := headingOf(trimmed); level > 0 || isFence(trimmed) || strings.HasPrefix(trimmed, "|") {
			break
		}
		if !isItem(trimmed) && !isIndented(line) && p.at > 0 && strings.TrimSpace(p.lines[p.at-1]) == "" {
			break
		}
		lines = append(lines, line)
		p.at++
	}
	p.add(Block{Kind: List, Text: strings.Join(lines, "\n")})
}

func isIndented(line string) bool {
	return strings.TrimSpace(line) != "" && (strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t"))
}

func (p *parser) table() {
	b := Block{Kind: Table}
	for ; p.at < len(p.lines); p.at++ {
		line := strings.TrimSpace(p.lines[p.at])
		if !strings.HasPrefix(line, "|") {
			break
		}
		if len(b.Rows) == 1 && b.Header == 0 && isRule(line) {
			b.Header = 1
			continue
		}
		b.Rows = append(b.Rows, cells(line))
	}
	p.add(b)
}

// isRule reports whether a row is the line below the head of a table.
func isRule(row string) bool { return strings.Contains(row, "-") && strings.Trim(row, "|-: ") == "" }

// cells divides a row at |, except after a backslash.
func cells(row string) []string {
	row = strings.TrimPrefix(row, "|")
	if strings.HasSuffix(row, "|") && !strings.HasSuffix(row, `\|`) {
		row = row[:len(row)-1]
	}
	var out []string
	start := 0
	for i := 0; i <= len(row); i++ {
		if i < len(row) && (row[i] != '|' || i > 0 && row[i-1] == '\\') {
			continue
		}
		out = append(out, strings.ReplaceAll(strings.TrimSpace(row[start:i]), `\|`, "|"))
		start = i + 1
	}
	return out
}

// paragraph takes lines up to a blank one or another kind of block. A line of = or - below makes
// them a heading.
func (p *parser) paragraph() {
	var lines []string
	for ; p.at < len(p.lines); p.at++ {
		line := strings.TrimRight(p.lines[p.at], " \t")
		trimmed := strings.TrimSpace(line)
		if level := underline(trimmed); level > 0 && len(lines) == 1 {
			p.at++
			p.add(Block{Kind: Heading, Level: level, Text: strings.TrimSpace(lines[0])})
			return
		}
		if level, _ := headingOf(trimmed); trimmed == "" || len(lines) > 0 && (level > 0 || isFence(trimmed) ||
			strings.HasPrefix(trimmed, "|") || isItem(trimmed)) {
			break
		}
		lines = append(lines, line)
	}
	text := strings.Join(lines, "\n")
	if alt, source, ok := image(text); ok {
		p.add(Block{Kind: Image, Text: alt, Source: source})
		return
	}
	p.add(Block{Kind: Paragraph, Text: text})
}

// underline returns the level of the heading above a line of = or -; 0 for other lines.
func underline(line string) int {
	switch {
	case len(line) > 2 && strings.Trim(line, "=") == "":
		return 1
	case len(line) > 2 && strings.Trim(line, "-") == "":
		return 2
	}
	return 0
}

// image reads a paragraph that is one image: ![alt](source).
func image(text string) (alt, source string, ok bool) {
	rest, ok := strings.CutPrefix(text, "![")
	if !ok || strings.Contains(text, "\n") {
		return "", "", false
	}
	alt, rest, ok = strings.Cut(rest, "](")
	if !ok || strings.Contains(alt, "]") {
		return "", "", false
	}
	source, after, ok := strings.Cut(rest, ")")
	if !ok || after != "" {
		return "", "", false
	}
	source, _, _ = strings.Cut(source, " ") // a title may follow the address
	return alt, source, true
}
