package host

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed/embedtest"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Datasets have the embedding models that they were created with: of the host, or of the tenant's
// providers; and another one after a change.
func TestEmbeddingModelsOfDatasets(t *testing.T) {
	// The vector of a text is its length and that of the name of the model.
	url := embedtest.Serve(t, "", func(model, text string) []float32 {
		return []float32{float32(len(text)), float32(len(model))}
	})
	h, _ := open(t, Config{
		AllowPrivate: true, Embedding: url + "#first," + url + "#other",
		Models: Models{Providers: []model.Provider{{
			Name: "p", BaseURL: url, Models: []model.Entry{{Name: "theirs", Kind: model.KindEmbedding}},
		}}},
	})
	ctx, who, service := t.Context(), app.Principal{Tenant: firstTenantID}, h.datasets.Service
	for _, name := range []string{"", "other@127.0.0.1", "theirs@p"} {
		ds, err := service.Create(ctx, who, dataset.Dataset{Name: "set " + name, EmbeddingModel: name})
		require.NoError(t, err)
		d, err := service.Upload(ctx, who, ds.ID, app.Upload{Name: "a.md", Body: strings.NewReader("Boots and shoes.")})
		require.NoError(t, err)
		require.NoError(t, service.Parse(ctx, who, ds.ID, d.ID))
		finds := func(model string) func() bool {
			return func() bool {
				now, err := service.Get(ctx, who, ds.ID)
				require.NoError(t, err)
				r, err := service.Search(ctx, who, app.SearchQuery{
					Datasets: []string{ds.ID}, Question: "shoes", VectorWeight: 0.5,
				})
				require.NoError(t, err)
				require.Empty(t, r.Diagnostics)
				return now.EmbeddingModel == model && len(r.Hits) == 1 && r.Hits[0].Vector > 0
			}
		}
		want := name
		if name == "" {
			want = "first@127.0.0.1"
		}
		require.Eventually(t, finds(want), patience, 5*time.Millisecond, name)
		next := "first@127.0.0.1"
		_, err = service.Update(ctx, who, ds.ID, app.DatasetPatch{EmbeddingModel: &next})
		require.NoError(t, err)
		require.Eventually(t, finds(next), patience, 5*time.Millisecond, name)
	}
	_, err := service.Create(ctx, who, dataset.Dataset{Name: "x", EmbeddingModel: "theirs@elsewhere"})
	require.EqualError(t, err, "Unsupported model: <theirs@elsewhere>")
}
