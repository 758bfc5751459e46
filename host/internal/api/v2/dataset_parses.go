package v2

import (
	"context"
	"encoding/json"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Paths of parses.
const (
	allParses = oneDataset + "/parses"
	oneParse  = allParses + "/{parse}"
)

func (d datasets) parseOperations() []operation {
	return []operation{
		handle(operation{
			method: "GET", path: allParses, body: api.BodyNone, scope: app.ScopeRead, name: "listParses",
			about: "List how parses of the documents of a dataset ended, newest first. The last 1000 are kept.",
		}, d.listParses),
		handle(operation{
			method: "GET", path: oneParse, body: api.BodyNone, scope: app.ScopeRead, name: "getParse",
			about: "Get a parse with the pipeline that ran, if it is the newest one of its document.",
		}, d.getParse),
		handle(operation{
			method: "POST", path: oneParse + "/rerun", body: api.BodyCanvas, scope: app.ScopeEdit, name: "rerunParse",
			about: "Queue the document again, with its pipeline starting at a node. Searches find the old chunks " +
				"until the new ones are complete.",
		}, d.rerunParse),
	}
}

type parseView struct {
	ID       string        `json:"id"`
	Document string        `json:"document"`
	Name     string        `json:"document_name"`
	Method   string        `json:"method"`
	Pipeline string        `json:"pipeline,omitempty"`
	Title    string        `json:"pipeline_title,omitempty"`
	Node     string        `json:"node,omitempty" jsonschema:"node that the pipeline started at, if not the first"`
	State    dataset.State `json:"state" jsonschema:"done, failed or canceled"`
	Messages string        `json:"messages"`
	Chunks   int           `json:"chunks" jsonschema:"chunks of the document afterwards"`
	TookMS   int64         `json:"took_ms"`
	Began    *time.Time    `json:"began,omitempty" jsonschema:"absent if it was canceled in the queue"`
	Ended    time.Time     `json:"ended"`
	Canvas   engine.Value  `json:"canvas,omitzero" jsonschema:"the pipeline with the outputs of its nodes"`
}

type parseList struct {
	Items []parseView `json:"items"`
	Total int         `json:"total" jsonschema:"number of matches on all pages"`
}

func parseViewOf(v *dataset.ParseLog) parseView {
	out := parseView{
		ID: v.ID, Document: v.Document, Name: v.Name, Method: v.Method, Pipeline: v.Pipeline, Title: v.Title,
		Node: v.Node, State: v.State, Messages: v.Messages, Chunks: v.Chunks, TookMS: v.Duration,
		Began: timeOrNil(v.Began), Ended: timeOf(v.Created),
	}
	if len(v.Canvas) > 0 {
		out.Canvas = api.DocumentOf(v.Canvas)
	}
	return out
}

type listParses struct {
	Who      app.Principal
	Dataset  string   `path:"dataset"`
	Document string   `query:"document" jsonschema:"only parses of this document"`
	Words    string   `query:"words" jsonschema:"only documents with these words in the name"`
	State    string   `query:"state" jsonschema:"only parses with one of these states, separated by commas"`
	Page     app.Page `order:"create_time"`
}

func (d datasets) listParses(ctx context.Context, in listParses) (parseList, error) {
	q := app.ParseLogList{
		Document: in.Document, Words: in.Words, Page: pageNumber(in.Page), Size: in.Page.Limit, Ascending: in.Page.Asc,
	}
	var err error
	if q.States, err = statesOf(in.State); err != nil {
		return parseList{}, err
	}
	rows, total, err := app.Parses{Datasets: d.Datasets}.List(ctx, in.Who, in.Dataset, q)
	out := parseList{Items: make([]parseView, len(rows)), Total: total}
	for i := range rows {
		out.Items[i] = parseViewOf(&rows[i])
	}
	return out, err
}

type parseByID struct {
	Who     app.Principal
	Dataset string `path:"dataset"`
	ID      string `path:"parse"`
}

func (d datasets) getParse(ctx context.Context, in parseByID) (parseView, error) {
	v, err := app.Parses{Datasets: d.Datasets}.Get(ctx, in.Who, in.ID)
	if err == nil && v.Dataset != in.Dataset {
		err = app.Missing("parse")
	}
	return parseViewOf(&v), err
}

type rerunParse struct {
	Who     app.Principal
	Dataset string `path:"dataset"`
	ID      string `path:"parse"`
	Body    rerunInPipeline
}

type rerunInPipeline struct {
	Node   string  `json:"node" jsonschema:"node of the pipeline to start at"`
	Canvas *object `json:"canvas,omitempty" jsonschema:"pipeline with outputs of nodes; default that of the parse"`
}

func (d datasets) rerunParse(ctx context.Context, in rerunParse) (empty, error) {
	if _, err := d.getParse(ctx, parseByID{in.Who, in.Dataset, in.ID}); err != nil {
		return empty{}, err
	}
	if in.Body.Node == "" {
		return empty{}, badMember("node", "node must name a node of the pipeline")
	}
	var canvas json.RawMessage
	if raw := rawOf(in.Body.Canvas); raw != nil {
		canvas = *raw
	}
	return empty{}, app.Parses{Datasets: d.Datasets}.Rerun(ctx, in.Who, in.ID, in.Body.Node, canvas)
}
