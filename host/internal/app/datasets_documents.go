package app

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/blobs"
	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Upload is a file for a dataset.
type Upload struct {
	Name   string
	Size   int64 // as announced; negative when unknown
	Body   io.Reader
	Source string // "" means local
}

// longestFileName is how many bytes the name of a document may have.
const longestFileName = 255

// uploadTime is after which time an upload that was broken off is removed.
const uploadTime = 24 * time.Hour

// Upload adds a document to a dataset. A name that is taken becomes "name(1).ext". Errors:
// [ErrNotFound], [ErrFileTooLarge], [ErrQuota], those of [Error] and of the body.
func (d *Datasets) Upload(ctx context.Context, p Principal, id string, u Upload) (dataset.Document, error) {
	ds, err := d.get(ctx, p, id)
	if err != nil {
		return dataset.Document{}, err
	}
	if u.Name == "" || len(u.Name) > longestFileName {
		return dataset.Document{}, &Error{CodeBadArgument, fmt.Sprintf("File name must be %d bytes or less.",
			longestFileName), "name"}
	}
	if most := d.limits.File; most > 0 && u.Size > most {
		return dataset.Document{}, fmt.Errorf("document %q: %w: %d bytes, at most %d", u.Name, ErrFileTooLarge,
			u.Size, most)
	}
	if most := d.limits.Bytes; most > 0 {
		use, err := d.store.Datasets.Use(ctx, p.Tenant)
		if err != nil {
			return dataset.Document{}, err
		}
		if use.Bytes+max(0, u.Size) > most {
			return dataset.Document{}, fmt.Errorf("document %q: %w: documents have %d of %d bytes", u.Name, ErrQuota,
				use.Bytes, most)
		}
	}
	v := store.Document{Tenant: p.Tenant, Document: dataset.Document{
		Dataset: id, Name: u.Name, Kind: kindOf(u.Name), Source: u.Source, Method: methodOf(u.Name, ds.Method),
		Config: ds.Config, Pipeline: ds.Pipeline, CreatedBy: p.User, State: dataset.Unparsed,
	}}
	if v.Source == "" {
		v.Source = "local"
	}
	if v.ID, err = newDocumentID(); err != nil {
		return dataset.Document{}, err
	}
	v.File = ingest.File(p.Tenant, id, v.ID)
	info, err := d.putOriginal(ctx, &v, u.Body)
	if err != nil {
		return dataset.Document{}, fmt.Errorf("document %q: %w", u.Name, err)
	}
	v.Size = int64(info.Size)
	if v.Hash, err = hexDigest(info.Digest); err != nil {
		return dataset.Document{}, errors.Join(err, d.dropFile(ctx, v.File))
	}
	v, err = d.store.Documents.Create(ctx, v, d.limits.Bytes)
	if err != nil {
		return dataset.Document{}, errors.Join(err, d.dropFile(ctx, v.File))
	}
	return v.Document, nil
}

// hexDigest is a digest of the object store as hexadecimal digits.
func hexDigest(digest string) (string, error) {
	sum, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(digest, "SHA-256="))
	if err != nil {
		return "", fmt.Errorf("digest %q: %w", digest, err)
	}
	return hex.EncodeToString(sum), nil
}

// putOriginal stores the bytes of a document, noted as a file without a record.
func (d *Datasets) putOriginal(ctx context.Context, v *store.Document, body io.Reader) (blobs.Info, error) {
	loose := store.LooseFile{Name: v.File, Tenant: v.Tenant}
	if err := d.store.LooseFiles.Add(ctx, loose, time.Now().Add(uploadTime).UnixMilli()); err != nil {
		return blobs.Info{}, err
	}
	if body == nil {
		body = strings.NewReader("")
	}
	if d.limits.File > 0 {
		body = &bounded{r: body, left: d.limits.File}
	}
	info, err := d.files.Put(ctx, v.File, body)
	if err != nil {
		return info, errors.Join(err, d.dropFile(ctx, v.File))
	}
	return info, nil
}

// dropFile removes a file that got no record.
func (d *Datasets) dropFile(ctx context.Context, name string) error {
	ctx = context.WithoutCancel(ctx)
	if err := d.files.Delete(ctx, name); err != nil && !errors.Is(err, broker.ErrNotFound) {
		return nil // it is noted, and removed later
	}
	return d.store.LooseFiles.Forget(ctx, name)
}

// bounded fails with ErrFileTooLarge after a number of bytes.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrFileTooLarge
	}
	return n, err
}

var (
	visual = []string{
		"png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "svg", "ico", "apng", "avif", "heic",
		"mp4", "avi", "mkv", "mov",
	}
	aural = []string{
		"wav", "flac", "ape", "alac", "mp3", "aac", "ogg", "wma", "aiff", "au", "midi", "realaudio",
		"vqf", "oggvorbis",
	}
)

