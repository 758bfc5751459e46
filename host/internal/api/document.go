package api

import (
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Document returns the document of a request that saves one, as bytes; nil if the request has none.
// One without nodes is refused: no editor makes it, and nothing could run it.
func (r *Request) Document() ([]byte, error) {
	text, doc, err := r.SentDocument()
	if err == nil && text != nil && !hasNodes(doc) {
		f := Refused(KindBadArgument, `dsl has neither components nor a graph with nodes: a canvas needs at least the node "begin", a pipeline "File"`)
		f.Param = "dsl"
		return nil, f
	}
	return text, err
}

// hasNodes reports whether a document has components, or a drawing of them that its editor has not
// turned into components yet.
func hasNodes(doc engine.Value) bool {
	filled := func(v engine.Value, kind engine.Kind) bool { return v.Kind() == kind && v.Len() > 0 }
	return filled(doc.Get("components"), engine.KindObject) ||
		filled(doc.Get("graph").Get("nodes"), engine.KindList) || filled(doc.Get("nodes"), engine.KindList)
}

// SentDocument is the document of a request, an object or JSON text. What it takes to check and to
// store it is reserved.
func (r *Request) SentDocument() (text []byte, doc engine.Value, err error) {
	if r.Body.Length > app.LargeDocument {
		if err := r.Reserve(3*int64(r.Body.Length) + r.memory.decoded); err != nil {
			return nil, engine.Null, err
		}
	}
	switch v := r.Body.Get("dsl"); v.Kind() {
	case engine.KindNull:
		return nil, engine.Null, nil
	case engine.KindObject:
		return v.AppendJSON(make([]byte, 0, r.Body.Length)), v, nil
	case engine.KindString:
		doc, err := r.Parse(v.Str())
		if f := (*Failure)(nil); errors.As(err, &f) {
			return nil, engine.Null, err
		}
		if err != nil || doc.Kind() != engine.KindObject {
			return nil, engine.Null, Refused(KindBadArgument, "dsl is not a JSON object")
		}
		return []byte(v.Str()), doc, nil
	default:
		return nil, engine.Null, Refused(KindBadArgument, "argument dsl must be an object, not %s", KindName(v.Kind()))
	}
}

// CanvasPatch reads the members of a canvas that a request changes, apart from the document.
// Publish is its member release, which not every dialect knows.
func (b *Body) CanvasPatch() app.CanvasPatch {
	text := func(name string) *string {
		if b.Get(name).IsNull() {
			return nil
		}
		t := b.Text(name)
		return &t
	}
	return app.CanvasPatch{
		Title: text("title"), Description: text("description"), Avatar: text("avatar"), Type: text("canvas_type"),
		Category: text("canvas_category"), Permission: text("permission"), Project: text("project"),
		Publish: b.Flag("release", false),
	}
}
