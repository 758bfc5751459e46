package chunking

import (
	"strings"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/engine/chunk"
)

// qa makes a chunk of each question with its answer: the rows of tables, lines of two columns, or
// headings with the text below them. Only the question is searched.
func (c *cutter) qa(doc *Document) ([]chunk.Chunk, error) {
	var out []chunk.Chunk
	headed := false
	for i := range doc.Blocks {
		headed = headed || doc.Blocks[i].Kind == block.Heading && !isSheet(doc.Name)
	}
	for start := 0; start < len(doc.Blocks); {
		b := &doc.Blocks[start]
		end := start + 1
		switch {
		case b.Kind == block.Table:
			for _, row := range b.Rows {
				out = append(out, pairOf(row, b.Positions))
			}
		case headed:
			for end < len(doc.Blocks) && doc.Blocks[end].Kind != block.Heading && doc.Blocks[end].Kind != block.Table {
				end++
			}
			out = append(out, section(doc.Blocks[start:end])...)
		case b.Kind == block.Heading: // the name of a sheet
		default:
			for end < len(doc.Blocks) && doc.Blocks[end].Kind != block.Heading && doc.Blocks[end].Kind != block.Table {
				end++
			}
			out = append(out, lines(doc.Blocks[start:end])...)
		}
		start = end
	}
	return out, nil
}

func qaChunk(p chunk.Pair, positions []chunk.Position) chunk.Chunk {
	return chunk.Chunk{Text: p.Text(), Type: chunk.Text, Search: p.Question, Positions: positions}
}

// pairOf returns the chunk of a row; the question is in its first cell with a text.
func pairOf(row []string, positions []chunk.Position) chunk.Chunk {
	for i, cell := range row {
		if strings.TrimSpace(cell) != "" {
			answer := strings.TrimSpace(strings.Join(row[i+1:], " "))
			return qaChunk(chunk.Pair{Question: block.Line(cell), Answer: answer}, positions)
		}
	}
	return chunk.Chunk{}
}

// section returns a heading, with those above it, as the question that the text below answers. A
// heading without text is part of the questions below it.
func section(list []block.Block) []chunk.Chunk {
	body := whole(list)
	if list[0].Kind != block.Heading {
		return []chunk.Chunk{body}
	}
	body = whole(list[1:])
	if body.Text == "" {
		return nil
	}
	question := strings.Join(append(list[0].Path[:len(list[0].Path):len(list[0].Path)], list[0].Text), "\n")
	return []chunk.Chunk{qaChunk(chunk.Pair{Question: question, Answer: body.Text}, body.Positions)}
}

// lines makes a chunk of each pair of [chunk.Pairs]; lines before the first pair are a chunk.
func lines(list []block.Block) (out []chunk.Chunk) {
	text := whole(list)
	pairs, rest := chunk.Pairs(text.Text)
	if len(rest) > 0 {
		out = append(out, chunk.Chunk{Text: strings.Join(rest, "\n"), Type: chunk.Text, Positions: text.Positions})
	}
	for _, p := range pairs {
		out = append(out, qaChunk(p, text.Positions))
	}
	return out
}

// table makes a chunk of each row, with the names of its columns.
func (c *cutter) table(doc *Document) (out []chunk.Chunk, err error) {
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		if b.Kind != block.Table {
			continue
		}
		rows := chunk.Rows(b.Rows)
		for k := range rows {
			rows[k].Positions = b.Positions
		}
		out = append(out, rows...)
	}
	return out, nil
}

// tag makes a chunk of each row or line: a text, and the tags of that text divided by commas.
func (c *cutter) tag(doc *Document) (out []chunk.Chunk, err error) {
	add := func(text, tags string, positions []chunk.Position) {
		t := chunk.Chunk{Text: strings.TrimSpace(text), Type: chunk.Text, Positions: positions}
		for tag := range strings.FieldsFuncSeq(tags, func(r rune) bool { return strings.ContainsRune(",，、;；", r) }) {
			if tag = strings.TrimSpace(tag); tag != "" {
				t.Tags = append(t.Tags, tag)
			}
		}
		out = append(out, t)
	}
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		switch b.Kind {
		case block.Heading: // the name of a sheet
		case block.Table:
			for _, row := range b.Rows {
				add(row[0], strings.Join(row[1:], ","), b.Positions)
			}
		default:
			pairs, rest := chunk.Pairs(b.Text)
			for _, line := range rest {
				add(line, "", b.Positions)
			}
			for _, p := range pairs {
				add(p.Question, p.Answer, b.Positions)
			}
		}
	}
	return out, nil
}
