package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Document returns a document. Errors: [ErrNotFound].
func (d *Datasets) Document(ctx context.Context, p Principal, id, document string) (dataset.Document, error) {
	if v, ok, err := d.watched.document(p, id, document); ok {
		return v, err
	}
	v, err := d.document(ctx, p, id, document)
	if err == nil {
		one := []store.Document{v}
		err = d.store.Ingestion.CountAhead(ctx, one)
		v = one[0]
	}
	return v.Document, err
}

func (d *Datasets) document(ctx context.Context, p Principal, id, document string) (store.Document, error) {
	ds, err := d.get(ctx, p, id)
	if err != nil {
		return store.Document{}, err
	}
	v, err := d.store.Documents.Get(ctx, p.Tenant, id, document)
	if err == nil && !mayRead(p, &ds, &v) {
		v, err = store.Document{}, ErrNotFound
	}
	return v, missing(err, fmt.Sprintf("document %q", document))
}

// DocumentList selects documents; empty fields match all.
type DocumentList struct {
	ID, Name, Words string
	Suffixes        []string
	States          []dataset.State
	From, To        int64 // create_time, Unix milliseconds
	Filter          *index.Filter
	Page            int    // from 1
	Size            int    // 0 means 30, a negative value all
	OrderBy         string // create_time or update_time
	Ascending       bool
}

// Documents returns a page of the documents of a dataset, and the number of all that match. Errors:
// [ErrNotFound] for the dataset, those of [Error].
func (d *Datasets) Documents(
	ctx context.Context, p Principal, id string, q DocumentList,
) ([]dataset.Document, int, error) {
	if _, ok := d.watched.key(p, id); ok {
		return d.watched.documents(p, id, &q)
	}
	ds, err := d.get(ctx, p, id)
	if err != nil {
		return nil, 0, err
	}
	f := store.DocumentFilter{
		Tenant: p.Tenant, Dataset: id, Gate: gateOf(p, &ds), Name: q.Name, Words: q.Words, Suffixes: q.Suffixes,
		States: q.States, From: q.From, To: q.To,
	}
	if q.ID != "" {
		f.IDs = []string{q.ID}
	}
	page := pageOf(q.Page, q.Size, q.OrderBy, q.Ascending)
	var list []store.Document
	var total int
	if q.Filter != nil && len(q.Filter.Conditions) > 0 {
		list, total, err = d.filtered(ctx, f, q.Filter, page)
	} else {
		list, total, err = d.store.Documents.List(ctx, f, page)
	}
	if err == nil {
		err = d.store.Ingestion.CountAhead(ctx, list)
	}
	if err != nil {
		return nil, 0, err
	}
	out := make([]dataset.Document, len(list))
	for i := range list {
		out[i] = list[i].Document
	}
	return out, total, nil
}

// filtered is a page of the documents that a filter of metadata lets through.
func (d *Datasets) filtered(
	ctx context.Context, f store.DocumentFilter, filter *index.Filter, page store.Page,
) ([]store.Document, int, error) {
	labels, err := d.store.Documents.Labels(ctx, f, page)
	if err != nil {
		return nil, 0, err
	}
	ids, err := fitting(labels, filter)
	if err != nil {
		return nil, 0, err
	}
	total := len(ids)
	from := min(page.Offset, total)
	ids = ids[from:]
	if page.Limit > 0 {
		ids = ids[:min(page.Limit, len(ids))]
	}
	if len(ids) == 0 {
		return nil, total, nil
	}
	f.IDs = ids
	list, _, err := d.store.Documents.List(ctx, f, store.Page{Order: page.Order, Asc: page.Asc})
	return list, total, err
}

// fitting are the ids of documents that a filter lets through, in their order.
func fitting(labels []store.DocumentLabel, filter *index.Filter) ([]string, error) {
	only, all, err := filter.Documents(func(key string) (map[string][]int64, error) {
		out := map[string][]int64{}
		for i, l := range labels {
			for _, value := range index.MetaValues(l.Meta[key]) {
				out[value] = append(out[value], int64(i))
			}
		}
		return out, nil
	})
	if err != nil {
		return nil, BadArgument("%s", err)
	}
	var ids []string
	if all {
		for _, l := range labels {
			ids = append(ids, l.ID)
		}
	}
	for _, i := range only {
		ids = append(ids, labels[i].ID)
	}
	return ids, nil
}

// DocumentPatch changes a document; nil fields stay.
type DocumentPatch struct {
	Name, Method, Pipeline, Thumbnail *string

	Enabled *bool
	Config  *json.RawMessage
	Meta    *map[string]any // replaces all
}

// UpdateDocument changes a document. Another Method or Pipeline removes its chunks. Errors:
// [ErrNotFound], [ErrExists] for the name, [ErrConflict] while it is parsed, those of [Error].
func (d *Datasets) UpdateDocument(
	ctx context.Context, p Principal, id, document string, patch DocumentPatch,
) (dataset.Document, error) {
	if _, err := d.document(ctx, p, id, document); err != nil {
		return dataset.Document{}, err
	}
	if patch.Name != nil && (*patch.Name == "" || len(*patch.Name) > longestFileName) {
		return dataset.Document{}, &Error{CodeBadArgument, fmt.Sprintf("File name must be %d bytes or less.",
			longestFileName), "name"}
	}
	v, err := d.store.Documents.Edit(ctx, p.Tenant, id, document, func(v *store.Document) (store.Affects, error) {
		return patch.apply(v, p.User)
	})
	if err == nil && patch.Enabled != nil && v.Disabled == *patch.Enabled {
		v, err = d.editChunks(ctx, p, id, document, func(v *store.Document, _ string) ([]store.ChunkEdit, bool, error) {
			v.Disabled = !*patch.Enabled
			return nil, true, nil
		})
	}
	return v.Document, err
}

