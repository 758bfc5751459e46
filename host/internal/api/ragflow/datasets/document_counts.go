package datasets

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// countDocuments counts documents by suffix and by the digit of their state, for lists of filters.
func (f *face) countDocuments(
	ctx context.Context, r *api.Request, id string, q app.DocumentList,
) (api.Response, error) {
	suffixes, runs, total := map[string]int{}, map[string]int{}, 0
	err := f.eachDocument(ctx, r, id, q, func(v dataset.Document) {
		_, digit := stateName(v.State)
		suffixes[suffix(v.Name)]++
		runs[digit]++
		total++
	})
	filter := engine.Object("suffix", counted(suffixes), "run_status", counted(runs), "metadata", engine.Object())
	return jsonOK(engine.Object("filter", filter, "total", total), err)
}
