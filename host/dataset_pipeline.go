package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/pipeline"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// pipelineOf returns the canvas that chunks a document, and for whom it acts. It is the draft,
// because pipelines are not published: it acts for the member who chose it, who has to be allowed
// to use it, as far as its author may too. A rerun has its own canvas, with the outputs of the
// nodes before the one where it starts, and acts for the member who asked for it.
func pipelineOf(ctx context.Context, in *ingest.Input, records *store.Store) (store.Canvas, access.Actor, error) {
	by := in.PipelineBy
	if in.Rerun != nil {
		by = in.Rerun.By
	}
	chosen := access.Actor{User: by, As: access.Author}
	viewer, err := (&rights{records: records, tenant: in.Tenant, actor: chosen}).viewer(ctx)
	if err != nil {
		return store.Canvas{}, chosen, err
	}
	c, err := records.Canvases.Get(ctx, in.Tenant, in.Pipeline)
	if err == nil && !viewer.Can(access.Run, c.Access()) {
		c, err = store.Canvas{}, store.ErrNotFound
	}
	switch {
	case in.Rerun != nil && (err == nil || errors.Is(err, store.ErrNotFound)):
		c.DSL = in.Rerun.Canvas
		return c, chosen, nil
	case errors.Is(err, store.ErrNotFound):
		return c, chosen, fmt.Errorf("pipeline %q: no such canvas in this tenant, or the member who chose it has no "+
			"access to it; choose it again", in.Pipeline)
	}
	return c, chosen.Inside(runs.ActorOf(&c)), err
}

// runPipeline chunks a document of a dataset with a canvas of the tenant.
func (h *Host) runPipeline(ctx context.Context, in ingest.Input) (*pipeline.Result, error) {
	stored, actor, err := pipelineOf(ctx, &in, h.store)
	if err != nil {
		return nil, err
	}
	canvas, err := h.runs.Load(stored.DSL)
	if err != nil {
		return nil, err
	}
	ports := h.ports(&runs.Job{Tenant: in.Tenant, Actor: actor})
	ports.Budget = nil // the reader bounds what a document takes
	ports.Parser = sourceParser{&h.documents, in.Source}
	options := pipeline.Options{Options: engine.Options{Ports: ports, TenantID: in.Tenant, Limits: h.cfg.Limits}}
	options.Watch = func(e *engine.Event) {
		if e.Type == engine.EventNodeFinished {
			data := e.Clone().Data()
			// A node that is not in the graph has no name.
			in.Report("[" + cmp.Or(data.Get("component_name").Text(), data.Get("component_id").Text()) + "] done.")
		}
	}
	options.State = canvas.State()
	if in.Rerun != nil {
		options.From = in.Rerun.Node
	}
	result, err := pipeline.Run(ctx, canvas, engine.Object("name", in.Source.Name), options)
	in.Ran(dataset.Ran{Title: stored.Title, Canvas: canvas.Save(options.State)})
	return result, err
}

// sourceParser reads the one document that a pipeline runs on.
type sourceParser struct {
	reader *document.Reader
	source document.Source
}

// Parse implements [engine.Parser].
func (p sourceParser) Parse(ctx context.Context, _ engine.Value, _ engine.ParseOptions) ([]block.Block, error) {
	return p.reader.Blocks(ctx, p.source)
}
