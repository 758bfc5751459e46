package chunking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/engine/chunk"
)

// ErrMethod means that a chunk method is unknown; choose one of [Methods].
var ErrMethod = errors.New("unknown chunk method")

// Structure is the default method: it cuts at headings, paragraphs, rows and sentences and respects
// a size.
const Structure = "structure"

// Document is a parsed document.
type Document struct {
	Name   string // file name with extension
	Blocks []block.Block
}

// Chunk is a chunk with the number of its tokens.
type Chunk struct {
	chunk.Chunk
	Tokens int // of the embedded text
}

// config is the settings of the methods, as a dataset's parser_config has them.
type config struct {
	Size         int      `json:"chunk_token_num"`
	Delimiter    string   `json:"delimiter"`
	Overlap      float64  `json:"overlapped_percent"`
	TableContext int      `json:"table_context_size"`
	ImageContext int      `json:"image_context_size"`
	Children     string   `json:"children_delimiter"`
	ParentChild  struct { // children by a separate delimiter
		Use      bool   `json:"use_parent_child"`
		Children string `json:"children_delimiter"`
	} `json:"parent_child"`
}

// method cuts a document.
type method func(c *cutter, doc *Document) ([]chunk.Chunk, error)

var methods = map[string]method{
	Structure: (*cutter).structure, "naive": (*cutter).naive, "email": (*cutter).naive, "qa": (*cutter).qa,
	"table": (*cutter).table, "tag": (*cutter).tag, "book": titled("book"), "laws": titled("laws"),
	"manual": titled("manual"), "paper": (*cutter).paper, "presentation": (*cutter).presentation,
	"one": (*cutter).one, "picture": (*cutter).one,
}

// Methods returns the names of all chunk methods, sorted.
func Methods() []string { return slices.Sorted(maps.Keys(methods)) }

// Cut cuts a document by a method; "" is [Structure]. settings is the JSON object of the method's
// settings, of which absent ones have their defaults; nil is none.
//
// Errors: [ErrMethod], those of ctx, settings that are not accepted.
func Cut(ctx context.Context, name string, settings json.RawMessage, doc Document) ([]Chunk, error) {
	if name == "" {
		name = Structure
	}
	cut, ok := methods[name]
	if !ok {
		return nil, fmt.Errorf("%w %q (one of %s)", ErrMethod, name, strings.Join(Methods(), ", "))
	}
	c := cutter{ctx: ctx, config: config{Size: 512, Delimiter: "\n"}, lines: newLineCounter()}
	defer c.lines.close()
	if len(settings) > 0 {
		if err := json.Unmarshal(settings, &c.config); err != nil {
			return nil, fmt.Errorf("chunk method %s: settings: %w", name, err)
		}
	}
	if c.Size <= 0 {
		return nil, fmt.Errorf("chunk method %s: chunk_token_num %d is not above 0", name, c.Size)
	}
	doc.Blocks = withoutContents(doc.Blocks)
	list, err := cut(&c, &doc)
	if err == nil {
		err = ctx.Err() // the counts are wrong then
	}
	if err != nil {
		return nil, fmt.Errorf("chunk method %s: %w", name, err)
	}
	out := make([]Chunk, 0, len(list))
	for i := range list {
		if strings.TrimSpace(list[i].Text) != "" {
			out = append(out, Chunk{list[i], c.count(list[i].Embedded())})
		}
	}
	return out, ctx.Err()
}

// withoutContents leaves out tables of contents, which compete with the sections that they name. A
// document of nothing else keeps them.
func withoutContents(list []block.Block) []block.Block {
	isContents := func(b block.Block) bool { return b.Mark == block.Contents }
	if !slices.ContainsFunc(list, isContents) {
		return list
	}
	out := slices.DeleteFunc(slices.Clone(list), isContents)
	for i := range out {
		if out[i].Kind != block.Heading && out[i].Kind != block.Image {
			return out
		}
	}
	return list
}

// cutter is the state of one cut.
type cutter struct {
	config
	ctx   context.Context
	lines *lineCounter
}

// count is [Count] until the context ends; then the result is not used any more.
func (c *cutter) count(text string) int {
	if c.ctx.Err() != nil {
		return len(text)
	}
	return c.lines.count(text)
}

func (c *cutter) structure(doc *Document) ([]chunk.Chunk, error) {
	s := chunk.Structure{Count: c.count, Size: c.Size}
	return s.Blocks(doc.Blocks), nil
}

// isSheet reports whether a file is a table as a whole.
func isSheet(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".csv", ".tsv", ".xlsx", ".xlsm", ".xls":
		return true
	}
	return false
}

