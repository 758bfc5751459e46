package component

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/chunk"
)

// Formats of the output of a pipeline step; the payload is the output of the same name.
const (
	formatJSON     = "json"     // list of {text, doc_type_kwd, layout_type, img_id, positions}
	formatMarkdown = "markdown" // text
	formatText     = "text"
	formatHTML     = "html"
	formatChunks   = "chunks" // list of {text, doc_type_kwd, mom, img_id, positions, ...}
)

// payload is the data that a pipeline step passes to the next one.
type payload struct {
	name   string // of the file
	format string
	text   string       // of markdown, text and html
	items  engine.Value // of json and chunks
}

// errNoPayload means that the previous node has no readable output.
var errNoPayload = errors.New("the previous node has no document as output: connect a Parser or a chunker")

// previousPayload returns the output of the previous node.
func previousPayload(call *engine.Call) (payload, error) {
	node, outs := call.Previous()
	p := payload{name: outs.Get("name").Str(), format: outs.Get("output_format").Str()}
	if p.format == "" {
		for _, format := range [...]string{formatChunks, formatJSON, formatMarkdown, formatText, formatHTML} {
			if outs.Get(format).Truthy() {
				p.format = format
				break
			}
		}
	}
	switch p.format {
	case formatMarkdown, formatText, formatHTML:
		p.text = outs.Get(p.format).Text()
	case formatJSON, formatChunks:
		if p.items = outs.Get(p.format); p.items.Kind() != engine.KindList {
			return p, fmt.Errorf("node %s: output %s is a %s; expected a list", node, p.format, p.items.Kind())
		}
	case "":
		return p, errNoPayload
	default:
		return p, fmt.Errorf("node %s: unknown output_format %q (one of json, markdown, text, html, chunks)", node,
			p.format)
	}
	return p, nil
}

// isText reports whether the payload is one text.
func (p *payload) isText() bool { return p.items.Kind() != engine.KindList }

// chunks returns the payload as a list of chunks: a text is one.
func (p *payload) chunks() []engine.Value {
	if p.isText() {
		return []engine.Value{engine.Object("text", p.text)}
	}
	var out []engine.Value
	for _, c := range p.items.Elements() {
		if c.Kind() == engine.KindObject { // empty entries are dropped
			out = append(out, c)
		}
	}
	return out
}

// chunkItems reads the payload of a chunker, which is a list.
func (p *payload) chunkItems() []chunk.Item {
	items := make([]chunk.Item, 0, p.items.Len())
	for _, v := range p.items.Elements() {
		text, ok := v.Lookup("text")
		if !ok || text.IsNull() {
			text = v.Get("content_with_weight")
		}
		it := chunk.Item{
			Text: text.Text(), Type: v.Get("doc_type_kwd").Text(), ImageID: v.Get("img_id").Text(),
			Layout: v.Get("layout_type").Text(),
		}
		if no := v.Get("layoutno"); !no.IsNull() {
			it.Layout += " " + no.Text()
		}
		for _, at := range v.Get("positions").Elements() {
			if position, ok := positionOf(at); ok {
				it.Positions = append(it.Positions, position)
			}
		}
		items = append(items, it)
	}
	return items
}

// positionOf reads [page, left, right, top, bottom].
func positionOf(v engine.Value) (chunk.Position, bool) {
	var n [5]float64
	if v.Len() != len(n) {
		return chunk.Position{}, false
	}
	for i := range n {
		f, ok := v.At(i).Float()
		if !ok {
			return chunk.Position{}, false
		}
		n[i] = f
	}
	return chunk.Position{Page: int(n[0]), Left: n[1], Right: n[2], Top: n[3], Bottom: n[4]}, true
}

// outChunks sets the outputs of a step with chunks.
func outChunks(call *engine.Call, name string, chunks []engine.Value) {
	call.Out("name", engine.String(name))
	call.Out("output_format", engine.String(formatChunks))
	call.Out(formatChunks, engine.List(chunks...))
	progress(call, 1, fmt.Sprintf("%d chunks", len(chunks)))
}

// progress reports the share of a step that is done, from 0 to 1.
func progress(call *engine.Call, share float64, message string) {
	call.Log(engine.EventProgress, engine.Object("component_id", call.NodeID(), "progress", share, "message", message,
		"timestamp", float64(call.Now().UnixMilli())/1000))
}

// chunkValues encodes chunks for the wire.
func chunkValues(chunks []chunk.Chunk) []engine.Value {
	out := make([]engine.Value, len(chunks))
	for i := range chunks {
		c := &chunks[i]
		b := engine.NewObject(8)
		b.Set("text", engine.String(c.Text))
		for _, f := range [...]struct{ name, value string }{
			{"doc_type_kwd", c.Type}, {"mom", c.Parent}, {"img_id", c.ImageID},
		} {
			if f.value != "" {
				b.Set(f.name, engine.String(f.value))
			}
		}
		if len(c.Positions) > 0 {
			setPositions(b, c.Positions)
		}
		out[i] = b.Value()
	}
	return out
}

