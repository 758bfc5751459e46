package document

import (
	"cmp"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
)

// collector collects the blocks of a document.
type collector struct {
	list     []block.Block
	items    strings.Builder // the items of the last block after its first, while it is a list
	outline  block.Outline
	spanned  bool        // the last block has spans
	below    map[int]int // spans of the open table that the next row may continue, by column
	language string      // of the next code
	page     int         // on which the next block is; 0 if unknown
	size     int64       // bytes in list
	maxSize  int64
}

// blockOverhead and cellOverhead are the bytes of a block and of a cell beyond their text.
const (
	blockOverhead = 256
	cellOverhead  = 24
)

// count counts n bytes of blocks.
func (c *collector) count(n int) error {
	if c.size += int64(n); c.size > c.maxSize {
		return exceeded(LimitBlocks, c.maxSize, "bytes of blocks")
	}
	return nil
}

// flush completes the last block.
func (c *collector) flush() {
	if c.spanned {
		spans := c.list[len(c.list)-1].Spans
		slices.SortFunc(spans, func(a, b block.Span) int { return cmp.Or(a.Row-b.Row, a.Column-b.Column) })
		c.below, c.spanned = nil, false
	}
	if c.items.Len() > 0 {
		c.list[len(c.list)-1].Text += c.items.String()
		c.items.Reset()
	}
}

// result returns the collected blocks.
func (c *collector) result() []block.Block {
	c.flush()
	return c.list
}

// append appends a block under the headings so far.
func (c *collector) append(b block.Block) error {
	c.flush()
	if c.page > 0 && b.Positions == nil {
		b.Positions = []block.Position{{Page: c.page}}
	}
	c.list = append(c.list, c.outline.Place(b))
	return c.count(blockOverhead + len(b.Text) + len(b.Source) + len(b.Image))
}

// add appends a block as [page.add] describes it. joins adds an item to the list before it.
func (c *collector) add(kind blockKind, mark, text string, joins bool) error {
	switch {
	case joins:
		c.items.WriteString("\n" + mark + text)
		return c.count(len(mark) + len(text) + 1)
	case kind == heading:
		level := min(strings.Count(mark, "#"), block.DeepestHeading)
		return c.append(block.Block{Kind: block.Heading, Level: level, Text: text})
	case kind == code:
		return c.append(block.Block{Kind: block.Code, Language: c.language, Text: text})
	case kind == item:
		return c.append(block.Block{Kind: block.List, Text: mark + text})
	}
	return c.append(block.Block{Kind: block.Paragraph, Text: mark + text})
}

// row appends a row of a table, which first begins. head reports that it names the columns.
func (c *collector) row(cells []string, merges []merge, first, head bool) error {
	if first {
		if err := c.append(block.Block{Kind: block.Table}); err != nil {
			return err
		}
	}
	row, size := make([]string, len(cells)), cellOverhead
	for i, cell := range cells {
		row[i] = strings.TrimSpace(cell)
		size += cellOverhead + len(cell)
	}
	last := &c.list[len(c.list)-1]
	last.Rows = append(last.Rows, row)
	if head {
		last.Header++
	}
	return c.count(size + c.span(last, merges)*cellOverhead)
}

// span adds the merged cells of the last row of a table, and returns how many are new.
func (c *collector) span(table *block.Block, merges []merge) int {
	row, before := len(table.Rows)-1, len(table.Spans)
	below := map[int]int{} // spans of this row by their column
	for _, m := range merges {
		if i, ok := c.below[m.column]; ok && m.continues {
			table.Spans[i].Rows++
			below[m.column] = i
			continue
		}
		s := block.Span{Row: row, Column: m.column, Rows: 1, Columns: m.columns}
		if m.continues && row > 0 {
			s.Row, s.Rows = row-1, 2
		}
		below[m.column] = len(table.Spans)
		table.Spans = append(table.Spans, s)
	}
	c.below, c.spanned = below, c.spanned || len(below) > 0
	return len(table.Spans) - before
}

func (c *collector) picture(source, description string) error {
	return c.append(block.Block{Kind: block.Image, Source: source, Text: block.Line(description)})
}
