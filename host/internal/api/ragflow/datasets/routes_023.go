package datasets

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
)

// ownRoutes are those that only version 0.23 has: the interface of its page, and indexes over whole
// datasets under their older names.
func (older) ownRoutes(f *face) []api.Route {
	rest := restHandlers{f}
	list := append(webDatasetRoutes(f), webDocumentRoutes(f)...)
	list = append(list, webChunkRoutes(f)...)
	list = append(list, emptyIDRoutes(olderRefusals)...)
	list = append(list, get(one+"/knowledge_graph", rest.graph),
		bodiless("DELETE", one+"/knowledge_graph", rest.deleteGraph))
	for _, kind := range []string{"graphrag", "raptor"} {
		list = append(list, bodiless("POST", one+"/run_"+kind, rest.runOlder(kind)),
			get(one+"/trace_"+kind, rest.traceOlder))
	}
	return list
}

// runOlder refuses to build an index over a dataset.
func (f restHandlers) runOlder(kind string) api.Handler {
	return func(ctx context.Context, r *api.Request) (api.Response, error) {
		if _, err := f.pathDataset(ctx, r); err != nil {
			return nil, err
		}
		return nil, noIndex(kind)
	}
}

func (f restHandlers) traceOlder(ctx context.Context, r *api.Request) (api.Response, error) {
	_, err := f.pathDataset(ctx, r)
	return ok(engine.Object(), err)
}

func (f restHandlers) deleteGraph(ctx context.Context, r *api.Request) (api.Response, error) {
	_, err := f.pathDataset(ctx, r)
	return ok(engine.Bool(true), err)
}
