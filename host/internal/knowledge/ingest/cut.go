package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/chunk"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
)

// Input is a document to be cut.
type Input struct {
	Tenant string
	Source document.Source
	Method string
	Config json.RawMessage // of the method
	// Pipeline is the canvas that takes the place of a method; "" is none.
	Pipeline string
	// Report takes lines about the progress.
	Report func(line string)
}

// Piece is a chunk of a document before it has an id and a vector.
type Piece struct {
	Content string
	// Text is embedded and searched in place of Content, unless it is empty.
	Text      string
	Keywords  []string
	Questions []string
	Tags      []string
	Kind      string // text, table or image
	Image     string
	Positions [][]float64
	Parent    string
	Tokens    int
	// Meta is added to the metadata of the document.
	Meta map[string]any
}

// Cutter turns a document into pieces. The pieces are read once; an error ends them.
type Cutter interface {
	Cut(ctx context.Context, in Input) iter.Seq2[Piece, error]
}

// TextCutter cuts the text of documents, as a [document.Reader] gives it.
type TextCutter struct{ Reader *document.Reader }

// Methods of a TextCutter.
const (
	Structure = "structure" // at headings, paragraphs and tables
	Naive     = "naive"     // at delimiters
	One       = "one"       // a document is one chunk
)

// Methods are the ways to cut that a TextCutter has.
func Methods() []string { return []string{Structure, Naive, One, "book", "laws", "manual"} }

// settings are the keys of a method's settings that a TextCutter knows.
type settings struct {
	Size      int    `json:"chunk_token_num"`
	Delimiter string `json:"delimiter"`
}

const defaultSize = 512

// Cut implements [Cutter].
func (c TextCutter) Cut(ctx context.Context, in Input) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		cutText, err := cutterOf(in)
		if err != nil {
			yield(Piece{}, err)
			return
		}
		in.Report("Start to parse.")
		text, err := c.Reader.Read(ctx, in.Source)
		if err != nil {
			yield(Piece{}, err)
			return
		}
		in.Report("Finish parsing.")
		// The text is held with its chunks, which share it.
		release, err := c.Reader.Reserve(ctx, 2*int64(len(text)))
		if err != nil {
			yield(Piece{}, err)
			return
		}
		defer release()
		chunks, err := cutText(text)
		if err != nil {
			yield(Piece{}, err)
			return
		}
		for i := range chunks {
			if strings.TrimSpace(chunks[i].Text) != "" && !yield(pieceOf(&chunks[i]), nil) {
				return
			}
		}
	}
}

// cutterOf is the function that cuts a text as the settings of a document say.
func cutterOf(in Input) (func(text string) ([]chunk.Chunk, error), error) {
	s := settings{Size: defaultSize, Delimiter: "\n"}
	if len(in.Config) > 0 {
		if err := json.Unmarshal(in.Config, &s); err != nil {
			return nil, fmt.Errorf("settings of the method: %w", err)
		}
	}
	if s.Size <= 0 {
		s.Size = defaultSize
	}
	plain := func(cut func(string) []chunk.Chunk) func(string) ([]chunk.Chunk, error) {
		return func(text string) ([]chunk.Chunk, error) { return cut(text), nil }
	}
	switch {
	case in.Pipeline != "":
		return nil, fmt.Errorf("pipeline %q: this host parses by methods only", in.Pipeline)
	case in.Method == Structure || in.Method == "":
		return plain((&chunk.Structure{Count: chunking.Count, Size: s.Size}).Text), nil
	case in.Method == Naive:
		delimiter := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(s.Delimiter)
		return plain(chunk.Naive(chunking.Count, s.Size, delimiter).Text), nil
	case in.Method == One:
		return plain((&chunk.Tokens{Count: chunking.Count, Whole: true}).Text), nil
	case slices.Contains(Methods(), in.Method):
		titles, err := chunk.ByMethod(in.Method, chunking.Count, s.Size)
		if err != nil {
			return nil, err
		}
		return func(text string) ([]chunk.Chunk, error) { return titles.Text(text, false) }, nil
	}
	return nil, fmt.Errorf("method %q is not available (one of %s)", in.Method, strings.Join(Methods(), ", "))
}

func pieceOf(c *chunk.Chunk) Piece {
	p := Piece{Content: c.Text, Kind: c.Type, Image: c.ImageID, Parent: c.Parent, Tokens: chunking.Count(c.Text)}
	if text := c.Embedded(); text != c.Text {
		p.Text = text
	}
	for _, at := range c.Positions {
		p.Positions = append(p.Positions, []float64{float64(at.Page), at.Left, at.Right, at.Top, at.Bottom})
	}
	return p
}