// apply changes a record on behalf of a member and returns the changes for the index.
func (q *DocumentPatch) apply(v *store.Document, by string) (store.Affects, error) {
	affects := store.Nothing
	if q.Meta != nil {
		affects = store.Metadata
	}
	if q.Name != nil && *q.Name != v.Name {
		affects = store.Content
	}
	cut := q.Method != nil && *q.Method != v.Method || q.Pipeline != nil && *q.Pipeline != v.Pipeline
	if q.Pipeline != nil && *q.Pipeline != v.Pipeline {
		v.PipelineBy = by
	}
	set(&v.Name, q.Name)
	set(&v.Method, q.Method)
	set(&v.Pipeline, q.Pipeline)
	set(&v.Thumbnail, q.Thumbnail)
	set(&v.Config, q.Config)
	set(&v.Meta, q.Meta)
	if cut {
		if v.State == dataset.Queued || v.State == dataset.Running {
			return affects, fmt.Errorf("document %q is %s: %w", v.ID, v.State, ErrConflict)
		}
		empty(v)
		affects = store.Cleared
	}
	return affects, nil
}

// empty takes the chunks of a document away.
func empty(v *store.Document) {
	v.ChunkFile, v.Chunks, v.Tokens, v.Digest = "", 0, 0, ""
	v.State, v.Progress, v.Messages = dataset.Unparsed, 0, ""
}

// DeleteDocuments removes documents with their chunks and files, and returns how many there were;
// none named means none deleted. Errors: [ErrNotFound] for the dataset.
func (d *Datasets) DeleteDocuments(ctx context.Context, p Principal, id string, documents ...string) (int, error) {
	documents, err := readable(ctx, d, p, id, documents)
	if err != nil {
		return 0, err
	}
	n, err := d.store.Documents.Delete(ctx, p.Tenant, id, documents...)
	if err != nil || n == 0 {
		return n, err
	}
	for _, document := range documents {
		d.ingester.Cancel(document)
	}
	if _, err := d.replica.Sync(ctx, id); err != nil {
		return n, err
	}
	return n, d.ingester.Sweep(ctx)
}

// Open reads the original of a document; the caller closes it. Errors: [ErrNotFound].
func (d *Datasets) Open(
	ctx context.Context, p Principal, id, document string,
) (io.ReadCloser, dataset.Document, error) {
	if v, ok, err := d.watched.document(p, id, document); ok {
		if err != nil {
			return nil, v, err
		}
		return d.watched.open(p, id, v)
	}
	v, err := d.document(ctx, p, id, document)
	if err != nil {
		return nil, v.Document, err
	}
	if v.File == "" {
		return io.NopCloser(strings.NewReader("")), v.Document, nil
	}
	r, _, err := d.files.Open(ctx, v.File)
	return r, v.Document, err
}

// Parse queues documents and returns at once. Documents that cannot be queued do not keep the
// others from it; the error joins an [*Error] for each: [CodeNotFound], or [CodeChanged] for one
// that is queued or running.
func (d *Datasets) Parse(ctx context.Context, p Principal, id string, documents ...string) error {
	readable, err := readable(ctx, d, p, id, documents)
	if err != nil {
		return err
	}
	defer d.ingester.Wake()
	refused, err := d.store.Ingestion.QueueAll(ctx, p.Tenant, id, readable)
	if err != nil {
		return err
	}
	for _, document := range documents {
		if !slices.Contains(readable, document) {
			refused[document] = ErrNotFound
		}
	}
	var refusals []error
	for _, document := range documents {
		refusals = append(refusals, refusal(document, refused[document]))
		delete(refused, document)
	}
	return errors.Join(refusals...)
}

// Stop cancels the parses of documents, queued ones too. Errors are as of Parse; [CodeChanged]
// means that a document is neither queued nor running.
func (d *Datasets) Stop(ctx context.Context, p Principal, id string, documents ...string) error {
	return d.each(ctx, p, id, documents, func(document string) error {
		line := time.Now().Format(time.TimeOnly) + " Task has been canceled. [Canceled]\n"
		err := d.store.Ingestion.Cancel(ctx, p.Tenant, id, document, line)
		if err == nil {
			d.ingester.Cancel(document)
		}
		return err
	})
}

// each calls f for documents of a dataset and joins what was refused.
func (d *Datasets) each(ctx context.Context, p Principal, id string, documents []string, f func(string) error) error {
	readable, err := readable(ctx, d, p, id, documents)
	if err != nil {
		return err
	}
	defer d.ingester.Wake()
	var refused []error
	for _, document := range documents {
		err := ErrNotFound
		if slices.Contains(readable, document) {
			err = f(document)
		}
		if r := refusal(document, err); r != nil {
			refused = append(refused, r)
		} else if err != nil {
			return err
		}
	}
	return errors.Join(refused...)
}

// refusal returns the [*Error] for a document that was left as it is because of err; nil if that is
// another error or none.
func refusal(document string, err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &Error{CodeNotFound, fmt.Sprintf("document %q not found", document), document}
	case errors.Is(err, store.ErrConflict):
		return &Error{CodeChanged, err.Error(), document}
	}
	return nil
}
