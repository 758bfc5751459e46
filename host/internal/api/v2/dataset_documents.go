package v2

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Paths of documents.
const (
	allDocuments = oneDataset + "/documents"
	oneDocument  = allDocuments + "/{document}"
)

func (d datasets) documentOperations() []operation {
	const read, edit = app.ScopeRead, app.ScopeEdit
	return []operation{
		handle(operation{
			method: "GET", path: allDocuments, body: api.BodyNone, scope: read, name: "listDocuments",
			about: "List the documents of a dataset with their status, newest first.",
		}, d.listDocuments),
		handle(operation{
			method: "POST", path: allDocuments, body: api.BodyUpload, scope: edit, name: "uploadDocuments",
			status: created, form: fileForm,
			about: "Upload the files of a multipart form as documents. If a name is taken, the document is named " +
				"name(1).ext. With parse=true they are queued for parsing.",
		}, d.upload),
		handle(operation{
			method: "PATCH", path: allDocuments, body: api.BodySmall, scope: edit, name: "updateDocuments",
			about: "Update the given members of many documents, and with parse queue them for parsing. Those that " +
				"cannot be changed are listed, and do not keep the others from it.",
		}, datasetEdits{d}.updateDocuments),
		handle(operation{
			method: "DELETE", path: allDocuments, body: api.BodySmall, scope: edit, name: "deleteDocuments",
			about: "Delete documents with their chunks and files. Those that do not exist any more count as refused.",
		}, datasetEdits{d}.removeDocuments),
		handle(operation{
			method: "GET", path: oneDocument, body: api.BodyNone, scope: read, name: "getDocument",
			about: "Get a document.",
		}, d.getDocument),
		handle(operation{
			method: "PATCH", path: oneDocument, body: api.BodySmall, scope: edit, name: "updateDocument",
			about: "Update the given members of a document. Changing the chunk method or pipeline deletes its " +
				"chunks.",
		}, d.updateDocument),
		handle(operation{
			method: "DELETE", path: oneDocument, body: api.BodyTiny, scope: edit, name: "deleteDocument",
			about: "Delete a document with its chunks and its file.",
		}, d.removeDocument),
		handle(operation{
			method: "GET", path: oneDocument + "/content", body: api.BodyNone, scope: read, name: "downloadDocument",
			media: "application/octet-stream",
			about: "Download the file of a document.",
		}, d.content),
		handle(operation{
			method: "PUT", path: oneDocument + "/content", body: api.BodyUpload, scope: edit, name: "replaceDocument",
			form: fileForm,
			about: "Replace the file of a document by that of a multipart form. It keeps its ID, metadata and " +
				"method, and its chunks until it is parsed again.",
		}, datasetEdits{d}.replace),
		handle(operation{
			method: "POST", path: oneDocument + "/preview", body: api.BodySmall, scope: edit, name: "previewChunks",
			about: "Cut a document by a method or a pipeline and return the first chunks. Nothing is stored.",
		}, datasetEdits{d}.preview),
		handle(operation{
			method: "POST", path: oneDataset + "/parse", body: api.BodySmall, scope: edit, name: "parseDocuments",
			about: "Queue documents for parsing. The response does not wait. Searches find the old chunks until " +
				"the new ones are complete.",
		}, d.parse),
		handle(operation{
			method: "POST", path: oneDataset + "/cancel", body: api.BodySmall, scope: edit, name: "cancelDocuments",
			about: "Cancel the parsing of documents, including queued ones.",
		}, d.cancel),
		handle(operation{
			method: "GET", path: oneDataset + "/events", body: api.BodyNone, scope: read, name: "datasetEvents",
			stream: true, events: true,
			about: "Follow the progress of parsing as server-sent events: an event document for each change, and " +
				"an event idle when no document is queued or being parsed.",
		}, d.events),
	}
}

