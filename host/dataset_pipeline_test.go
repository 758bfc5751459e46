package host

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// A document of a dataset with a pipeline is chunked by that canvas, whose failures are in the
// messages.
func TestDatasetWithAPipeline(t *testing.T) {
	h, url := open(t, Config{})
	canvas := saved(t, url, "key", lineCutter)
	ctx, who, service := t.Context(), app.Principal{Tenant: firstTenantID, User: firstUserID}, h.datasets.Service
	parsed := func(pipeline, name, text string) dataset.Document {
		ds, err := service.Create(ctx, who, dataset.Dataset{Name: name, Pipeline: pipeline, ParseType: 2})
		require.NoError(t, err)
		d, err := service.Upload(ctx, who, ds.ID, app.Upload{Name: name, Body: strings.NewReader(text)})
		require.NoError(t, err)
		require.NoError(t, service.Parse(ctx, who, ds.ID, d.ID))
		require.Eventually(t, func() bool {
			d, err = service.Document(ctx, who, ds.ID, d.ID)
			require.NoError(t, err)
			return d.State == dataset.Done || d.State == dataset.Failed
		}, patience, 5*time.Millisecond)
		return d
	}
	d := parsed(canvas, "words.md", "one two;three four;five")
	require.Equal(t, dataset.Done, d.State, d.Messages)
	chunks, n, err := service.Chunks(ctx, who, d.Dataset, d.ID, app.ChunkList{Size: 10})
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.Equal(t, "three four", chunks[1].Content)
	require.Contains(t, d.Messages, "Task done")

	d = parsed(strings.Repeat("0", 32), "other.md", "words")
	require.Equal(t, dataset.Failed, d.State)
	require.Contains(t, d.Messages, "no such canvas in this tenant")
}
