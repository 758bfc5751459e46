package datasets

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/schema"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// searchHandlers answer searches.
type searchHandlers struct{ *face }

// Defaults of searches.
const (
	defaultThreshold    = 0.2
	defaultVectorWeight = 0.3
	defaultTopK         = index.DefaultTopK
)

func retrievalRoutes(f *face) []api.Route {
	searches := searchHandlers{f}
	return []api.Route{route("POST", "/api/v1/retrieval", read, api.BodySmall, searches.retrieve)}
}

// query is a requested search.
type query struct {
	app.SearchQuery
	metadata bool // hits have the metadata of their documents
}

// retrieve searches datasets.
func (f searchHandlers) retrieve(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := f.loose(r); err != nil {
		return nil, err
	}
	body := r.Body.Value
	ids, err := f.searched(ctx, r, body.Get("dataset_ids"))
	if err != nil {
		return nil, err
	}
	question, given := body.Lookup("question")
	if !given {
		return nil, failed("`question` is required.")
	}
	q := &query{SearchQuery: app.SearchQuery{Datasets: ids, Question: strings.TrimSpace(question.Text())}}
	if q.Question == "" {
		return envelope.Result(nothingFound), nil
	}
	if err := f.readSearch(ctx, r, body, q); err != nil {
		return nil, err
	}
	if fits, err := f.fitsDocuments(ctx, r, q); err != nil {
		return nil, err
	} else if !fits {
		return envelope.Result(nothingFound), nil
	}
	found, err := f.search(ctx, r, q.SearchQuery)
	if err != nil {
		return nil, err
	}
	hits := make([]engine.Value, len(found.Hits))
	for i, h := range found.Hits {
		hits[i] = f.hitRow(h, q)
	}
	data := engine.Object("total", found.Total, "chunks", engine.List(hits...), "doc_aggs", documentCounts(found))
	return envelope.Result(data), nil
}

// fitsDocuments reports whether the filter of a search lets any document through.
func (f searchHandlers) fitsDocuments(ctx context.Context, r *api.Request, q *query) (bool, error) {
	if q.Filter == nil {
		return true, nil
	}
	for _, id := range q.Datasets {
		_, n, err := f.data.Documents(ctx, r.Who, id, app.DocumentList{Filter: q.Filter, Page: 1, Size: 1})
		if err != nil || n > 0 {
			return n > 0, err
		}
	}
	return false, nil
}

// nothingFound is the answer to a search that finds nothing by its conditions alone.
var nothingFound = engine.Object("total", 0, "chunks", engine.List(), "doc_aggs", engine.Object())

// searched are the datasets that a request searches.
func (f searchHandlers) searched(ctx context.Context, r *api.Request, v engine.Value) ([]string, error) {
	switch {
	case !v.Truthy():
		return nil, failed("`dataset_ids` is required.")
	case v.Kind() != engine.KindList:
		return nil, failed("`dataset_ids` should be a list")
	}
	var ids []string
	var list []dataset.Dataset
	for _, one := range v.Elements() {
		id := one.Text()
		d, err := f.dataset(ctx, r, id, notOwned(id))
		if err != nil {
			return nil, err
		}
		ids, list = append(ids, id), append(list, d)
	}
	return ids, sameModel(list)
}

// sameModel refuses datasets whose vectors cannot be compared. The provider of a model does not
// matter.
func sameModel(list []dataset.Dataset) error {
	name := func(d dataset.Dataset) string {
		model, _, _ := strings.Cut(d.EmbeddingModel, "@")
		return model
	}
	for _, d := range list[1:] {
		switch first := name(list[0]); {
		case first == name(d):
		case first == "" || name(d) == "":
			return failed("Cannot search across datasets where some have embedding models and others do not.")
		default:
			return failed(`Datasets use different embedding models."`)
		}
	}
	return nil
}

