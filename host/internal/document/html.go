package document

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// htmlPage adds an HTML page to out. It reads tag by tag and never builds a tree, so the cost does
// not depend on nesting. Without relative, only links with a scheme are kept.
func htmlPage(ctx context.Context, limits *Limits, source io.Reader, out *page, relative bool) error {
	z := html.NewTokenizer(source)
	z.SetMaxBuf(limits.Tag)
	w := &webPage{flow: newFlow(out), maxDepth: limits.Depth, kind: paragraph, relative: relative}
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch z.Next() {
		case html.ErrorToken:
			switch err := z.Err(); {
			case errors.Is(err, html.ErrBufferExceeded):
				return exceeded(LimitBlock, limits.Tag, "bytes in one tag")
			case !errors.Is(err, io.EOF):
				return err
			}
			w.endBlock()
			for w.table() != nil {
				w.endTable()
			}
			return out.err
		case html.TextToken:
			if w.silent == 0 {
				w.write(z.Text())
			}
		case html.StartTagToken:
			w.tag(z, false)
		case html.SelfClosingTagToken:
			w.tag(z, true)
		case html.EndTagToken:
			name, _ := z.TagName()
			w.end(atom.Lookup(name))
		}
		if out.err != nil {
			return out.err
		}
	}
}

// tag handles a start tag. Of the elements that close themselves only those without content matter.
func (w *webPage) tag(z *html.Tokenizer, closed bool) {
	name, more := z.TagName()
	a := atom.Lookup(name)
	switch {
	case w.silent != 0:
	case a == atom.Img:
		w.image(attributesOf(z, more))
	case !closed, a == atom.Br, a == atom.Hr:
		w.start(a, attributesOf(z, more))
	}
}

// attributes maps the names of the attributes of a tag to their values.
type attributes map[string]string

// attributesOf reads the attributes that [webPage] uses.
func attributesOf(z *html.Tokenizer, more bool) attributes {
	var out attributes
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch name := string(key); name {
		case "src", "alt", "href", "colspan", "rowspan", "start", "value", "type", "reversed", "class":
			if _, twice := out[name]; twice {
				continue
			}
			if out == nil {
				out = attributes{}
			}
			out[name] = string(value)
		}
	}
	return out
}

// number returns a whole number as HTML parses it: digits at the beginning, after a sign.
func (a attributes) number(name string) (n int, ok bool) {
	s := strings.TrimSpace(a[name])
	digits := strings.TrimLeft(s, "+-")
	end := 0
	for end < len(digits) && end < 9 && digits[end] >= '0' && digits[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(digits[:end])
	if strings.HasPrefix(s, "-") {
		n = -n
	}
	return n, err == nil && len(s)-len(digits) < 2
}

// image keeps an image until the open block ends.
func (w *webPage) image(of attributes) {
	if w.page.blocks == nil || w.openCell() != nil || len(w.images) >= maxImages {
		return
	}
	source := of["src"]
	if strings.HasPrefix(source, "data:") {
		source = "" // its bytes are not a reference
	}
	w.images = append(w.images, picture{source, of["alt"]})
}

// webPage is the state of reading an HTML page.
type webPage struct {
	flow
	maxDepth int
	block    linked    // the open block
	kind     blockKind // of the open block
	mark     string    // prefix of the open block
	silent   atom.Atom // the element whose content is skipped; 0 means none
	pre      int
	images   []picture
	lists    []htmlList
	inHead   bool   // the open rows are in a thead
	language string // of the open pre
	relative bool   // addresses of links may be relative
}

// htmlList is an open list.
type htmlList struct {
	ordered bool
	next    int // number of the next item
	step    int // to the next number; 0 if the numbers are unknown
	style   string
}

// put adds bytes to the open block.
func (w *webPage) put(text []byte) {
	if w.page.err == nil && w.block.Len()+len(text) > w.page.maxText {
		w.page.err = exceeded(LimitText, w.page.maxText, "bytes of text")
	}
	if w.page.err == nil {
		w.block.text = append(w.block.text, text...)
	}
}

// write adds text between tags to the open block.
func (w *webPage) write(text []byte) {
	if w.pre > 0 {
		w.put(text)
		return
	}
	const blanks = " \t\n\f\r"
	s := w.block.text
	if bytes.IndexAny(text[:min(1, len(text))], blanks) == 0 && len(s) > 0 && s[len(s)-1] != ' ' &&
		s[len(s)-1] != '\n' {
		w.put([]byte{' '})
	}
	words := 0
	for word := range bytes.FieldsSeq(text) {
		if words++; words > 1 {
			w.put([]byte{' '})
		}
		w.put(word)
	}
	if words > 0 && bytes.IndexAny(text[len(text)-1:], blanks) == 0 {
		w.put([]byte{' '})
	}
}

// endBlock moves the open block to the page.
func (w *webPage) endBlock() {
	open, target := w.block.open, w.block.target
	w.block.end()
	text := w.block.String()
	if w.block.Reset(); open { // a link around blocks
		w.block.begin(target)
	}
	if w.pre > 0 {
		text = strings.Trim(text, "\n")
	} else {
		text = strings.TrimSpace(strings.ReplaceAll(text, " \n", "\n"))
	}
	if text != "" {
		w.language, w.flow.page.language = "", w.language
		w.add(w.kind, w.mark, text)
		w.kind, w.mark = paragraph, ""
	}
	for _, p := range w.images {
		w.page.picture(p.source, p.description)
	}
	w.images = nil
}

func (w *webPage) begin(kind blockKind, mark string) {
	w.endBlock()
	w.kind, w.mark = kind, mark
}

func (w *webPage) start(a atom.Atom, of attributes) {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object:
		w.silent = a
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.begin(heading, strings.Repeat("#", int(a.String()[1]-'0'))+" ")
	case atom.Br:
		w.put([]byte{'\n'})
	case atom.Pre:
		w.begin(code, "")
		w.pre++
		w.language = languageOf(of["class"])
	case atom.Code:
		if w.pre > 0 && w.language == "" {
			w.language = languageOf(of["class"])
		}
	case atom.A:
		if target := of["href"]; w.relative || strings.Contains(target, ":") {
			w.block.begin(target)
		}
	case atom.Ul, atom.Ol, atom.Menu:
		w.endBlock()
		if len(w.lists) < w.maxDepth {
			w.lists = append(w.lists, listOf(a, of))
		}
	case atom.Li:
		w.begin(item, w.bullet(of))
	case atom.Table:
		w.endBlock()
		if len(w.tables) < w.maxDepth {
			w.beginTable()
		}
	case atom.Tr:
		w.endBlock()
		w.endRow()
		if t := w.table(); t != nil {
			t.inRow = true
		}
	case atom.Td, atom.Th:
		w.endBlock()
		w.cell(a, of)
	case atom.Thead, atom.Tbody, atom.Tfoot:
		w.group(a == atom.Thead)
	default:
		if breaksLine(a) {
			w.endBlock()
		}
	}
}

