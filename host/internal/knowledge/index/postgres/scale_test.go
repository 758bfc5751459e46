package postgres

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/indextest"
)

// TestScale measures searches in a PostgreSQL on this machine, which has no pgvector. Processor
// time is that of the host, without the server.
func TestScale(t *testing.T) {
	const dims, ds = 384, "tenant/many"
	n := indextest.ScaleChunks(t)
	x := open(t, server(t))
	require.NoError(t, x.Create(t.Context(), ds, index.Settings{}))
	began := time.Now()
	var batch []index.Document
	for d := range indextest.NewCorpus(1).Documents(n, dims) {
		if batch = append(batch, d); len(batch) == 10 {
			require.NoError(t, x.Replace(t.Context(), ds, batch...))
			batch = nil
		}
	}
	require.NoError(t, x.Replace(t.Context(), ds, batch...))
	t.Logf("%d chunks with vectors: written in %v", n, time.Since(began).Round(time.Second))
	_, err := x.pool.Exec(t.Context(), `ANALYZE`)
	require.NoError(t, err)
	indextest.Searches(t, x, ds, dims, 0, nil)
}
