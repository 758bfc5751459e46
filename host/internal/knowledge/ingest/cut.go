package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/pipeline"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Input is a document to be cut.
type Input struct {
	Tenant string
	Source document.Source
	Method string
	Config json.RawMessage // of the method
	// Pipeline is the canvas that takes the place of a method, and PipelineBy the member who chose
	// it; "" is none.
	Pipeline, PipelineBy string
	// Rerun, unless nil, is where the pipeline starts.
	Rerun *dataset.Rerun
	// Report takes lines about the progress.
	Report func(line string)
	// Ran takes the pipeline after its run, also after one that failed. Only pipelines need it.
	Ran func(dataset.Ran)
}

// Piece is a chunk of a document before it has an id and a vector.
type Piece struct {
	Content string
	// Text is embedded and searched instead of Content, unless it is empty.
	Text      string
	Keywords  []string
	Questions []string
	Tags      []string
	Kind      string // text, table or image
	Image     string
	Positions [][]float64
	Parent    string
	Hidden    bool // not found by searches
	Tokens    int
	// Meta is added to the metadata of the document.
	Meta map[string]any
}

// Chunk returns the piece with an id and the time of its creation, without a vector.
func (p *Piece) Chunk(id string, created int64) chunkfile.Chunk {
	return chunkfile.Chunk{
		ID: id, Content: p.Content, Text: p.Text, Keywords: p.Keywords, Questions: p.Questions, Tags: p.Tags,
		Image: p.Image, Kind: p.Kind, Positions: p.Positions, Parent: p.Parent, Hidden: p.Hidden, Tokens: p.Tokens,
		Created: created,
	}
}

// Cutter turns a document into pieces. The pieces are read once; an error ends them.
type Cutter interface {
	Cut(ctx context.Context, in Input) iter.Seq2[Piece, error]
}

// Thumbnailer is an optional interface of a Cutter.
type Thumbnailer interface {
	// Thumbnail returns a small picture of a document as JPEG.
	Thumbnail(ctx context.Context, s document.Source) ([]byte, error)
}

// thumbnailSize is the width and the height that no thumbnail exceeds, in pixels. Records of
// documents have them.
const thumbnailSize = 64

// Thumbnail implements [Thumbnailer].
func (c DocumentCutter) Thumbnail(ctx context.Context, s document.Source) ([]byte, error) {
	return c.Reader.Thumbnail(ctx, s, thumbnailSize)
}

// DocumentCutter cuts the blocks of documents, as a [document.Reader] finds them, by the methods of
// package chunking, or has a pipeline do it.
type DocumentCutter struct {
	Reader *document.Reader
	// Pipeline runs a pipeline of a tenant on a document; nil means that pipelines are not
	// supported.
	Pipeline func(ctx context.Context, in Input) (*pipeline.Result, error)
}

// Cut implements [Cutter].
func (c DocumentCutter) Cut(ctx context.Context, in Input) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		in.Report("Start to parse.")
		pieces, release, err := c.pieces(ctx, in)
		if err != nil {
			yield(Piece{}, err)
			return
		}
		defer release()
		in.Report("Finish parsing.")
		for p, err := range pieces {
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// pieces returns all pieces of a document; release frees the memory that they take.
func (c DocumentCutter) pieces(ctx context.Context, in Input) (_ iter.Seq2[Piece, error], release func(), err error) {
	if in.Pipeline != "" || in.Rerun != nil {
		if c.Pipeline == nil {
			return nil, nil, fmt.Errorf("pipeline %q: this host parses by methods only", in.Pipeline)
		}
		r, err := c.Pipeline(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		pieces, err := ofPipeline(r)
		return pieces, func() {}, err
	}
	if !slices.Contains(chunking.Methods(), cmp.Or(in.Method, chunking.Structure)) {
		return nil, nil, fmt.Errorf("%w %q (one of %s)", chunking.ErrMethod, in.Method,
			strings.Join(chunking.Methods(), ", "))
	}
	blocks, err := c.Reader.Blocks(ctx, in.Source)
	if err != nil {
		return nil, nil, err
	}
	// The blocks are held with the chunks, which share their text.
	size := sizeOf(blocks)
	if release, err = c.Reader.Reserve(ctx, 2*size); err != nil {
		return nil, nil, err
	}
	chunks, err := chunking.Cut(ctx, in.Method, in.Config, chunking.Document{Name: in.Source.Name, Blocks: blocks})
	if err != nil {
		release()
		return nil, nil, err
	}
	return ofChunks(chunks, max(leastBound, growth*size)), release, nil
}

// Chunks repeat headings and the heads of tables. Those of a document may together have growth
// times its text, or leastBound bytes.
const (
	growth     = 16
	leastBound = 16 << 20
)

// ofChunks makes the pieces of chunks one at a time. It fails when they have more than most bytes.
func ofChunks(chunks []chunking.Chunk, most int64) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		left := most
		for i := range chunks {
			p := pieceOf(&chunks[i])
			if left -= int64(len(p.Content) + len(p.Text)); left < 0 {
				yield(Piece{}, fmt.Errorf("%w: its chunks have more than %d bytes", document.ErrLimit, most))
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// sizeOf estimates the bytes that the texts of blocks take.
func sizeOf(blocks []block.Block) (n int64) {
	for i := range blocks {
		n += int64(len(blocks[i].Text))
		for _, row := range blocks[i].Rows {
			for _, cell := range row {
				n += int64(len(cell))
			}
		}
	}
	return n
}

func pieceOf(c *chunking.Chunk) Piece {
	p := Piece{Content: c.Text, Kind: c.Type, Image: c.ImageID, Parent: c.Parent, Tags: c.Tags, Tokens: c.Tokens}
	if text := c.Embedded(); text != c.Text {
		p.Text = text
	}
	for _, at := range c.Positions {
		p.Positions = append(p.Positions, []float64{float64(at.Page), at.Left, at.Right, at.Top, at.Bottom})
	}
	return p
}

// ofPipeline returns the chunks of a pipeline as pieces. Vectors come from the dataset's model.
func ofPipeline(r *pipeline.Result) (iter.Seq2[Piece, error], error) {
	var meta map[string]any
	if err := json.Unmarshal([]byte(r.Metadata.JSON()), &meta); err != nil {
		return nil, fmt.Errorf("metadata of a pipeline: %w", err)
	}
	return func(yield func(Piece, error) bool) {
		for i := range r.Chunks {
			c := &r.Chunks[i]
			p := Piece{
				Content: c.Text, Text: c.Summary, Keywords: c.Keywords, Questions: c.Questions, Kind: c.Kind,
				Image: c.Image, Parent: c.Parent, Hidden: c.Hidden, Tokens: chunking.Count(c.Text),
			}
			for _, at := range c.Positions {
				p.Positions = append(p.Positions, at[:])
			}
			if i == 0 && len(meta) > 0 {
				p.Meta = meta
			}
			if !yield(p, nil) {
				return
			}
		}
	}, nil
}
