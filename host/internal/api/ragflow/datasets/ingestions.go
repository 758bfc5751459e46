package datasets

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// ingestionHandlers answer about the parses of documents, and about the embedding of datasets.
type ingestionHandlers struct{ *face }

// summarize counts what a dataset holds, and its documents by state.
func (f ingestionHandlers) summarize(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	counts, err := f.countStates(ctx, r, v.ID)
	return jsonOK(engine.Object("doc_num", v.Documents, "chunk_num", v.Chunks, "token_num", v.Tokens,
		"status", counts), err)
}

// countStates counts the documents of a dataset by state.
func (f ingestionHandlers) countStates(ctx context.Context, r *api.Request, id string) (engine.Value, error) {
	counts := map[string]int{}
	for _, one := range states {
		q := app.DocumentList{States: []dataset.State{one.state}, Page: 1, Size: 1}
		_, n, err := f.data.Documents(ctx, r.Who, id, q)
		if err != nil {
			return engine.Null, err
		}
		counts[one.name] += n
	}
	b := engine.NewObject(len(counts))
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		b.Set(strings.ToLower(name), engine.Int(int64(counts[name])))
	}
	return b.Value(), nil
}

// list lists how the parses of a dataset ended.
func (f ingestionHandlers) list(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	return f.parseLogs(ctx, r, v.ID, r.Query.Get("log_type") == "dataset")
}

// parseLogs answers the logs of parses. Tasks over a whole dataset are none: this host has no
// knowledge graphs.
func (f ingestionHandlers) parseLogs(ctx context.Context, r *api.Request, id string, whole bool) (api.Response, error) {
	q, err := f.parseLogQuery(r)
	if err != nil {
		return nil, err
	}
	if whole {
		return envelope.OK(engine.Object("total", 0, "logs", none)), nil
	}
	list, total, err := app.Parses{Datasets: f.data}.List(ctx, r.Who, id, q)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(list))
	for i := range list {
		rows[i] = parseLog(&list[i])
	}
	return envelope.OK(engine.Object("total", total, "logs", engine.List(rows...))), nil
}

// parseLogQuery reads which logs a request lists: from its query, and from the body of the older
// page.
func (f ingestionHandlers) parseLogQuery(r *api.Request) (q app.ParseLogList, err error) {
	if r.HTTP.Method == http.MethodPost {
		if err := f.loose(r); err != nil {
			return q, err
		}
	}
	names := func(name string) (list []string) {
		for _, value := range r.Query.Values[name] { // repeated, or with commas
			list = append(list, strings.FieldsFunc(value, func(c rune) bool { return c == ',' })...)
		}
		return append(list, r.Body.Texts(name)...)
	}
	q = app.ParseLogList{
		Words: r.Query.Get("keywords"), Suffixes: names("suffix"), Kinds: names("types"),
		Ascending: !r.Query.Asked("desc", true),
	}
	for _, status := range names("operation_status") {
		state, err := stateOf(status)
		if err != nil {
			return q, err
		}
		q.States = append(q.States, state...)
	}
	if err := r.Body.Valid(); err != nil {
		return q, err
	}
	if q.From, err = dateOf(r.Query.Get("create_date_from"), 0); err != nil {
		return q, err
	}
	if q.To, err = dateOf(r.Query.Get("create_date_to"), dayLength-1); err != nil {
		return q, err
	}
	if q.From > 0 && q.To > 0 && q.From > q.To {
		return q, failed("Create data filter is abnormal.")
	}
	q.Page, q.Size, err = f.page(r.Query)
	return q, err
}

// stateOf reads the name or the digit of a state.
func stateOf(status string) (list []dataset.State, err error) {
	for _, one := range states {
		if status == one.digit || strings.EqualFold(status, one.name) {
			list = append(list, one.state)
		}
	}
	if len(list) == 0 {
		return nil, failed("Invalid filter operation_status status conditions: %.40s", status)
	}
	return list, nil
}