type documentView struct {
	ID        string         `json:"id"`
	Dataset   string         `json:"dataset"`
	Name      string         `json:"name"`
	Size      int64          `json:"size" jsonschema:"size in bytes"`
	Kind      string         `json:"kind" jsonschema:"pdf, doc, visual, aural or virtual"`
	Source    string         `json:"source"`
	Hash      string         `json:"hash" jsonschema:"SHA-256 of the file, hexadecimal"`
	Method    string         `json:"method"`
	Config    engine.Value   `json:"config,omitzero"`
	Pipeline  string         `json:"pipeline,omitempty"`
	Enabled   bool           `json:"enabled" jsonschema:"whether searches return its chunks"`
	Metadata  map[string]any `json:"metadata"`
	Access    *[]string      `json:"access,omitempty" jsonschema:"absent for the default of the dataset"`
	State     dataset.State  `json:"state" jsonschema:"unparsed, queued, running, done, failed or canceled"`
	Progress  float64        `json:"progress" jsonschema:"0 to 1; -1 if parsing failed"`
	Messages  string         `json:"messages,omitempty" jsonschema:"log of the last parse"`
	Ahead     int            `json:"ahead,omitempty" jsonschema:"number of documents before it in the queue"`
	Chunks    int            `json:"chunks"`
	Tokens    int            `json:"tokens"`
	TookMS    int64          `json:"took_ms,omitempty" jsonschema:"duration of the last parse"`
	CreatedBy string         `json:"created_by"`
	Created   time.Time      `json:"created"`
	Updated   time.Time      `json:"updated"`
	Began     *time.Time     `json:"began,omitempty" jsonschema:"start of the last parse"`
}

type documentList struct {
	Items []documentView `json:"items"`
	Total int            `json:"total" jsonschema:"number of matches on all pages"`
}

type documentPatch struct {
	Name     *string         `json:"name,omitempty"`
	Method   *string         `json:"method,omitempty"`
	Config   *object         `json:"config,omitempty" jsonschema:"settings of the chunk method; replaces all"`
	Pipeline *string         `json:"pipeline,omitempty"`
	Enabled  *bool           `json:"enabled,omitempty"`
	Metadata *map[string]any `json:"metadata,omitempty" jsonschema:"strings, numbers and lists of those; replaces all"`
}

func documentViewOf(v dataset.Document) documentView {
	out := documentView{
		ID: v.ID, Dataset: v.Dataset, Name: v.Name, Size: v.Size, Kind: v.Kind, Source: v.Source, Hash: v.Hash,
		Method: v.Method, Config: api.DocumentOf(v.Config), Pipeline: v.Pipeline, Enabled: !v.Disabled,
		Metadata: v.Meta, Access: entriesOf(v.Access),
		State: v.State, Progress: v.Progress, Messages: v.Messages, Ahead: v.Queue,
		Chunks: v.Chunks, Tokens: v.Tokens,
		TookMS: v.Duration, CreatedBy: v.CreatedBy, Created: timeOf(v.Created), Updated: timeOf(v.Updated),
		Began: timeOrNil(v.Began),
	}
	if out.Metadata == nil {
		out.Metadata = map[string]any{}
	}
	return out
}

func documentViews(rows []dataset.Document, total int) documentList {
	out := documentList{Items: make([]documentView, len(rows)), Total: total}
	for i, v := range rows {
		out.Items[i] = documentViewOf(v)
	}
	return out
}

type listDocuments struct {
	Who     app.Principal
	Dataset string   `path:"dataset"`
	Words   string   `query:"words" jsonschema:"only documents with these words in the name"`
	State   string   `query:"state" jsonschema:"only documents with one of these states, separated by commas"`
	Suffix  string   `query:"suffix" jsonschema:"only documents with one of these suffixes, separated by commas"`
	Page    app.Page `order:"create_time"`
}

func (d datasets) listDocuments(ctx context.Context, in listDocuments) (documentList, error) {
	q := app.DocumentList{
		Words: in.Words, Page: pageNumber(in.Page), Size: in.Page.Limit, OrderBy: in.Page.Order, Ascending: in.Page.Asc,
	}
	var err error
	if q.States, err = statesOf(in.State); err != nil {
		return documentList{}, err
	}
	if in.Suffix != "" {
		q.Suffixes = strings.Split(in.Suffix, ",")
	}
	rows, total, err := d.Documents(ctx, in.Who, in.Dataset, q)
	return documentViews(rows, total), err
}

// statesOf reads states separated by commas.
func statesOf(text string) (states []dataset.State, err error) {
	for name := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' }) {
		state := dataset.State(name)
		if !slices.Contains(dataset.States, state) {
			return nil, badQuery("state must be one of %v, not %.40q", dataset.States, name)
		}
		states = append(states, state)
	}
	return states, nil
}

