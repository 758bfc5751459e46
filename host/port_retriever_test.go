package host

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// fillDataset makes a dataset of one document for the first tenant.
func fillDataset(t *testing.T, h *Host, name, text string) (ds dataset.Dataset, d dataset.Document) {
	t.Helper()
	ctx, who, service := t.Context(), app.Principal{Tenant: firstTenantID}, h.datasets.Service
	ds, err := service.Create(ctx, who, dataset.Dataset{Name: name})
	require.NoError(t, err)
	d, err = service.Upload(ctx, who, ds.ID, app.Upload{Name: name + ".md", Body: strings.NewReader(text)})
	require.NoError(t, err)
	require.NoError(t, service.Parse(ctx, who, ds.ID, d.ID))
	require.Eventually(t, func() bool {
		now, err := service.Document(ctx, who, ds.ID, d.ID)
		return err == nil && now.State == dataset.Done
	}, patience, 5*time.Millisecond)
	return ds, d
}

// A canvas finds and cites passages of a dataset by its name and by its id, together with those of
// the folder of documents.
func TestCanvasSearchesDatasets(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("examples/knowledge")))
	h, url := open(t, Config{Knowledge: dir, Embedding: "none"})
	ds, d := fillDataset(t, h, "cellar", "# Returns\n\nWine from the cellar can be returned unopened.\n")
	shop, err := examples.ReadFile("examples/shop.json")
	require.NoError(t, err)
	for _, name := range []string{"cellar", "Cellar", ds.ID} {
		var canvas map[string]any
		require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(string(shop), `"shop"`, `"`+name+`"`)), &canvas))
		text, err := json.Marshal(canvas)
		require.NoError(t, err)
		require.Contains(t, said(t, url, "key", saved(t, url, "key", string(text)), "Can wine be returned?"),
			"unopened. [ID:", name)
	}

	of := func(tenant string) *retriever {
		return &retriever{h.datasets.Service, &rights{
			records: h.store, tenant: tenant, actor: access.Actor{As: access.Present},
		}}
	}
	r := of(firstTenantID)
	q := &engine.RetrievalQuery{
		Text: "returned", Datasets: []string{"cellar", "shop"}, TopN: 5, KeywordWeight: 0.5, KnowledgeGraph: true,
		Rerank: "nothing",
	}
	found, err := r.Retrieve(t.Context(), q)
	require.NoError(t, err)
	from := map[string]bool{}
	for _, c := range found.Chunks {
		from[c.Get("kb_id").Text()] = true
	}
	folders, err := h.datasets.Service.Resolve(t.Context(), app.Principal{Tenant: firstTenantID}, "shop")
	require.NoError(t, err)
	require.Equal(t, map[string]bool{ds.ID: true, folders[0].ID: true}, from)
	require.Len(t, found.Diagnostics, 3)
	require.Contains(t, found.Diagnostics[0], "no_vectors: ", "half of the weight is that of vectors")
	require.Contains(t, strings.Join(found.Diagnostics, "\n"), `rerank_id: reranking model "nothing": unknown model`)

	// The dataset of another tenant does not exist.
	_, err = of("other").Retrieve(t.Context(), &engine.RetrievalQuery{Text: "x", Datasets: []string{ds.ID}, TopN: 1})
	require.ErrorContains(t, err, `dataset "`+ds.ID+`" does not exist; there are guides, shop`)

	meta := map[string]any{"year": "2024"}
	_, err = h.datasets.Service.UpdateDocument(t.Context(), app.Principal{Tenant: firstTenantID}, ds.ID, d.ID,
		app.DocumentPatch{Meta: &meta})
	require.NoError(t, err)
	q.Datasets, q.Filter = []string{"cellar"}, engine.Object("method", "manual", "manual",
		engine.List(engine.Object("key", "year", "op", "=", "value", "2023")))
	found, err = r.Retrieve(t.Context(), q)
	require.NoError(t, err)
	require.Empty(t, found.Chunks)
}