func (w *webPage) end(a atom.Atom) {
	if w.silent != 0 {
		if a == w.silent {
			w.silent = 0
		}
		return
	}
	switch a {
	case atom.A:
		w.block.end()
	case atom.Thead, atom.Tbody, atom.Tfoot:
		w.group(false)
	case atom.Pre:
		w.endBlock()
		w.pre = max(0, w.pre-1)
	case atom.Ul, atom.Ol, atom.Menu:
		w.endBlock()
		if n := len(w.lists); n > 0 {
			w.lists = w.lists[:n-1]
		}
	case atom.Td, atom.Th:
		w.endBlock()
		if t := w.table(); t != nil {
			t.endCell()
		}
	case atom.Tr:
		w.endBlock()
		w.endRow()
	case atom.Table:
		w.endBlock()
		w.endTable()
	case atom.Li, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.begin(paragraph, "")
	default:
		if breaksLine(a) {
			w.endBlock()
		}
	}
}

// group begins or ends a group of rows, over whose end no cell reaches.
func (w *webPage) group(isHead bool) {
	w.endBlock()
	if t := w.table(); t != nil {
		w.endRow()
		t.down = nil
	}
	w.inHead = isHead
}

func (w *webPage) cell(a atom.Atom, of attributes) {
	columns, _ := of.number("colspan")
	rows, ok := of.number("rowspan")
	if ok && rows == 0 {
		rows = maxSpan // to the end of its group
	}
	w.beginCell(columns, rows)
	if t := w.table(); t != nil {
		isHead := w.inHead || a == atom.Th
		t.named = isHead && (t.named || len(t.cells) == 0)
	}
}

// listOf returns the list that a tag begins.
func listOf(a atom.Atom, of attributes) htmlList {
	l := htmlList{ordered: a == atom.Ol, next: 1, step: 1, style: of["type"]}
	start, ok := of.number("start")
	if ok {
		l.next = start
	}
	if _, reversed := of["reversed"]; reversed {
		if l.step = -1; !ok {
			l.step = 0 // it counts from the number of its items, which is unknown until it ends
		}
	}
	return l
}

// bullet returns the mark of the next item.
func (w *webPage) bullet(of attributes) string {
	n := len(w.lists)
	if n == 0 {
		return "- "
	}
	indent := strings.Repeat("  ", min(n-1, 8))
	l := &w.lists[n-1]
	if value, ok := of.number("value"); ok && l.ordered {
		l.next = value
		if l.step == 0 {
			l.step = -1
		}
	}
	if !l.ordered || l.step == 0 {
		return indent + "- "
	}
	number := l.next
	l.next += l.step
	return indent + itemMark(numbered(htmlStyles[l.style], number)+".")
}

// htmlStyles are the number formats of the types of lists.
var htmlStyles = map[string]string{"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}

// languageOf returns the language that a class of code names: language-go, lang-go.
func languageOf(class string) string {
	for word := range strings.FieldsSeq(class) {
		name, ok := strings.CutPrefix(word, "language-")
		if !ok {
			name, ok = strings.CutPrefix(word, "lang-")
		}
		if ok && len(name) < 32 {
			return name
		}
	}
	return ""
}

// breaksLine reports whether an element starts and ends on its own line.
func breaksLine(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd,
		atom.Details,
		atom.Dialog, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Legend, atom.Li,
		atom.Main,
		atom.Nav, atom.Option, atom.P, atom.Section, atom.Summary, atom.Title:
		return true
	}
	return false
}