type documentByID struct {
	Who     app.Principal
	Dataset string `path:"dataset"`
	ID      string `path:"document"`
}

func (d datasets) getDocument(ctx context.Context, in documentByID) (documentView, error) {
	v, err := d.Document(ctx, in.Who, in.Dataset, in.ID)
	return documentViewOf(v), err
}

type updateDocument struct {
	Who     app.Principal
	Dataset string `path:"dataset"`
	ID      string `path:"document"`
	Body    documentPatch
}

func (d datasets) updateDocument(ctx context.Context, in updateDocument) (documentView, error) {
	b := in.Body
	if err := checkCut(ctx, d, in.Who, b.Method, b.Pipeline); err != nil {
		return documentView{}, err
	}
	if b.Metadata != nil {
		if err := app.CheckMeta(*b.Metadata); err != nil {
			return documentView{}, err
		}
	}
	v, err := d.UpdateDocument(ctx, in.Who, in.Dataset, in.ID, app.DocumentPatch{
		Name: b.Name, Method: b.Method, Config: rawOf(b.Config), Pipeline: b.Pipeline, Enabled: b.Enabled,
		Meta: b.Metadata,
	})
	return documentViewOf(v), nameTaken(err, "document of the dataset")
}

// isExists reports whether a name is taken.
func isExists(err error) bool { return errors.Is(err, app.ErrExists) }

func (d datasets) removeDocument(ctx context.Context, in documentByID) (empty, error) {
	n, err := d.DeleteDocuments(ctx, in.Who, in.Dataset, in.ID)
	if err == nil && n == 0 {
		err = app.Missing("document")
	}
	return empty{}, err
}

type documentIDs struct {
	Documents []string `json:"documents" jsonschema:"document ids"`
}

type parseDocuments struct {
	Who     app.Principal
	Dataset string `path:"dataset"`
	Body    documentIDs
}

// refusedDocuments counts the documents of a request, and lists those that were skipped.
type refusedDocuments struct {
	Accepted int               `json:"accepted"`
	Refused  []refusedDocument `json:"refused" jsonschema:"documents that were skipped"`
}

type refusedDocument struct {
	Document string `json:"document"`
	Code     string `json:"code" jsonschema:"not_found or changed"`
	Message  string `json:"message"`
}

func (d datasets) parse(ctx context.Context, in parseDocuments) (refusedDocuments, error) {
	return d.each(ctx, in, d.Parse)
}

func (d datasets) cancel(ctx context.Context, in parseDocuments) (refusedDocuments, error) {
	return d.each(ctx, in, d.Stop)
}

// each does something with documents; those for which it cannot be done do not keep the others from
// it.
func (d datasets) each(
	ctx context.Context, in parseDocuments,
	do func(ctx context.Context, p app.Principal, id string, documents ...string) error,
) (refusedDocuments, error) {
	out := refusedDocuments{Refused: []refusedDocument{}}
	ids := slices.Compact(slices.Sorted(slices.Values(in.Body.Documents)))
	if len(ids) == 0 {
		return out, badMember("documents", "documents must name one at least")
	}
	if _, err := d.Get(ctx, in.Who, in.Dataset); err != nil {
		return out, err
	}
	for _, id := range ids {
		err := do(ctx, in.Who, in.Dataset, id)
		var refused *app.Error
		switch {
		case err == nil:
			out.Accepted++
		case errors.As(err, &refused):
			out.Refused = append(out.Refused, refusedDocument{id, refused.Code, refused.Message})
		case errors.Is(err, app.ErrConflict):
			out.Refused = append(out.Refused, refusedDocument{id, app.CodeChanged, err.Error()})
		default:
			return out, err
		}
	}
	return out, nil
}

type updateDocuments struct {
	Who     app.Principal
	Dataset string `path:"dataset"`
	Body    documentsPatch
}

type documentsPatch struct {
	Documents []string `json:"documents" jsonschema:"document ids"`
	Method    *string  `json:"method,omitempty"`
	Config    *object  `json:"config,omitempty" jsonschema:"settings of the chunk method; replaces all"`
	Pipeline  *string  `json:"pipeline,omitempty"`
	Enabled   *bool    `json:"enabled,omitempty"`
	Parse     bool     `json:"parse,omitempty" jsonschema:"queue the documents for parsing"`
}

