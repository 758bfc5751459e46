package datasets

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// chunkHandlers answer about chunks.
type chunkHandlers struct{ *face }

func chunkRoutes(f *face) []api.Route {
	pieces := chunkHandlers{f}
	return []api.Route{
		get(chunks, pieces.list),
		route("POST", chunks, edit, api.BodyCanvas, pieces.add),
		route("DELETE", chunks, edit, api.BodySmall, pieces.remove),
		route("PUT", chunk, edit, api.BodyCanvas, pieces.update),
		route("POST", chunks+"/switch", edit, api.BodySmall, pieces.switchChunks),
	}
}

// chunkRow is a chunk as programs of both dialects read it.
func chunkRow(v dataset.Chunk) *engine.ObjectBuilder {
	b := engine.NewObject(12)
	b.Set("id", engine.String(v.ID)).Set("content", engine.String(v.Content))
	b.Set("document_id", engine.String(v.Document)).Set("docnm_kwd", engine.String(v.Name))
	b.Set("dataset_id", engine.String(v.Dataset)).Set("image_id", engine.String(v.Image))
	b.Set("important_keywords", engine.Strings(v.Keywords...)).Set("questions", engine.Strings(v.Questions...))
	b.Set("available", engine.Bool(!v.Disabled)).Set("positions", positionsOf(v))
	return b
}

// positionsOf are lists of page, left, right, top and bottom. Clients expect whole numbers.
func positionsOf(v dataset.Chunk) engine.Value {
	lists := make([]engine.Value, len(v.Positions))
	for i, p := range v.Positions {
		numbers := make([]engine.Value, len(p))
		for j, n := range p {
			numbers[j] = engine.Int(int64(n))
		}
		lists[i] = engine.List(numbers...)
	}
	return engine.List(lists...)
}

// owner finds the document that chunks belong to.
func (f *face) owner(ctx context.Context, r *api.Request) (dataset.Document, error) {
	id, doc := r.Params["dataset"], r.Params["document"]
	if _, err := f.dataset(ctx, r, id, notOwned(id)); err != nil {
		return dataset.Document{}, err
	}
	return f.document(ctx, r, id, doc, f.noDocument(doc))
}

func (f chunkHandlers) list(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, err := f.owner(ctx, r)
	if err != nil {
		return nil, err
	}
	q := app.ChunkList{ID: r.Query.Get("id"), Search: r.Query.Get("keywords"), IDs: r.Query.Values["chunk_ids"]}
	if q.Page, q.Size, err = f.page(r.Query); err != nil {
		return nil, err
	}
	if q.Size == 0 {
		q.Size = -1 // everything
	}
	if on := r.Query.Get("available"); on != "" {
		enabled := strings.EqualFold(on, "true") || on == "1"
		q.Enabled = &enabled
	}
	list, total, err := f.data.Chunks(ctx, r.Who, doc.Dataset, doc.ID, q)
	if err != nil {
		return nil, err
	}
	if q.ID != "" && total == 0 {
		return nil, f.noChunk(doc.Dataset + "/" + q.ID)
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = f.chunkRow(v)
	}
	return envelope.Result(engine.Object("total", total, "chunks", engine.List(rows...), "doc", documentRow(doc))), nil
}

func (f chunkHandlers) get(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, err := f.owner(ctx, r)
	if err != nil {
		return nil, err
	}
	id := r.Params["chunk"]
	list, _, err := f.data.Chunks(ctx, r.Who, doc.Dataset, doc.ID, app.ChunkList{ID: id, Page: 1, Size: 1})
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, failed("Chunk not found!")
	}
	return envelope.Result(indexedChunk(list[0])), nil
}

// indexedChunk is a chunk with the members of the original's index, as it answers when one
// chunk is read.
func indexedChunk(v dataset.Chunk) engine.Value {
	at := time.UnixMilli(v.Created).UTC()
	row := rawChunk(v)
	return row.With("id", engine.String(v.ID)).With("img_id", engine.String(v.Image)).
		With("position_int", row.Get("positions")).With("doc_type_kwd", engine.String(kindOf(v))).
		With("create_time", engine.String(at.Format(time.DateTime))).
		With("create_timestamp_flt", engine.Float(float64(v.Created)/1000))
}

