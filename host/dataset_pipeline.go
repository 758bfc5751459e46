package host

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/pipeline"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// runPipeline has a canvas of the tenant cut a document of a dataset. It is the draft that counts:
// pipelines are not published.
func (h *Host) runPipeline(ctx context.Context, in ingest.Input) (*pipeline.Result, error) {
	canvases := canvasPort{h.store, func() *runs.Runs { return h.runs }, in.Tenant}
	canvas, err := canvases.Canvas(ctx, in.Pipeline, draft)
	if err != nil {
		return nil, err
	}
	ports := h.ports(&runs.Job{Tenant: in.Tenant})
	ports.Budget = nil // the reader bounds what a document takes
	ports.Parser = sourceParser{&h.documents, in.Source}
	options := pipeline.Options{Options: engine.Options{Ports: ports, TenantID: in.Tenant, Limits: h.cfg.Limits}}
	options.Watch = func(e *engine.Event) {
		if e.Type == engine.EventNodeFinished {
			in.Report("[" + e.Clone().Data().Get("component_name").Text() + "] done.")
		}
	}
	return pipeline.Run(ctx, canvas, engine.Object("name", in.Source.Name), options)
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