func (e datasetEdits) updateDocuments(ctx context.Context, in updateDocuments) (refusedDocuments, error) {
	b := in.Body
	if err := checkCut(ctx, e.in, in.Who, b.Method, b.Pipeline); err != nil {
		return refusedDocuments{}, err
	}
	patch := app.DocumentPatch{Method: b.Method, Config: rawOf(b.Config), Pipeline: b.Pipeline, Enabled: b.Enabled}
	if patch == (app.DocumentPatch{}) && !b.Parse {
		return refusedDocuments{}, badMember("documents", "nothing to change; expected a member other than documents")
	}
	request := parseDocuments{in.Who, in.Dataset, documentIDs{b.Documents}}
	return e.in.each(ctx, request, func(ctx context.Context, p app.Principal, id string, documents ...string) error {
		if patch != (app.DocumentPatch{}) {
			if _, err := e.in.UpdateDocument(ctx, p, id, documents[0], patch); err != nil {
				return err
			}
		}
		if !b.Parse {
			return nil
		}
		return e.in.Parse(ctx, p, id, documents...)
	})
}

func (e datasetEdits) removeDocuments(ctx context.Context, in parseDocuments) (refusedDocuments, error) {
	return e.in.each(ctx, in, func(ctx context.Context, p app.Principal, id string, documents ...string) error {
		n, err := e.in.DeleteDocuments(ctx, p, id, documents...)
		if err == nil && n == 0 {
			err = app.Missing("document")
		}
		return err
	})
}

// checkCut refuses a chunk method that does not exist, and a pipeline that is no pipeline of the
// caller.
func checkCut(ctx context.Context, d datasets, who app.Principal, method, pipeline *string) error {
	if method != nil && *method != "" && !slices.Contains(d.Methods(), *method) {
		return badMember("method", "unknown chunk method %.40q (one of %s)", *method, strings.Join(d.Methods(), ", "))
	}
	if pipeline == nil {
		return nil
	}
	return d.canvases.CheckPipeline(ctx, who, *pipeline)
}

type previewChunks struct {
	Who     app.Principal
	Dataset string `path:"dataset"`
	ID      string `path:"document"`
	Body    previewInput
}

type previewInput struct {
	Method   string  `json:"method,omitempty"`
	Config   *object `json:"config,omitempty" jsonschema:"settings of the chunk method"`
	Pipeline string  `json:"pipeline,omitempty" jsonschema:"id of the pipeline that cuts instead of a method"`
}

type previewView struct {
	Items  []previewedChunk `json:"items" jsonschema:"the first chunks"`
	Total  int              `json:"total" jsonschema:"number of all chunks"`
	Tokens int              `json:"tokens" jsonschema:"tokens of all chunks"`
}

type previewedChunk struct {
	Content   string   `json:"content"`
	Kind      string   `json:"kind,omitempty" jsonschema:"text, table or image"`
	Keywords  []string `json:"keywords,omitempty"`
	Questions []string `json:"questions,omitempty"`
	Tokens    int      `json:"tokens"`
}

// mostPreviewed bounds the chunks of a preview.
const mostPreviewed = 50

func (e datasetEdits) preview(ctx context.Context, in previewChunks) (previewView, error) {
	b := in.Body
	if err := checkCut(ctx, e.in, in.Who, &b.Method, &b.Pipeline); err != nil {
		return previewView{}, err
	}
	cut := app.Cut{Method: b.Method, Config: valueOf(rawOf(b.Config)), Pipeline: b.Pipeline}
	made, err := app.PreviewChunks(ctx, e.in.Datasets, in.Who, in.Dataset, in.ID, cut, mostPreviewed)
	if err != nil {
		return previewView{}, err
	}
	out := previewView{Items: make([]previewedChunk, len(made.Pieces)), Total: made.Total, Tokens: made.Tokens}
	for i := range made.Pieces {
		p := &made.Pieces[i]
		out.Items[i] = previewedChunk{p.Content, p.Kind, p.Keywords, p.Questions, p.Tokens}
	}
	return out, nil
}

func (d datasets) content(ctx context.Context, in documentByID) (api.File, error) {
	file, v, err := d.Open(ctx, in.Who, in.Dataset, in.ID)
	return api.File{Name: v.Name, Size: v.Size, Content: file}, err
}