// naive merges text between delimiters up to a size. Tables and images stay apart; of a sheet each
// row is a line with the names of its columns.
func (c *cutter) naive(doc *Document) ([]chunk.Chunk, error) {
	t := chunk.Naive(c.count, c.Size, c.Delimiter)
	t.Overlap, t.Children = chunk.OverlapPercent(c.Overlap), c.children()
	t.TableContext, t.ImageContext = c.TableContext, c.ImageContext
	var items []chunk.Item
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		switch {
		case b.Kind == block.Table && isSheet(doc.Name):
			for _, line := range rowLines(b, sheetOf(b)) {
				items = append(items, chunk.Item{Text: line, Positions: b.Positions})
			}
		case b.Kind == block.Table:
			items = append(items, c.tableItems(b)...)
		case b.Kind == block.Image:
			items = append(items, chunk.Item{
				Text: b.Text, Type: chunk.Image, ImageID: b.Source,
				Positions: b.Positions,
			})
		default:
			for _, line := range c.units(t, b.Markdown()) {
				items = append(items, chunk.Item{Text: line, Positions: b.Positions})
			}
		}
	}
	return t.Items(items), nil
}

// children returns the delimiters that cut chunks into the pieces that are searched.
func (c *cutter) children() []string {
	delimiter := c.config.Children
	if c.ParentChild.Use {
		delimiter = c.ParentChild.Children
	}
	return chunk.Delimiters(delimiter)
}

// units cuts the text of a block where chunks may end, unless the delimiters cut in any case.
func (c *cutter) units(t *chunk.Tokens, text string) []string {
	if t.Cuts() {
		return []string{text}
	}
	return t.Units(text)
}

// tableItems returns a table, or pieces of a large one with its head repeated.
func (c *cutter) tableItems(b *block.Block) (out []chunk.Item) {
	s := chunk.Structure{Count: c.count, Size: c.Size}
	for _, piece := range s.Blocks([]block.Block{*b}) {
		out = append(out, chunk.Item{Text: piece.Repeated + piece.Text, Type: chunk.Table, Positions: b.Positions})
	}
	return out
}

// sheetOf returns the name of the sheet that a table is, unless it is a name that programs give.
func sheetOf(b *block.Block) string {
	if len(b.Path) == 0 || strings.Contains(strings.ToLower(b.Path[len(b.Path)-1]), "sheet") {
		return ""
	}
	return b.Path[len(b.Path)-1]
}

// rowLines returns the rows of a table as lines "column：value; ... ——sheet".
func rowLines(b *block.Block, sheet string) (out []string) {
	if len(b.Rows) == 0 {
		return nil
	}
	names := b.Rows[0]
	for _, row := range b.Rows[1:] {
		var cells []string
		for i, value := range row {
			switch {
			case strings.TrimSpace(value) == "":
			case i < len(names) && names[i] != "":
				cells = append(cells, names[i]+"："+block.Line(value))
			default:
				cells = append(cells, block.Line(value))
			}
		}
		line := strings.Join(cells, "; ")
		if sheet != "" && line != "" {
			line += " ——" + sheet
		}
		if line != "" {
			out = append(out, line)
		}
	}
	if len(b.Rows) == 1 {
		out = append(out, strings.Join(names, "; "))
	}
	return out
}

// one makes a single chunk.
func (c *cutter) one(doc *Document) ([]chunk.Chunk, error) {
	return []chunk.Chunk{whole(doc.Blocks)}, nil
}

// whole returns blocks as one chunk.
func whole(list []block.Block) chunk.Chunk {
	out := chunk.Chunk{Type: chunk.Text}
	texts := make([]string, 0, len(list))
	for i := range list {
		if text := list[i].Markdown(); text != "" {
			texts = append(texts, text)
		}
		out.Positions = append(out.Positions, list[i].Positions...)
	}
	out.Text = strings.Join(texts, "\n\n")
	return out
}

// presentation makes a chunk of each page, or of each section of the highest level where there are
// no pages.
func (c *cutter) presentation(doc *Document) (out []chunk.Chunk, err error) {
	begins := func(i int) bool {
		b, before := &doc.Blocks[i], &doc.Blocks[i-1]
		if b.Page() > 0 || before.Page() > 0 {
			return b.Page() != before.Page()
		}
		return b.Kind == block.Heading && len(b.Path) == 0
	}
	for start := 0; start < len(doc.Blocks); {
		end := start + 1
		for end < len(doc.Blocks) && !begins(end) {
			end++
		}
		out = append(out, whole(doc.Blocks[start:end]))
		start = end
	}
	return out, nil
}