// readSearch reads the settings of a search.
func (f searchHandlers) readSearch(ctx context.Context, r *api.Request, body engine.Value, q *query) (err error) {
	docs := body.Get("document_ids")
	if docs.Kind() != engine.KindList && !docs.IsNull() {
		return failed("`documents` should be a list")
	}
	q.Documents = textsOf(docs)
	if err := f.ownDocuments(ctx, r, q); err != nil {
		return err
	}
	if len(q.Documents) == 0 {
		if q.Filter, err = filterOf(body.Get("metadata_condition")); err != nil {
			return err
		}
	}
	if err := f.readNumbers(body, q); err != nil {
		return err
	}
	if q.Highlight, err = f.highlight(body.Get("highlight")); err != nil {
		return err
	}
	q.Keyword = isOn(body.Get("keyword"))
	q.Rerank, q.MustRerank = body.Get("rerank_id").Text(), true
	q.Languages = textsOf(body.Get("cross_languages"))
	q.Metadata, q.metadata = f.metadataFields(body)
	return nil
}

// readNumbers reads the numbers of a search.
func (f searchHandlers) readNumbers(body engine.Value, q *query) (err error) {
	for _, one := range []struct {
		name   string
		absent int
		to     *int
	}{{"page", 1, &q.Page}, {"page_size", defaultPageSize, &q.Size}, {"top_k", defaultTopK, &q.TopK}} {
		if *one.to, err = wholeOf(body, one.name, one.absent); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		name   string
		absent float64
		to     *float64
	}{
		{"similarity_threshold", defaultThreshold, &q.Threshold},
		{"vector_similarity_weight", defaultVectorWeight, &q.VectorWeight},
	} {
		if *one.to, err = numberOf(body, one.name, one.absent); err != nil {
			return err
		}
	}
	q.Page, q.VectorWeight = max(q.Page, 1), min(max(q.VectorWeight, 0), 1)
	if q.TopK <= 0 {
		return f.refusals().badTopK
	}
	q.TopK = min(q.TopK, index.MostCandidates)
	if q.Size < 0 || q.Page*q.Size > index.MostCandidates {
		return api.Failed(api.KindBadRequest,
			"page %d of %d hits each is behind the last hit that is listed, number %d", q.Page, q.Size,
			index.MostCandidates)
	}
	return f.refusals().checkPageSize(q.Size)
}

// wholeOf is a whole number that a body has as a number or as text.
func wholeOf(body engine.Value, name string, absent int) (int, error) {
	v, ok := body.Lookup(name)
	switch {
	case !ok:
		return absent, nil
	case v.Kind() == engine.KindNumber:
		if n, ok := v.Int(); ok && n < 1<<31 && n > -1<<31 {
			return int(n), nil
		}
	case v.Kind() == engine.KindString:
		n, err := strconv.ParseInt(strings.TrimSpace(v.Str()), 10, 32)
		if err == nil {
			return int(n), nil
		}
		return 0, notNumber(v.Str())
	}
	return 0, api.Failed(api.KindBadRequest, `TypeError("int() argument must be a string, a bytes-like object or `+
		`a real number, not '%s'")`, schema.TypeName(v))
}

// numberOf is a number that a body has as a number or as text.
func numberOf(body engine.Value, name string, absent float64) (float64, error) {
	v, ok := body.Lookup(name)
	if !ok {
		return absent, nil
	}
	if n, ok := v.Float(); ok {
		return n, nil
	}
	if n, err := strconv.ParseFloat(strings.TrimSpace(v.Str()), 64); err == nil && v.Kind() == engine.KindString {
		return n, nil
	}
	return 0, api.Failed(api.KindBadRequest, `ValueError("could not convert string to float: '%.40s'")`, text(v))
}

// ownDocuments refuses documents that are in none of the datasets of a search.
func (f searchHandlers) ownDocuments(ctx context.Context, r *api.Request, q *query) error {
	for _, doc := range q.Documents {
		found := false
		for _, id := range q.Datasets {
			_, err := f.data.Document(ctx, r.Who, id, doc)
			if orNone(err, nil) != nil {
				return err
			}
			found = found || err == nil
		}
		if !found {
			return failed("The datasets don't own the document %s", doc)
		}
	}
	return nil
}

