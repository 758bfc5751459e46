package chunking

import (
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/engine/chunk"
)

// titled returns a method that cuts at headings: those of the document, or numbered lines.
func titled(name string) method {
	return func(c *cutter, doc *Document) ([]chunk.Chunk, error) {
		return c.titles(name, doc.Blocks)
	}
}

func (c *cutter) titles(name string, list []block.Block) ([]chunk.Chunk, error) {
	t, err := chunk.ByMethod(name, c.count, c.Size)
	if err != nil {
		return nil, err
	}
	var items []chunk.Item
	for i := range list {
		b := &list[i]
		switch b.Kind {
		case block.Table:
			items = append(items, c.tableItems(b)...)
		case block.Image:
			items = append(items, chunk.Item{
				Text: b.Text, Type: chunk.Image, ImageID: b.Source,
				Positions: b.Positions,
			})
		case block.Code:
			items = append(items, chunk.Item{Text: b.Markdown(), Positions: b.Positions})
		default:
			for line := range strings.SplitSeq(b.Markdown(), "\n") {
				if strings.TrimSpace(line) != "" {
					items = append(items, chunk.Item{Text: line, Positions: b.Positions})
				}
			}
		}
	}
	out, err := t.Items(items)
	for i := range out {
		out[i].Text = strings.TrimRight(out[i].Text, "\n")
	}
	return out, err
}

var (
	abstractTitle = regexp.MustCompile(`^(?i:abstract|summary)\W*$|^摘\s*要$`)
	abstractText  = regexp.MustCompile(`^(?i:abstract)\s*[-—:.：]|^摘\s*要\s*[:：]`)
)

// paper keeps the abstract whole and cuts the other sections as a manual.
func (c *cutter) paper(doc *Document) ([]chunk.Chunk, error) {
	start, end := abstract(doc.Blocks)
	out, err := c.titles("manual", doc.Blocks[:start])
	if err != nil {
		return nil, err
	}
	if start < end {
		out = append(out, whole(doc.Blocks[start:end]))
	}
	rest, err := c.titles("manual", doc.Blocks[end:])
	return append(out, rest...), err
}

// abstract returns the range of the abstract; empty without one.
func abstract(list []block.Block) (start, end int) {
	for i := range list {
		b := &list[i]
		text := strings.TrimSpace(b.Text)
		switch {
		case b.Kind == block.Paragraph && abstractText.MatchString(text):
			return i, i + 1
		case (b.Kind == block.Heading || b.Kind == block.Paragraph) && abstractTitle.MatchString(text):
			for end = i + 1; end < len(list) && list[end].Kind != block.Heading; {
				end++
			}
			return i, end
		}
	}
	return 0, 0
}