func suffixOf(name string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) }

// kindOf is the kind of a document by its name.
func kindOf(name string) string {
	switch suffix := suffixOf(name); {
	case suffix == "pdf":
		return "pdf"
	case slices.Contains(visual, suffix):
		return "visual"
	case slices.Contains(aural, suffix):
		return "aural"
	}
	return "doc"
}

// methodOf is the method for a document of a dataset: pictures, sound, slides and mails have their
// own ones among those of the original.
func methodOf(name, method string) string {
	if method == "" || slices.Contains([]string{chunking.Structure, "one"}, method) {
		return method
	}
	switch suffix := suffixOf(name); {
	case kindOf(name) == "visual":
		return "picture"
	case kindOf(name) == "aural":
		return "audio"
	case slices.Contains([]string{"ppt", "pptx", "pages"}, suffix):
		return "presentation"
	case slices.Contains([]string{"eml", "msg"}, suffix):
		return "email"
	}
	return method
}

// Document returns a document. Errors: [ErrNotFound].
func (d *Datasets) Document(ctx context.Context, p Principal, id, document string) (dataset.Document, error) {
	if v, ok, err := d.watched.document(p, id, document); ok {
		return v, err
	}
	v, err := d.document(ctx, p, id, document)
	if err == nil && v.State == dataset.Queued {
		v.Queue, err = d.store.Ingestion.Position(ctx, &v)
	}
	return v.Document, err
}

func (d *Datasets) document(ctx context.Context, p Principal, id, document string) (store.Document, error) {
	if _, err := d.get(ctx, p, id); err != nil {
		return store.Document{}, err
	}
	v, err := d.store.Documents.Get(ctx, p.Tenant, id, document)
	return v, missing(err, fmt.Sprintf("document %q", document))
}

// DocumentList asks for documents; empty fields match all.
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
	if _, ok := d.watched.get(p, id); ok {
		return d.watched.documents(p, id, &q)
	}
	if _, err := d.get(ctx, p, id); err != nil {
		return nil, 0, err
	}
	f := store.DocumentFilter{
		Tenant: p.Tenant, Dataset: id, Name: q.Name, Words: q.Words, Suffixes: q.Suffixes, States: q.States,
		From: q.From, To: q.To,
	}
	if q.ID != "" {
		f.IDs = []string{q.ID}
	}
	page := pageOf(q.Page, q.Size, q.OrderBy, q.Ascending)
	var list []store.Document
	var total int
	var err error
	if q.Filter != nil && len(q.Filter.Conditions) > 0 {
		list, total, err = d.filtered(ctx, f, q.Filter, page)
	} else {
		list, total, err = d.store.Documents.List(ctx, f, page)
	}
	if err != nil {
		return nil, 0, err
	}
	out := make([]dataset.Document, len(list))
	for i := range list {
		if list[i].State == dataset.Queued {
			if list[i].Queue, err = d.store.Ingestion.Position(ctx, &list[i]); err != nil {
				return nil, 0, err
			}
		}
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
	v, err := d.store.Documents.Edit(ctx, p.Tenant, id, document, patch.apply)
	if err == nil && patch.Enabled != nil && v.Disabled == *patch.Enabled {
		v, err = d.editChunks(ctx, p, id, document, func(v *store.Document, _ string) ([]store.ChunkEdit, bool, error) {
			v.Disabled = !*patch.Enabled
			return nil, true, nil
		})
	}
	return v.Document, err
}

// apply changes a record and says what an index has to follow.
func (q *DocumentPatch) apply(v *store.Document) (store.Affects, error) {
	affects := store.Nothing
	if q.Meta != nil {
		affects = store.Metadata
	}
	if q.Name != nil && *q.Name != v.Name {
		affects = store.Content
	}
	cut := q.Method != nil && *q.Method != v.Method || q.Pipeline != nil && *q.Pipeline != v.Pipeline
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
	if _, err := d.get(ctx, p, id); err != nil {
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
	return d.each(ctx, p, id, documents, func(document string) error {
		return d.store.Ingestion.Queue(ctx, p.Tenant, id, document)
	})
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
	if _, err := d.get(ctx, p, id); err != nil {
		return err
	}
	defer d.ingester.Wake()
	var refused []error
	for _, document := range documents {
		err := f(document)
		switch {
		case errors.Is(err, store.ErrNotFound):
			refused = append(refused, &Error{CodeNotFound, fmt.Sprintf("document %q not found", document), document})
		case errors.Is(err, store.ErrConflict):
			refused = append(refused, &Error{CodeChanged, err.Error(), document})
		case err != nil:
			return err
		}
	}
	return errors.Join(refused...)
}