// add adds a chunk to a document.
func (f chunkHandlers) add(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, err := f.owner(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	content, err := f.newContent(r.Body.Value)
	if err != nil {
		return nil, err
	}
	c := dataset.Chunk{Content: content}
	if err := f.readLists(r.Body.Value, &c); err != nil {
		return nil, err
	}
	v, err := app.CountedChunks{Datasets: f.data}.Add(ctx, r.Who, doc.Dataset, doc.ID, c)
	if err != nil {
		return nil, err
	}
	return envelope.Result(engine.Object("chunk", f.addedChunk(newChunk(v), v))), nil
}

// readLists reads the lists of texts of a chunk to add.
func (f chunkHandlers) readLists(body engine.Value, c *dataset.Chunk) error {
	for _, one := range []struct {
		name string
		to   *[]string
	}{{"important_keywords", &c.Keywords}, {"questions", &c.Questions}, {"tag_kwd", &c.Tags}} {
		list, err := f.textList(body, one.name, false)
		if err != nil {
			return err
		}
		if list != nil {
			*one.to = *list
		}
	}
	return nil
}

// newChunk is the response row of an added chunk.
func newChunk(v dataset.Chunk) *engine.ObjectBuilder {
	at := time.UnixMilli(v.Created)
	b := engine.NewObject(10)
	b.Set("id", engine.String(v.ID)).Set("content", engine.String(v.Content))
	b.Set("document_id", engine.String(v.Document)).Set("dataset_id", engine.String(v.Dataset))
	b.Set("important_keywords", engine.Strings(v.Keywords...)).Set("questions", engine.Strings(v.Questions...))
	b.Set("create_timestamp", engine.Float(float64(v.Created)/1000))
	b.Set("create_time", engine.String(at.UTC().Format(time.DateTime)))
	return b
}

// newContent is the text of a chunk to add.
func (f chunkHandlers) newContent(body engine.Value) (string, error) {
	v, ok := body.Lookup("content")
	switch {
	case !ok, v.Kind() == engine.KindString && strings.TrimSpace(v.Str()) == "":
		return "", failed("`content` is required")
	case v.Kind() != engine.KindString:
		return "", f.notContent(v)
	}
	return v.Str(), nil
}

// textList reads a list of texts of a chunk that is added or changed; nil when it is left out.
func (f chunkHandlers) textList(body engine.Value, name string, changed bool) (*[]string, error) {
	v, ok := body.Lookup(name)
	if !ok {
		return nil, nil
	}
	switch {
	case v.Kind() == engine.KindList:
	case changed:
		return nil, failed("`%s` should be a list", name)
	default:
		return nil, failed("`%s` is required to be a list", name)
	}
	list := make([]string, 0, v.Len())
	for i, one := range v.Elements() {
		if one.Kind() != engine.KindString {
			return nil, f.notTexts(name, i, one, changed)
		}
		text := one.Str()
		if name == "questions" {
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
		}
		list = append(list, text)
	}
	return &list, nil
}

// joinError is Python's error for a list of strings with another type in it.
func joinError(i int, v engine.Value) error {
	return api.Failed(api.KindBadRequest, "TypeError('sequence item %d: expected str instance, %s found')", i,
		schema.TypeName(v))
}

func (f chunkHandlers) update(ctx context.Context, r *api.Request) (api.Response, error) {
	doc, id, err := f.chunkOf(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	patch, err := f.patch(doc, r.Body.Value)
	if err != nil {
		return nil, err
	}
	err = f.data.UpdateChunk(ctx, r.Who, doc.Dataset, doc.ID, id, patch)
	return ok(engine.Null, orNone(err, noChunkHere(id)))
}

// noChunkHere refuses a chunk that does not exist.
func noChunkHere(id string) error { return failed("Can't find this chunk %s", id) }

// chunkOf finds the document of a chunk. Its dataset and the document are refused before a chunk
// that does not exist.
func (f chunkHandlers) chunkOf(ctx context.Context, r *api.Request) (dataset.Document, string, error) {
	id := r.Params["chunk"]
	doc, err := f.owner(ctx, r)
	if err != nil {
		return doc, id, err
	}
	_, total, err := f.data.Chunks(ctx, r.Who, doc.Dataset, doc.ID, app.ChunkList{ID: id, Page: 1, Size: 1})
	if err == nil && total == 0 {
		err = noChunkHere(id)
	}
	return doc, id, err
}

// patch reads what a request changes of a chunk.
func (f chunkHandlers) patch(doc dataset.Document, body engine.Value) (p app.ChunkPatch, err error) {
	if v, ok := body.Lookup("content"); ok && !v.IsNull() {
		content, err := f.newContent(body)
		if err != nil {
			return p, err
		}
		if doc.Method == "qa" && !isPair(content) {
			return p, failed("Q&A must be separated by TAB/ENTER key.")
		}
		p.Content = &content
	}
	for name, to := range map[string]**[]string{
		"important_keywords": &p.Keywords, "questions": &p.Questions, "tag_kwd": &p.Tags,
	} {
		if *to, err = f.textList(body, name, true); err != nil {
			return p, err
		}
	}
	if v, ok := body.Lookup("available"); ok {
		on, err := f.available(v)
		if err != nil {
			return p, err
		}
		p.Enabled = &on
	}
	if v, ok := body.Lookup("positions"); ok {
		if p.Positions, err = positions(v); err != nil {
			return p, err
		}
	}
	return p, nil
}

// isOn reads true, 1 and "true".
func isOn(v engine.Value) bool {
	if v.Kind() == engine.KindString {
		return v.Str() == "1" || strings.EqualFold(v.Str(), "true")
	}
	return v.Truthy()
}

// isPair reports whether a text is a question and an answer.
func isPair(content string) bool {
	n := 0
	for part := range strings.FieldsFuncSeq(content, func(r rune) bool { return r == '\n' || r == '\t' }) {
		if len([]rune(part)) > 1 {
			n++
		}
	}
	return n == 2
}

// positions reads lists of five numbers.
func positions(v engine.Value) (*[][]float64, error) {
	if v.Kind() != engine.KindList {
		return nil, failed("`positions` should be a list")
	}
	lists := make([][]float64, 0, v.Len())
	for _, one := range v.Elements() {
		var list []float64
		for _, x := range one.Elements() {
			if n, ok := x.Float(); ok {
				list = append(list, n)
			}
		}
		if len(list) != 5 || one.Len() != 5 {
			return nil, failed("Each sublist in positions must have a length of 5")
		}
		lists = append(lists, list)
	}
	return &lists, nil
}

// remove deletes chunks of a document.
func (f chunkHandlers) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	id, doc := r.Params["dataset"], r.Params["document"]
	if _, err := f.dataset(ctx, r, id, notOwned(id)); err != nil {
		return nil, err
	}
	if _, err := f.document(ctx, r, id, doc, f.refusals().noChunksOf(doc)); err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	ids, every := r.Body.Texts("chunk_ids"), r.Body.Flag("delete_all", false)
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		if !f.deletesUnnamed(every) {
			return envelope.Result(engine.Null), nil
		}
		_, err := f.data.DeleteAllChunks(ctx, r.Who, id, doc)
		return ok(engine.Null, err)
	}
	unique, twice := distinct(ids, "chunk")
	n, err := f.data.DeleteChunks(ctx, r.Who, id, doc, unique...)
	if err != nil {
		return nil, err
	}
	if n != len(unique) {
		return nil, failed("rm_chunk deleted chunks %d, expect %d", n, len(unique))
	}
	return f.partly(n, twice), nil
}