// dayLength is a day in milliseconds.
const dayLength = 24 * 60 * 60 * 1000

// dateOf reads a date, to which rest is added, or a time; "" is 0.
func dateOf(text string, rest int64) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at.UnixMilli() + rest, nil
	}
	for _, layout := range []string{time.DateTime, "2006-01-02T15:04:05", time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UnixMilli(), nil
		}
	}
	return 0, failed("%.40q: expected a date such as 2026-01-31 or 2026-01-31 12:00:00", text)
}

// parseLog is the row of an ended parse, without the canvas.
func parseLog(v *dataset.ParseLog) engine.Value {
	_, digit := stateName(v.State)
	title := v.Title
	if title == "" {
		title = v.Method
	}
	b := engine.NewObject(24)
	b.Set("id", engine.String(v.ID)).Set("document_id", engine.String(v.Document))
	b.Set("document_name", engine.String(v.Name)).Set("document_suffix", engine.String(suffix(v.Name)))
	b.Set("document_type", engine.String(v.Kind)).Set("kb_id", engine.String(v.Dataset))
	b.Set("parser_id", engine.String(v.Method)).Set("pipeline_id", api.OrNull(v.Pipeline))
	b.Set("pipeline_title", engine.String(title)).Set("task_type", engine.String("Parse"))
	b.Set("source_from", engine.String(v.Source)).Set("operation_status", engine.String(digit))
	b.Set("progress", engine.Float(v.Progress)).Set("progress_msg", engine.String(v.Messages))
	b.Set("process_duration", engine.Float(float64(v.Duration)/1000)).Set("dsl", engine.Object())
	began := engine.Null
	if v.Began > 0 {
		began = api.HTTPDate(v.Began)
	}
	b.Set("process_begin_at", began).Set("status", engine.String("1"))
	api.SetTimes(b, v.Created, v.Created)
	return b.Value()
}

// lastParse is the last parse of a document, for clients that know only the document.
func lastParse(v *dataset.Document) *dataset.ParseLog {
	return &dataset.ParseLog{
		ID: v.ID, Dataset: v.Dataset, Document: v.ID, Name: v.Name, Kind: v.Kind, Source: v.Source, Method: v.Method,
		Pipeline: v.Pipeline, State: v.State, Progress: v.Progress, Messages: v.Messages, Chunks: v.Chunks,
		Began: v.Began, Duration: v.Duration, Created: v.Updated,
	}
}

// anyLog answers a log by its id, or the last parse of the document with that id.
func (f ingestionHandlers) anyLog(ctx context.Context, r *api.Request, id string, none error) (api.Response, error) {
	v, err := app.Parses{Datasets: f.data}.Get(ctx, r.Who, id)
	if errors.Is(err, app.ErrNotFound) {
		var document dataset.Document
		document, err = f.data.Find(ctx, r.Who, id)
		v = *lastParse(&document)
	}
	if err != nil {
		return nil, orNone(err, none)
	}
	row := parseLog(&v)
	if len(v.Canvas) > 0 {
		row = row.With("dsl", api.DocumentOf(v.Canvas))
	}
	return envelope.OK(row), nil
}

func (f ingestionHandlers) get(ctx context.Context, r *api.Request) (api.Response, error) {
	if _, err := f.pathDataset(ctx, r); err != nil {
		return nil, err
	}
	return f.anyLog(ctx, r, r.Params["log"], failed("Pipeline log not found!"))
}

// checkEmbedding reports whether another embedding model may be chosen: chunks are embedded again,
// so any may.
func (f ingestionHandlers) checkEmbedding(ctx context.Context, r *api.Request) (api.Response, error) {
	v, err := f.pathDataset(ctx, r)
	if err != nil {
		return nil, err
	}
	summary := engine.Object("kb_id", v.ID, "sampled", 0, "avg_cos_sim", 1)
	return envelope.OK(engine.Object("summary", summary, "results", none)), nil
}
