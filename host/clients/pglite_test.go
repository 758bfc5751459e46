package clients

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postgres"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
)

// The index in PostgreSQL passes its suite with vectors in columns of the real pgvector.
func TestIndexOnPGVector(t *testing.T) {
	x, _ := pgliteIndex(t)
	indextest.Run(t, func(t *testing.T) index.Index {
		keys, err := x.Datasets(t.Context())
		require.NoError(t, err)
		for _, key := range keys {
			require.NoError(t, x.Drop(t.Context(), key))
		}
		return x
	})
}

// TestScaleOnPGVector measures searches with the real pgvector, compiled to WebAssembly, against a
// comparison of all vectors.
func TestScaleOnPGVector(t *testing.T) {
	const dims, ds = 384, "tenant/many"
	n := indextest.ScaleChunks(t)
	x, url := pgliteIndex(t)
	require.NoError(t, x.Create(t.Context(), ds, index.Settings{}))
	for d := range indextest.NewCorpus(1).Documents(n, dims) {
		require.NoError(t, x.Replace(t.Context(), ds, d))
	}
	indextest.Searches(t, &indextest.Scale{Index: x, Dataset: ds, Chunks: n, Dims: dims})
	require.NoError(t, x.Close())
	conn, err := pgx.Connect(t.Context(), strings.ReplaceAll(url, "&pool_max_conns=1", ""))
	require.NoError(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	c := indextest.NewCorpus(4)
	for range 5 {
		q := strings.ReplaceAll(strings.Trim(fmt.Sprint(c.Vector(dims)), "[]"), " ", ",")
		began := time.Now()
		_, err := conn.Exec(t.Context(), `SELECT chunk, -(vector <#> $1::text::vector) FROM easel_index.vectors
			ORDER BY vector <#> $1::text::vector LIMIT 1024`, "["+q+"]")
		require.NoError(t, err)
		t.Logf("all vectors compared by pgvector: %v", time.Since(began).Round(time.Millisecond))
	}
}

// pgliteIndex opens an index in a new server, which has its address.
func pgliteIndex(t *testing.T) (x *postgres.Index, url string) {
	needNode(t)
	port := make(chan string, 1)
	start(t, exec.Command("node", "pglite.mjs"), func(line string) {
		if v, ok := strings.CutPrefix(line, "port: "); ok {
			port <- v
		}
	})
	// One session of the server is behind all connections, so there is only one.
	url = fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable&pool_max_conns=1",
		await(t, "the port of PGlite", port))
	x, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	require.Contains(t, x.String(), "vectors by pgvector 0.")
	return x, url
}
