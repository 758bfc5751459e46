package write

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// reader is markdown as GitHub has it: with tables, crossed out text and bare addresses.
var reader = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(standalone{}, 100))),
)

// block is a paragraph or a block in its place.
type block struct {
	kind  blockKind
	level int // of a heading: 1 to 6; of anything else: how many lists and quotations it stands in
	spans []span
	// number of an item; 0 in a list without numbers.
	number int
	// first marks the beginning of an item; further blocks of the same item have it unset.
	first bool
	rows  [][][]span // of a table: rows, cells, spans; the first row is the head
}

type blockKind int

const (
	paragraph blockKind = iota
	heading
	item
	quotation
	code // keeps its lines
	rule
	table
)

// span is text in one style. A line break is "\n".
type span struct {
	text                       string
	bold, italic, mono, struck bool
	link                       string // address, see [linkable]
}

// plain returns the text of spans without their style.
func plain(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}

// unescape replaces escapes: \* is *, &amp; is &.
func unescape(source []byte, raw bool) string {
	if raw {
		return string(source)
	}
	return string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(source))))
}

// parse reads markdown as a flat list of blocks.
func parse(markdown string) []block {
	p := &parser{source: []byte(strings.ToValidUTF8(markdown, "\uFFFD"))}
	p.blocks(reader.Parser().Parse(text.NewReader(p.source)))
	return p.out
}

type parser struct {
	source []byte
	out    []block
	level  int
	quoted int
	item   *block // the item that begins with the next block; nil outside of lists
	inItem bool
}

// deepest bounds the nesting of lists and quotations that is read.
const deepest = 100

func (p *parser) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			p.add(block{kind: heading, level: n.Level, spans: p.spans(n)})
		case *ast.Paragraph, *ast.TextBlock:
			p.add(block{spans: p.spans(n)})
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			p.add(block{kind: code, spans: []span{{
				text: strings.TrimRight(string(n.Lines().Value(p.source)), "\n"),
				mono: true,
			}}})
		case *ast.ThematicBreak:
			p.add(block{kind: rule})
		case *ast.Blockquote:
			p.inside(func() { p.quoted++; p.blocks(n); p.quoted-- })
		case *ast.List:
			p.list(n)
		case *east.Table:
			p.table(n)
		}
	}
}

// inside enters one level deeper, unless that is too deep.
func (p *parser) inside(then func()) {
	if p.level == deepest {
		return
	}
	p.level++
	then()
	p.level--
}

// add appends a block; inside of an item or a quotation paragraphs belong to it.
func (p *parser) add(b block) {
	if b.kind == paragraph && len(b.spans) == 0 {
		return
	}
	if b.kind != heading {
		b.level = p.level
	}
	switch {
	case b.kind != paragraph:
	case p.inItem:
		b.kind = item
		if p.item != nil {
			b.number, b.first = p.item.number, true
			p.item = nil
		}
	case p.quoted > 0:
		b.kind = quotation
	}
	p.out = append(p.out, b)
}

func (p *parser) list(l *ast.List) {
	number := 0
	if l.IsOrdered() {
		number = l.Start
	}
	inItem := p.inItem
	p.inside(func() {
		for n := l.FirstChild(); n != nil; n = n.NextSibling() {
			p.inItem, p.item = true, &block{number: number}
			p.blocks(n)
			if l.IsOrdered() {
				number++
			}
		}
	})
	p.inItem, p.item = inItem, nil
}

func (p *parser) table(t *east.Table) {
	b := block{kind: table}
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells [][]span
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, p.spans(cell))
		}
		b.rows = append(b.rows, cells)
	}
	p.add(b)
}

func (p *parser) spans(parent ast.Node) []span {
	c := &collector{parser: p}
	c.inline(parent, span{}, 0)
	c.end()
	return c.spans
}

// collector joins texts of the same style.
type collector struct {
	*parser
	spans []span
	style span
	text  strings.Builder
}

func (c *collector) put(style span, text string) {
	if style != c.style {
		c.end()
		c.style = style
	}
	c.text.WriteString(text)
}

func (c *collector) end() {
	if c.text.Len() > 0 {
		s := c.style
		s.text = c.text.String()
		c.spans = append(c.spans, s)
		c.text.Reset()
	}
}

// inline collects text; style comes from the elements around it.
func (c *collector) inline(parent ast.Node, style span, depth int) {
	if depth == deepest {
		return
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		inner := style
		switch n := n.(type) {
		case *ast.Text:
			c.put(style, unescape(n.Segment.Value(c.source), n.IsRaw()))
			switch {
			case n.HardLineBreak():
				c.put(style, "\n")
			case n.SoftLineBreak():
				c.put(style, " ")
			}
			continue
		case *ast.String:
			c.put(style, string(n.Value))
			continue
		case *ast.AutoLink:
			inner.link = linkable(string(n.URL(c.source)))
			c.put(inner, string(n.Label(c.source)))
			continue
		case *east.TaskCheckBox:
			c.put(style, map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked])
			continue
		case *ast.RawHTML:
			if strings.HasPrefix(strings.ToLower(string(n.Segments.Value(c.source))), "<br") {
				c.put(style, "\n")
			}
			continue
		case *ast.Emphasis:
			inner.bold = inner.bold || n.Level == 2
			inner.italic = inner.italic || n.Level == 1
		case *ast.CodeSpan:
			inner.mono = true
		case *east.Strikethrough:
			inner.struck = true
		case *ast.Link:
			inner.link = linkable(string(util.URLEscape(n.Destination, true)))
		}
		c.inline(n, inner, depth+1)
	}
}
