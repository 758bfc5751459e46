package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/pipeline"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// runPipeline chunks a document of a dataset with a canvas of the tenant. It uses the draft,
// because pipelines are not published. A rerun has its own canvas, with the outputs of the nodes
// before the one where it starts.
func (h *Host) runPipeline(ctx context.Context, in ingest.Input) (*pipeline.Result, error) {
	stored, err := h.store.Canvases.Get(ctx, in.Tenant, in.Pipeline)
	doc := stored.DSL
	if in.Rerun != nil && (err == nil || errors.Is(err, store.ErrNotFound)) {
		doc, err = in.Rerun.Canvas, nil
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil, fmt.Errorf("pipeline %q: no such canvas in this tenant", in.Pipeline)
	}
	if err != nil {
		return nil, err
	}
	canvas, err := h.runs.Load(doc)
	if err != nil {
		return nil, err
	}
	ports := h.ports(&runs.Job{Tenant: in.Tenant})
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
