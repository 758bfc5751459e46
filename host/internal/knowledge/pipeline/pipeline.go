// Package pipeline runs an ingestion pipeline, a canvas that starts at File, on one document and
// returns its chunks.
//
// A pipeline runs in the engine like any other canvas, with the ports that it is given: Parser
// reads the document, Counter counts tokens, Model answers Extractors, Embedder makes vectors.
// [Run] returns the chunks of the last node in the form that a dataset stores, whatever that node
// outputs.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// ErrNoPipeline means that the canvas is not a pipeline; choose one that starts at File.
var ErrNoPipeline = errors.New("the canvas is not an ingestion pipeline: it does not start at File")

// Chunk is a chunk of a document.
type Chunk struct {
	Text      string
	Kind      string // text, table or image; "" is text
	Parent    string // the piece that this is a part of; "" for none
	Image     string
	Keywords  []string
	Questions []string
	Summary   string       // searched instead of the text; "" is the text
	Hidden    bool         // not found by searches, such as a table of contents
	Positions [][5]float64 // page, left, right, top, bottom in points
	Vector    []float32    // nil if the pipeline did not embed
	Extra     engine.Value // fields that the pipeline added under other names; an object
}

// Result is the result of a pipeline for a document.
type Result struct {
	Chunks   []Chunk
	Metadata engine.Value // object: the metadata of all chunks, merged into that of the document
	Tokens   int64        // that were embedded
	Outputs  engine.Value // of the last node
	State    *engine.State
}

// Options are settings of a run.
type Options struct {
	engine.Options
	// From is a node to begin at, with the outputs that State holds of those before; "" is File.
	From  string
	State *engine.State             // of an earlier run; nil is a new one
	Watch func(event *engine.Event) // receives each event, valid until it returns; may be nil
}

// Run runs a pipeline on a document. file is its upload descriptor, {id, name, ...}, which the
// Parser port understands.
//
// Errors: [ErrNoPipeline], those of the engine, of which a *engine.NodeError names the node.
func Run(ctx context.Context, canvas *engine.Canvas, file engine.Value, opt Options) (*Result, error) {
	if !canvas.IsPipeline() {
		return nil, ErrNoPipeline
	}
	r := &Result{State: opt.State}
	if r.State == nil {
		r.State = canvas.State()
	}
	options := opt.Options
	options.From = opt.From
	finished := false
	for e, err := range canvas.Run(ctx, r.State, engine.Input{Files: engine.List(file)}, options) {
		if err != nil {
			return nil, fmt.Errorf("pipeline: %w", err)
		}
		if e.Type == engine.EventWorkflowFinished {
			finished, r.Outputs = true, e.Clone().Data().Get("outputs")
		}
		if opt.Watch != nil {
			opt.Watch(e)
		}
	}
	if !finished {
		return nil, errors.New("pipeline: the run did not finish")
	}
	return r, r.read()
}

// read takes the chunks out of the outputs of the last node. A text is one chunk.
func (r *Result) read() error {
	r.Metadata = engine.Object()
	r.Tokens, _ = r.Outputs.Get("embedding_token_consumption").Int()
	format := r.Outputs.Get("output_format").Str()
	switch format {
	case "chunks", "json":
		for _, v := range r.Outputs.Get(format).Elements() {
			if c := r.chunk(v); strings.TrimSpace(c.Text) != "" {
				r.Chunks = append(r.Chunks, c)
			}
		}
	case "markdown", "text", "html":
		if text := r.Outputs.Get(format).Text(); strings.TrimSpace(text) != "" {
			r.Chunks = []Chunk{{Text: text, Extra: engine.Object()}}
		}
	default:
		return fmt.Errorf("pipeline: the last node gives no document: its output_format is %q", format)
	}
	return nil
}

// known are the fields of chunks that have a place in [Chunk], or that are derived from others.
var known = map[string]bool{
	"text": true, "content_with_weight": true, "doc_type_kwd": true, "mom": true, "img_id": true, "keywords": true,
	"questions": true, "summary": true, "metadata": true, "positions": true, "position_int": true,
	"page_num_int": true, "top_int": true, "available_int": true, "chunk_order_int": true, "layout_type": true,
}

var vectorName = regexp.MustCompile(`^q_[0-9]+_vec$`)

func (r *Result) chunk(v engine.Value) Chunk {
	text := v.Get("text")
	if text.IsNull() {
		text = v.Get("content_with_weight")
	}
	c := Chunk{
		Text: text.Text(), Kind: v.Get("doc_type_kwd").Text(), Parent: v.Get("mom").Text(),
		Image:    v.Get("img_id").Text(),
		Keywords: divided(v.Get("keywords"), ",，、;；\n"), Questions: divided(v.Get("questions"), "\n"),
		Summary: v.Get("summary").Text(), Hidden: v.Get("available_int").Text() == "0",
	}
	for _, p := range v.Get("positions").Elements() {
		var at [5]float64
		for i := range at {
			at[i], _ = p.At(i).Float() // what is missing is 0
		}
		c.Positions = append(c.Positions, at)
	}
	for name, value := range v.Get("metadata").Fields() {
		r.Metadata = r.Metadata.With(name, value)
	}
	extra := engine.NewObject(0)
	for name, value := range v.Fields() {
		switch {
		case vectorName.MatchString(name):
			c.Vector = vector(value)
		case !known[name]:
			extra.Set(name, value)
		}
	}
	c.Extra = extra.Value()
	return c
}

// failedAnswer marks an answer in which a model reports an error.
const failedAnswer = "**ERROR**"

// divided returns a list, or a text divided at any of some characters.
func divided(v engine.Value, marks string) (out []string) {
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	if v.Kind() == engine.KindList {
		for _, e := range v.Elements() {
			add(e.Text())
		}
		return out
	}
	text := v.Text()
	if strings.Contains(text, failedAnswer) {
		return nil
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(marks, r) }) {
		add(part)
	}
	return out
}

func vector(v engine.Value) []float32 {
	out := make([]float32, 0, v.Len())
	for _, e := range v.Elements() {
		f, _ := e.Float() // the engine writes numbers only
		out = append(out, float32(f))
	}
	return out
}

// Embedded returns the text that is embedded and searched: the questions, or else the summary, or
// else the text.
func (c *Chunk) Embedded() string {
	switch {
	case len(c.Questions) > 0:
		return strings.Join(c.Questions, "\n")
	case c.Summary != "":
		return c.Summary
	}
	return c.Text
}
