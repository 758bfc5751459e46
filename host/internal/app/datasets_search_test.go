package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// A dataset whose embedding model the host does not have any more is searched by words, and the
// diagnostic begins with the code that clients look for.
func TestSearchWithoutTheModel(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	f.Parsed(ds.ID, "a.txt", "red apples")
	_, err := f.Store.Datasets.Edit(t.Context(), access.All("t"), ds.ID, func(v *store.Dataset) error {
		v.EmbeddingModel, v.Model = "gone@vendor", "gone@vendor"
		return nil
	})
	require.NoError(t, err)
	found, err := f.Search(t.Context(), datasettest.Owner, app.SearchQuery{
		Datasets: []string{ds.ID}, Question: "apples", VectorWeight: 0.5,
	})
	require.NoError(t, err)
	require.Len(t, found.Hits, 1)
	require.Len(t, found.Diagnostics, 1)
	require.Regexp(t, `^unknown_model: .*gone@vendor.*; searched by words only$`, found.Diagnostics[0])
}
