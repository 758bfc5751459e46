package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// longestFileName bounds the name of a document, in bytes.
const longestFileName = 255

// nameTooLong refuses the name of a document.
func nameTooLong() error {
	return api.Failed(api.KindBadArgument, "File name must be %d bytes or less.", longestFileName)
}

var errNameTaken = failed("Duplicated document name in the same dataset.")

// documentMethods are the chunk methods that a document may have.
var documentMethods = append(slices.Clone(methods), "knowledge_graph")

func (f documentHandlers) update(ctx context.Context, r *api.Request) (api.Response, error) {
	id, doc := r.Params["dataset"], r.Params["document"]
	if _, err := f.dataset(ctx, r, id, f.say("You don't own the dataset.")); err != nil {
		return nil, err
	}
	old, err := f.document(ctx, r, id, doc, f.say("The dataset doesn't own the document."))
	if err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	patch, err := f.patch(ctx, r, old, r.Body.Value)
	if err != nil {
		return nil, err
	}
	v, err := f.change(ctx, r, old, patch)
	if err != nil {
		return nil, err
	}
	return envelope.Result(documentRow(v)), nil
}

// change writes a patch over a document. Another method makes its chunks void at once.
func (f documentHandlers) change(
	ctx context.Context, r *api.Request, old dataset.Document, p app.DocumentPatch,
) (dataset.Document, error) {
	if err := checkPipelineOf(ctx, f.face, r, old.Pipeline, p.Pipeline); err != nil {
		return old, err
	}
	v, err := f.data.UpdateDocument(ctx, r.Who, old.Dataset, old.ID, p)
	if errors.Is(err, app.ErrExists) {
		err = errNameTaken
	}
	return v, err
}

// patch reads what a request changes of a document.
func (f documentHandlers) patch(
	ctx context.Context, r *api.Request, old dataset.Document, body engine.Value,
) (p app.DocumentPatch, err error) {
	if err := f.checkDocument(body); err != nil {
		return p, err
	}
	if err := f.checkCounts(old, body); err != nil {
		return p, err
	}
	if meta, ok := body.Lookup("meta_fields"); ok {
		if p.Meta, err = metaPatch(meta); err != nil {
			return p, err
		}
	}
	if name, ok := body.Lookup("name"); ok {
		if p.Name, err = f.newName(old, name); err != nil {
			return p, err
		}
	}
	if method, ok := body.Lookup("chunk_method"); ok {
		if p.Method, err = f.newMethod(old, method); err != nil {
			return p, err
		}
	}
	sent := body.Get("parser_config")
	if sent.Kind() != engine.KindObject && !sent.IsNull() {
		return p, failed("parser_config must be an object")
	}
	if p.Config, err = f.newConfig(ctx, r, sent, p.Method, old.Method, old.Config); err != nil {
		return p, err
	}
	if on, ok := body.Lookup("enabled"); ok {
		enabled := on.Truthy()
		p.Enabled = &enabled
	}
	if pipeline, ok := body.Lookup("pipeline_id"); ok && f.setsPipelines() {
		text := pipeline.Str()
		p.Pipeline = &text
	}
	return p, nil
}

// checkCounts refuses to change what is counted. It may be sent as it is.
func (f documentHandlers) checkCounts(old dataset.Document, body engine.Value) error {
	for _, one := range []struct {
		name string
		now  float64
	}{{"chunk_count", float64(old.Chunks)}, {"token_count", float64(old.Tokens)}, {"progress", old.Progress}} {
		sent, ok := body.Lookup(one.name)
		if n, isNumber := sent.Float(); ok && !sent.IsNull() && (!isNumber || n != one.now) {
			return f.say("Can't change `" + one.name + "`.")
		}
	}
	return nil
}

// metaPatch is the metadata of a request, which replaces all.
func metaPatch(v engine.Value) (*map[string]any, error) {
	var meta map[string]any
	if v.Kind() != engine.KindObject || json.Unmarshal(v.AppendJSON(nil), &meta) != nil {
		return nil, failed("meta_fields must be a dictionary")
	}
	return &meta, nil
}

// newName is the name of a request; nil when it is the old one.
func (f documentHandlers) newName(old dataset.Document, v engine.Value) (*string, error) {
	name := v.Str()
	switch {
	case v.Kind() != engine.KindString:
		kind := schema.TypeName(v)
		return nil, api.Failed(api.KindBadRequest, `AttributeError("'%s' object has no attribute 'encode'")`, kind)
	case name == old.Name:
		return nil, nil
	case len(name) > longestFileName:
		return nil, nameTooLong()
	case suffix(name) != suffix(old.Name):
		return nil, api.Failed(api.KindBadArgument, "The extension of file can't be changed")
	}
	return &name, nil
}

// newMethod is the chunk method of a request.
func (f documentHandlers) newMethod(old dataset.Document, v engine.Value) (*string, error) {
	method := v.Str()
	if v.Kind() != engine.KindString || !slices.Contains(documentMethods, method) {
		return nil, failed("`chunk_method` %.80s doesn't exist", text(v))
	}
	if method != old.Method && (old.Kind == "visual" || old.Method == "presentation" && isSlides(old.Name)) {
		return nil, f.refusals().fixedMethod
	}
	return &method, nil
}

// text is a value as Python prints it.
func text(v engine.Value) string {
	if v.Kind() == engine.KindString {
		return v.Str()
	}
	return schema.Repr(v)
}

// isSlides reports whether a document is a presentation by its name.
func isSlides(name string) bool {
	return slices.Contains([]string{"ppt", "pptx", "pages"}, suffix(name))
}