// switchChunks shows chunks to searches or hides them.
func (f chunkHandlers) switchChunks(ctx context.Context, r *api.Request) (api.Response, error) {
	id, doc := r.Params["dataset"], r.Params["document"]
	if _, err := f.dataset(ctx, r, id, notOwned(id)); err != nil {
		return nil, err
	}
	if err := f.loose(r); err != nil {
		return nil, err
	}
	if !r.Body.Get("chunk_ids").Truthy() {
		return nil, failed("`chunk_ids` is required.")
	}
	on, found := r.Body.Lookup("available_int")
	if !found {
		on, found = r.Body.Lookup("available")
	}
	if !found {
		return nil, failed("`available_int` or `available` is required.")
	}
	ids := r.Body.Texts("chunk_ids")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if _, err := f.document(ctx, r, id, doc, f.refusals().noSwitch); err != nil {
		return nil, err
	}
	return ok(engine.Bool(true), f.enable(ctx, r, id, doc, ids, isOn(on)))
}

// enable shows or hides chunks; an unknown one is refused.
func (f chunkHandlers) enable(ctx context.Context, r *api.Request, id, doc string, ids []string, on bool) error {
	for _, one := range ids {
		err := f.data.UpdateChunk(ctx, r.Who, id, doc, one, app.ChunkPatch{Enabled: &on})
		if errors.Is(err, app.ErrNotFound) {
			return failed("Index updating failure")
		}
		if err != nil {
			return fmt.Errorf("switch chunk %s: %w", one, err)
		}
	}
	return nil
}
