package block

import (
	"strconv"
	"strings"
)

// Markdown writes blocks as Markdown, with a blank line between two of them. Images without a
// description are left out. A paragraph whose lines look like another block is escaped, so that
// [Parse] reads a paragraph again.
func Markdown(list []Block) string {
	return separated(list, func(b *Block) string {
		if b.Kind == Paragraph {
			return escaped(b.Text)
		}
		return b.Markdown()
	})
}

// separated joins the blocks as text writes them with a blank line between two of them. Empty texts
// are left out.
func separated(list []Block, text func(*Block) string) string {
	var b strings.Builder
	for i := range list {
		t := text(&list[i])
		if t == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(t)
	}
	return b.String()
}

// Markdown returns the block as Markdown, without a line end. Its kind is known where it is used,
// so a paragraph is its text: search and models read no backslashes that a document lacks.
func (b *Block) Markdown() string {
	switch b.Kind {
	case Heading:
		return strings.Repeat("#", min(max(b.Level, 1), DeepestHeading)) + " " + Line(b.Text)
	case Table:
		var out strings.Builder
		for i, row := range b.Rows {
			if i > 0 {
				out.WriteByte('\n')
			}
			WriteRow(&out, row, i == max(b.Header, 1)-1)
		}
		return out.String()
	case Code:
		fence := "```"
		for strings.Contains(b.Text, fence) {
			fence += "`"
		}
		return fence + b.Language + "\n" + b.Text + "\n" + fence
	}
	return b.Text
}

// escaped puts a backslash before lines of a paragraph that are other blocks in Markdown: a line of
// a PDF may begin with # or 1. without being a heading or an item. Quotes stay: those of Markdown
// are paragraphs.
func escaped(text string) string {
	if !strings.ContainsAny(text, "#|`~-+*•▪◦‣.)=") {
		return text
	}
	if _, _, ok := image(text); ok {
		return "\\" + text
	}
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		trimmed := strings.TrimSpace(line)
		level, _ := headingOf(trimmed)
		number := strings.TrimLeft(trimmed, "0123456789")
		switch {
		case !isItem(trimmed) && level == 0 && !isFence(trimmed) && !strings.HasPrefix(trimmed, "|") &&
			(i != 1 || underline(trimmed) == 0):
			b.WriteString(line)
		case len(number) < len(trimmed):
			b.WriteString(trimmed[:len(trimmed)-len(number)] + "\\" + number)
		default:
			b.WriteString("\\" + trimmed)
		}
	}
	return b.String()
}

// WriteRow writes a row of a table as Markdown. The last row of its head is followed by the line
// that makes it the head.
func WriteRow(b *strings.Builder, cells []string, lastOfHead bool) {
	for _, c := range cells {
		b.WriteString("| ")
		b.WriteString(cell(c))
		b.WriteByte(' ')
	}
	b.WriteByte('|')
	if lastOfHead {
		b.WriteByte('\n')
		b.WriteString(strings.Repeat("| --- ", len(cells)))
		b.WriteByte('|')
	}
}

// cell returns s on one line with | escaped.
func cell(s string) string {
	if strings.ContainsAny(s, "\n|") {
		s = strings.ReplaceAll(Line(s), "|", `\|`)
	}
	return strings.TrimSpace(s)
}

// Plain writes blocks as plain text, with a blank line between two of them.
func Plain(list []Block) string { return separated(list, (*Block).Plain) }

// Plain returns the block as plain text: cells are separated by tabs, headings and code have no
// marks. A cell that reaches over others has its text once.
func (b *Block) Plain() string {
	if b.Kind != Table {
		return b.Text
	}
	var out strings.Builder
	spans := b.spans()
	for i, row := range b.Rows {
		if i > 0 {
			out.WriteByte('\n')
		}
		for k, c := range row {
			if k > 0 {
				out.WriteByte('\t')
			}
			if !spans.repeats(i, k) {
				out.WriteString(Line(c))
			}
		}
	}
	return out.String()
}

// HTML writes blocks as HTML, a line for each.
func HTML(list []Block) string {
	var b strings.Builder
	for i := range list {
		list[i].writeHTML(&b)
	}
	return b.String()
}

// HTML returns the block as HTML, without a line end.
func (b *Block) HTML() string {
	var out strings.Builder
	b.writeHTML(&out)
	return strings.TrimSuffix(out.String(), "\n")
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func (b *Block) writeHTML(out *strings.Builder) {
	element := func(name, text string) { out.WriteString("<" + name + ">" + text + "</" + name + ">\n") }
	text := strings.ReplaceAll(escape.Replace(b.Text), "\n", "<br>")
	switch b.Kind {
	case Heading:
		element("h"+string(rune('0'+min(max(b.Level, 1), DeepestHeading))), text)
	case Table:
		out.WriteString("<table>")
		spans := b.spans()
		for i, row := range b.Rows {
			name := "td"
			if i < b.Header {
				name = "th"
			}
			out.WriteString("<tr>")
			for k, c := range row {
				if !spans.repeats(i, k) {
					out.WriteString("<" + name + spans.attributes(i, k) + ">")
					out.WriteString(escape.Replace(Line(c)) + "</" + name + ">")
				}
			}
			out.WriteString("</tr>")
		}
		out.WriteString("</table>\n")
	case Code:
		element("pre", escape.Replace(b.Text))
	case List:
		out.WriteString("<ul>")
		for item := range strings.SplitSeq(b.Text, "\n") {
			_, text := itemMark(strings.TrimSpace(item))
			out.WriteString("<li>" + escape.Replace(text) + "</li>")
		}
		out.WriteString("</ul>\n")
	case Image:
		if b.Text != "" {
			element("figure", "<figcaption>"+text+"</figcaption>")
		}
	default:
		element("p", text)
	}
}

// attributes returns the attributes of HTML for a cell that reaches over others.
func (s spans) attributes(row, column int) (out string) {
	span := s[[2]int{row, column}]
	if span == nil {
		return ""
	}
	if span.Rows > 1 {
		out += ` rowspan="` + strconv.Itoa(span.Rows) + `"`
	}
	if span.Columns > 1 {
		out += ` colspan="` + strconv.Itoa(span.Columns) + `"`
	}
	return out
}