// search calls the service. A page of no rows has a total as well.
func (f searchHandlers) search(ctx context.Context, r *api.Request, q app.SearchQuery) (*app.SearchResult, error) {
	empty := q.Size == 0
	q.Size = max(q.Size, 1)
	found, err := f.data.Search(ctx, r.Who, q)
	if errors.Is(err, app.ErrUnknownModel) {
		err = f.refusals().noReranker(q.Rerank)
	}
	if err != nil {
		return nil, err
	}
	for _, text := range found.Diagnostics {
		r.Logger().Warn("search setting without effect", "datasets", len(q.Datasets), "diagnostic", text)
	}
	if empty {
		found.Hits = nil
	}
	return found, nil
}

// hit is a chunk that was found, as programs of both dialects read it.
func hit(h app.SearchHit, q *query) *engine.ObjectBuilder {
	b := engine.NewObject(24)
	b.Set("id", engine.String(h.ID)).Set("content", engine.String(h.Content))
	b.Set("content_ltks", engine.String(strings.ToLower(h.Content)))
	b.Set("document_id", engine.String(h.Document)).Set("document_keyword", engine.String(h.Name))
	b.Set("document_name", engine.String(h.Name)).Set("dataset_id", engine.String(h.Dataset))
	b.Set("important_keywords", engine.Strings(h.Keywords...)).Set("questions", engine.Strings(h.Questions...))
	b.Set("image_id", engine.String(h.Image)).Set("positions", positionsOf(h.Chunk))
	b.Set("similarity", engine.Float(h.Similarity)).Set("term_similarity", engine.Float(h.Term))
	b.Set("vector_similarity", engine.Float(h.Vector)).Set("doc_type_kwd", engine.String(typeOf(h.Chunk)))
	b.Set("mom_id", engine.String(h.Parent))
	if q.Highlight {
		b.Set("highlight", engine.String(h.Highlight))
	}
	if q.metadata {
		b.Set("document_metadata", metaOf(h.Meta))
	}
	return b
}

// kindOf is the kind of a chunk as lists of chunks of newer versions have it.
func kindOf(v dataset.Chunk) string { return cmp.Or(v.Kind, "text") }

// typeOf is the kind of a chunk, "" for text.
func typeOf(v dataset.Chunk) string {
	if v.Kind == "text" {
		return ""
	}
	return v.Kind
}

// documentCounts are the documents of a search with their hits.
func documentCounts(found *app.SearchResult) engine.Value {
	rows := make([]engine.Value, len(found.Documents))
	for i, d := range found.Documents {
		rows[i] = engine.Object("doc_name", d.Name, "doc_id", d.Document, "count", d.Count)
	}
	return engine.List(rows...)
}

// filterOf reads conditions on the metadata of documents; nil is none.
func filterOf(v engine.Value) (*index.Filter, error) {
	if !v.Truthy() {
		return nil, nil
	}
	if v.Kind() != engine.KindObject {
		return nil, failed("metadata_condition must be an object.")
	}
	logic := v.Get("logic")
	if logic.IsNull() {
		logic = v.Get("logical_operator")
	}
	f := &index.Filter{Or: strings.EqualFold(logic.Str(), "or")}
	for _, one := range v.Get("conditions").Elements() {
		key := one.Get("name")
		if key.IsNull() {
			key = one.Get("key")
		}
		op := one.Get("comparison_operator")
		if op.IsNull() {
			op = one.Get("op")
		}
		for _, name := range namesOf(key) {
			value := one.Get("value").Text()
			f.Conditions = append(f.Conditions, index.Condition{Key: name, Operator: op.Str(), Value: value})
		}
	}
	if len(f.Conditions) == 0 {
		return nil, nil
	}
	if err := f.Check(); err != nil {
		return nil, failed("%s", err)
	}
	return f, nil
}

// namesOf is the name of a condition, which old versions of Dify send as a list.
func namesOf(v engine.Value) []string {
	if v.Kind() == engine.KindList {
		return textsOf(v)
	}
	return []string{v.Text()}
}
