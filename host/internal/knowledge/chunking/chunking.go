// Package chunking runs the chunkers of engine/chunk with the params of pipeline nodes, and counts
// tokens as the models of OpenAI do.
package chunking

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine/chunk"
)

// Case is a recorded case of a chunker.
type Case struct {
	ID        string          `json:"id"`
	Component string          `json:"component"` // TokenChunker or TitleChunker, or their older names
	Param     json.RawMessage `json:"param"`
	Input     Input           `json:"input"`
}

// Input is what the node before a chunker gives.
type Input struct {
	Format   string `json:"output_format"` // text, markdown, html, json or chunks
	Text     string `json:"text"`
	Markdown string `json:"markdown"`
	HTML     string `json:"html"`
	JSON     []item `json:"json"`
	Chunks   []item `json:"chunks"`
}

// item is a block on the wire.
type item struct {
	Text      *string     `json:"text"`
	Content   string      `json:"content_with_weight"`
	Type      string      `json:"doc_type_kwd"`
	Image     string      `json:"img_id"`
	Layout    string      `json:"layout_type"`
	LayoutNo  any         `json:"layoutno"`
	Positions [][]float64 `json:"positions"`
}

// Output is a chunk on the wire.
type Output struct {
	Text      string   `json:"text"`
	Type      string   `json:"doc_type_kwd,omitempty"`
	Parent    string   `json:"mom,omitempty"`
	Image     string   `json:"img_id,omitempty"`
	Positions [][5]int `json:"position_int,omitempty"`
	Pages     []int    `json:"page_num_int,omitempty"`
	Tops      []int    `json:"top_int,omitempty"`
}

// Result is what a case gives.
type Result struct {
	ID     string   `json:"case_id"`
	Chunks []Output `json:"chunks"`
}

// Play runs a case.
func Play(data []byte) (*Result, error) {
	var c Case
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("chunker case: %w", err)
	}
	if !slices.Contains(formats, c.Input.Format) {
		return nil, fmt.Errorf("chunker case %s: unknown output_format %q (one of %v)", c.ID, c.Input.Format, formats)
	}
	var chunks []chunk.Chunk
	var err error
	switch c.Component {
	case "TokenChunker", "Splitter":
		chunks, err = byTokens(c.Param, &c.Input)
	case "TitleChunker", "HierarchicalMerger":
		chunks, err = byTitles(c.Param, &c.Input)
	default:
		err = fmt.Errorf("unknown component %q (one of TokenChunker, TitleChunker)", c.Component)
	}
	if err != nil {
		return nil, fmt.Errorf("chunker case %s: %w", c.ID, err)
	}
	return &Result{c.ID, outputs(chunks)}, nil
}

var formats = []string{"text", "markdown", "html", "json", "chunks"}

// text is the payload of an input that is a text; items is true for the others.
func (in *Input) text() (text string, items bool) {
	switch in.Format {
	case "text":
		return in.Text, false
	case "markdown":
		return in.Markdown, false
	case "html":
		return in.HTML, false
	}
	return "", true
}

// items is the payload of an input that is a list.
func (in *Input) items() []chunk.Item {
	list := in.JSON
	if in.Format == "chunks" {
		list = in.Chunks
	}
	out := make([]chunk.Item, len(list))
	for i, it := range list {
		out[i] = chunk.Item{Text: it.Content, Type: it.Type, ImageID: it.Image, Layout: it.Layout}
		if it.Text != nil {
			out[i].Text = *it.Text
		}
		if it.LayoutNo != nil {
			out[i].Layout += fmt.Sprint(" ", it.LayoutNo)
		}
		for _, p := range it.Positions {
			if len(p) == 5 {
				out[i].Positions = append(out[i].Positions,
					chunk.Position{Page: int(p[0]), Left: p[1], Right: p[2], Top: p[3], Bottom: p[4]})
			}
		}
	}
	return out
}

// tokenParam are the params of a TokenChunker.
type tokenParam struct {
	Mode         string   `json:"delimiter_mode"`
	Size         int      `json:"chunk_token_size"`
	Delimiters   []string `json:"delimiters"`
	Overlap      float64  `json:"overlapped_percent"`
	Children     []string `json:"children_delimiters"`
	TableContext int      `json:"table_context_size"`
	ImageContext int      `json:"image_context_size"`
}

func byTokens(param json.RawMessage, in *Input) ([]chunk.Chunk, error) {
	p := tokenParam{Mode: "delimiter", Size: 512, Delimiters: []string{"\n"}}
	if err := json.Unmarshal(param, &p); err != nil {
		return nil, fmt.Errorf("param: %w", err)
	}
	switch {
	case p.Mode != "delimiter" && p.Mode != "one":
		return nil, fmt.Errorf("delimiter_mode %q is not one of delimiter, one", p.Mode)
	case p.Size <= 0:
		return nil, fmt.Errorf("chunk_token_size %d is not above 0", p.Size)
	}
	t := chunk.Tokens{
		Count: Count, Size: p.Size, Delimiters: p.Delimiters, Whole: p.Mode == "one",
		Overlap:  chunk.OverlapPercent(p.Overlap),
		Children: p.Children, TableContext: p.TableContext, ImageContext: p.ImageContext,
	}
	if text, items := in.text(); !items {
		return t.Text(text), nil
	}
	return t.Items(in.items()), nil
}

// titleParam are the params of a TitleChunker.
type titleParam struct {
	Method  string     `json:"method"`
	Levels  [][]string `json:"levels"`
	Depth   *int       `json:"hierarchy"`
	Heading bool       `json:"include_heading_content"`
	Root    bool       `json:"root_chunk_as_heading"`
	Limit   int        `json:"chunk_token_cap"`
}

func byTitles(param json.RawMessage, in *Input) ([]chunk.Chunk, error) {
	p := titleParam{Method: "hierarchy", Limit: 512}
	if err := json.Unmarshal(param, &p); err != nil {
		return nil, fmt.Errorf("param: %w", err)
	}
	t := chunk.Titles{
		Count: Count, Group: p.Method == "group", Levels: p.Levels, EachHeading: p.Heading,
		RootAsHeading: p.Root, Limit: p.Limit,
	}
	switch {
	case p.Method != "group" && p.Method != "hierarchy":
		return nil, fmt.Errorf("method %q is not one of hierarchy, group", p.Method)
	case len(p.Levels) == 0:
		return nil, errors.New("levels is empty")
	case p.Depth != nil:
		t.Depth = *p.Depth
	case !t.Group:
		return nil, errors.New("hierarchy is missing")
	}
	if text, items := in.text(); !items {
		return t.Text(text, in.Format == "text")
	}
	return t.Items(in.items())
}

// outputs puts chunks into the form of the wire.
func outputs(chunks []chunk.Chunk) []Output {
	out := make([]Output, len(chunks))
	for i, c := range chunks {
		out[i] = Output{Text: c.Text, Type: c.Type, Parent: c.Parent, Image: c.ImageID}
		for _, p := range c.Positions {
			out[i].Positions = append(out[i].Positions,
				[5]int{p.Page, int(p.Left), int(p.Right), int(p.Top), int(p.Bottom)})
			out[i].Pages = append(out[i].Pages, p.Page)
			out[i].Tops = append(out[i].Tops, int(p.Top))
		}
	}
	return out
}
