package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Parses reads the logs of parses.
type Parses struct{ *Datasets }

// ParseLogList selects logs of parses; empty fields match all.
type ParseLogList struct {
	Document        string
	Words           string // substring of the document's name
	States          []dataset.State
	Suffixes, Kinds []string
	From, To        int64 // end of the parse, Unix milliseconds
	Page            int   // from 1
	Size            int   // 0 means 30, a negative value all
	Ascending       bool
}

// List returns a page of the logs of a dataset, newest first, and the number of all that match.
// A folder of this host has none. Errors: [ErrNotFound].
func (d Parses) List(
	ctx context.Context, p Principal, id string, q ParseLogList,
) ([]dataset.ParseLog, int, error) {
	if _, ok := d.watched.key(p, id); ok {
		return nil, 0, nil
	}
	ds, err := d.get(ctx, p, id)
	if err != nil {
		return nil, 0, err
	}
	list, total, err := d.store.ParseLogs.List(ctx, store.ParseLogFilter{
		Tenant: p.Tenant, Dataset: id, Document: q.Document, Words: q.Words, States: q.States, Suffixes: q.Suffixes,
		Kinds: q.Kinds, From: q.From, To: q.To, Gate: gateOf(p, &ds),
	}, pageOf(q.Page, q.Size, "", q.Ascending))
	if err != nil {
		return nil, 0, err
	}
	logs := make([]*dataset.ParseLog, len(list))
	for i := range list {
		logs[i] = &list[i]
	}
	return list, total, hidePipelines(ctx, d, p, logs...)
}

// Get returns a log with the pipeline that ran, without its document and title if the principal may
// not use that canvas. Errors: [ErrNotFound].
func (d Parses) Get(ctx context.Context, p Principal, id string) (dataset.ParseLog, error) {
	v, err := d.store.ParseLogs.Get(ctx, p.Tenant, id)
	if err == nil {
		err = mayReadLog(ctx, d.Datasets, p, &v)
	}
	if err == nil {
		err = hidePipelines(ctx, d, p, &v)
	}
	if err != nil {
		return dataset.ParseLog{}, missing(err, fmt.Sprintf("parse log %q", id))
	}
	return v, nil
}

// hidePipelines removes from logs what is of a pipeline that a principal may not use: a shared
// dataset may have a private one.
func hidePipelines(ctx context.Context, d Parses, p Principal, logs ...*dataset.ParseLog) error {
	mine := map[string]bool{}
	for _, v := range logs {
		if v.Pipeline == "" {
			continue
		}
		if _, known := mine[v.Pipeline]; !known {
			whose, err := d.store.Canvases.Access(ctx, p.Tenant, v.Pipeline)
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			mine[v.Pipeline] = err == nil && p.Viewer().Can(access.Run, whose)
		}
		if !mine[v.Pipeline] {
			v.Canvas, v.Title = nil, ""
		}
	}
	return nil
}

// Rerun queues the document of a log again, with its pipeline starting at a node. canvas is the
// pipeline with the outputs of the nodes before; nil is the one of the log. The old chunks stay
// until the new ones are complete.
//
// Errors: [ErrNotFound]; of [Error], [CodeBadArgument] for the log, the node or the canvas, and
// [CodeChanged] for a document that is queued or running.
func (d Parses) Rerun(ctx context.Context, p Principal, log, node string, canvas json.RawMessage) error {
	v, err := d.Get(ctx, p, log)
	if err != nil {
		return err
	}
	if canvas == nil {
		canvas = v.Canvas
	}
	switch {
	case v.Pipeline == "":
		return &Error{
			CodeBadArgument, fmt.Sprintf("parse log %q is not of a pipeline: parse the document again", log), "log",
		}
	case canvas == nil:
		return &Error{
			CodeBadArgument, fmt.Sprintf("parse log %q has no outputs of nodes any more: only the newest log of a "+
				"document has them", log), "log",
		}
	case len(canvas) > store.LargestPipeline:
		return &Error{CodeBadArgument, fmt.Sprintf("canvas has %d bytes, at most %d are allowed", len(canvas),
			store.LargestPipeline), "canvas"}
	}
	return d.each(ctx, p, v.Dataset, []string{v.Document}, func(document string) error {
		return d.store.Ingestion.Rerun(ctx, p.Tenant, v.Dataset, document, dataset.Rerun{
			Node: node, Canvas: canvas, By: p.User,
		})
	})
}
