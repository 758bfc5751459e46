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
// not depend on nesting.
func htmlPage(ctx context.Context, limits *Limits, source io.Reader, out *page) error {
	z := html.NewTokenizer(source)
	z.SetMaxBuf(limits.Tag)
	w := &webPage{flow: newFlow(out), maxDepth: limits.Depth, kind: paragraph}
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
	case a == atom.Img && w.silent == 0:
		w.image(z, more)
	case !closed, a == atom.Br, a == atom.Hr:
		w.start(a)
	}
}

// image keeps an image until the open block ends.
func (w *webPage) image(z *html.Tokenizer, more bool) {
	if w.page.blocks == nil || w.openCell() != nil || len(w.images) >= maxImages {
		return
	}
	var source, alt string
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		switch string(key) {
		case "src":
			source = string(value)
		case "alt":
			alt = string(value)
		}
	}
	if strings.HasPrefix(source, "data:") {
		source = "" // its bytes are not a reference
	}
	w.images = append(w.images, picture{source, alt})
}

// webPage is the state of reading an HTML page.
type webPage struct {
	flow
	maxDepth int
	block    strings.Builder // the open block
	kind     blockKind       // of the open block
	mark     string          // prefix of the open block
	silent   atom.Atom       // the element whose content is skipped; 0 means none
	pre      int
	images   []picture
	lists    []int // last item number of each open list, -1 for unordered lists
}

// put adds bytes to the open block.
func (w *webPage) put(text []byte) {
	if w.page.err == nil && w.block.Len()+len(text) > w.page.maxText {
		w.page.err = exceeded(LimitText, w.page.maxText, "bytes of text")
	}
	if w.page.err == nil {
		w.block.Write(text)
	}
}

// write adds text between tags to the open block.
func (w *webPage) write(text []byte) {
	if w.pre > 0 {
		w.put(text)
		return
	}
	const blanks = " \t\n\f\r"
	s := w.block.String()
	if bytes.IndexAny(text[:min(1, len(text))], blanks) == 0 && s != "" && !strings.HasSuffix(s,
		" ") && !strings.HasSuffix(s, "\n") {
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
	text := w.block.String()
	w.block.Reset()
	if w.pre > 0 {
		text = strings.Trim(text, "\n")
	} else {
		text = strings.TrimSpace(strings.ReplaceAll(text, " \n", "\n"))
	}
	if text != "" {
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

func (w *webPage) start(a atom.Atom) {
	if w.silent != 0 {
		return
	}
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
	case atom.Ul, atom.Ol, atom.Menu:
		w.endBlock()
		if len(w.lists) < w.maxDepth {
			w.lists = append(w.lists, map[bool]int{true: 0, false: -1}[a == atom.Ol])
		}
	case atom.Li:
		w.begin(item, w.bullet())
	case atom.Table:
		w.endBlock()
		if len(w.tables) < w.maxDepth {
			w.beginTable()
		}
	case atom.Tr:
		w.endBlock()
		w.endRow()
	case atom.Td, atom.Th:
		w.endBlock()
		w.beginCell()
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

func (w *webPage) bullet() string {
	n := len(w.lists)
	if n == 0 {
		return "- "
	}
	indent := strings.Repeat("  ", min(n-1, 8))
	if w.lists[n-1] < 0 {
		return indent + "- "
	}
	w.lists[n-1]++
	return indent + strconv.Itoa(w.lists[n-1]) + ". "
}

// breaksLine reports whether an element starts and ends on its own line.
func breaksLine(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Caption, atom.Center, atom.Dd,
		atom.Details,
		atom.Dialog, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form,
		atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Legend, atom.Li,
		atom.Main,
		atom.Nav, atom.Option, atom.P, atom.Section, atom.Summary, atom.Tbody, atom.Tfoot, atom.Thead, atom.Title:
		return true
	}
	return false
}