// setPositions sets positions in the form of the original's clients, in whole points, and in that
// of the next chunker.
func setPositions(b *engine.ObjectBuilder, list []chunk.Position) {
	var positions, rounded, pages, tops []engine.Value
	for _, p := range list {
		positions = append(positions, positionValue(p))
		rounded = append(rounded, engine.List(engine.Int(int64(p.Page)), engine.Int(int64(p.Left)),
			engine.Int(int64(p.Right)), engine.Int(int64(p.Top)), engine.Int(int64(p.Bottom))))
		pages = append(pages, engine.Int(int64(p.Page)))
		tops = append(tops, engine.Int(int64(p.Top)))
	}
	b.Set("positions", engine.List(positions...)).Set("position_int", engine.List(rounded...)).
		Set("page_num_int", engine.List(pages...)).Set("top_int", engine.List(tops...))
}

func positionValue(p chunk.Position) engine.Value {
	return engine.List(engine.Int(int64(p.Page)), engine.Float(p.Left), engine.Float(p.Right), engine.Float(p.Top),
		engine.Float(p.Bottom))
}

// counter counts the tokens of chunks.
func counter(call *engine.Call) chunk.Counter {
	if port := call.Ports().Counter; port != nil {
		return port.CountTokens
	}
	return engine.Tokens
}

// File is the start of a pipeline: the uploaded document.
type File struct{}

// Run passes the descriptor of the document to the next node.
func (*File) Run(_ context.Context, call *engine.Call) error {
	files := call.Global("sys.files")
	if files.Len() != 1 {
		return fmt.Errorf("a pipeline runs on one file, not %d", files.Len())
	}
	call.Out("name", files.At(0).Get("name"))
	call.Out("file", files.At(0))
	return nil
}

// Compiler passes chunks on unchanged. In later versions of the original a model writes pages from
// chunks by templates, which are not available here.
type Compiler struct {
	engine.Common
	Sampling
	Template engine.Value `json:"compilation_template_group_id" label:"Templates" doc:"group of templates; not available here" widget:"json" hidden:"true"`
	Plan     engine.Value `json:"plan" label:"Plan" doc:"plan of the compilation; not available here" widget:"json" hidden:"true"`
}

// Warnings reports that templates have no effect.
func (c *Compiler) Warnings() []engine.Diagnostic {
	if !c.Template.Truthy() {
		return nil
	}
	return []engine.Diagnostic{{
		Code: engine.CodeBadParam, Param: "compilation_template_group_id",
		Message: "compilation templates are not available; the chunks are passed on unchanged",
	}}
}

// Run passes on the chunks of the previous node.
func (c *Compiler) Run(_ context.Context, call *engine.Call) error {
	p, err := previousPayload(call)
	if err != nil {
		return err
	}
	if c.Template.Truthy() {
		call.Log(engine.EventWarning, engine.Object("text", call.NodeID()+": compilation templates are not available"))
	}
	outChunks(call, p.name, p.chunks())
	return nil
}

// chunksOutput describes the outputs of steps with chunks.
var chunksOutput = []engine.Field{
	{Name: "name", Type: "string", Doc: "name of the file"},
	{Name: "output_format", Type: "string", Doc: "chunks"},
	{Name: "chunks", Type: "list", Doc: "chunks: {text, doc_type_kwd, mom, img_id, positions, ...}"},
}

// pipelineSpecs lists the components of pipelines.
func pipelineSpecs() []engine.Spec {
	list := []engine.Spec{
		{
			Name:  "File",
			Title: "File", Search: []string{"upload", "sample", "上传"},
			Icon: "open", Role: engine.RoleStart, New: func() engine.Component { return &File{} },
			Doc: "The start of a pipeline: an uploaded document.",
			Outputs: []engine.Field{
				{Name: "name", Type: "string", Doc: "name of the file"},
				{Name: "file", Type: "object", Doc: "descriptor of the upload"},
			},
		},
		parserSpec, tokenChunkerSpec, titleChunkerSpec, extractorSpec, tokenizerSpec,
		{
			Name:  "Compiler",
			Title: "Pass through",
			New:   func() engine.Component { return &Compiler{} }, Outputs: chunksOutput,
			Doc: "Passes chunks on unchanged; templates are not available.",
		},
	}
	for i := range list {
		s := &list[i]
		s.Category, s.Pipeline, s.Renamed = engine.CategoryPipeline, true, true
		if s.Icon == "" {
			s.Icon = "box"
		}
	}
	return list
}
