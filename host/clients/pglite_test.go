package clients

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/indextest"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postgres"
)

// The index in PostgreSQL passes its suite with vectors in columns of the real pgvector.
func TestIndexOnPGVector(t *testing.T) {
	needNode(t)
	port := make(chan string, 1)
	start(t, exec.Command("node", "pglite.mjs"), func(line string) {
		if v, ok := strings.CutPrefix(line, "port: "); ok {
			port <- v
		}
	})
	// One session of the server is behind all connections, so there is only one.
	url := fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable&pool_max_conns=1",
		await(t, "the port of PGlite", port))
	x, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	require.Contains(t, x.String(), "vectors by pgvector 0.")
	indextest.Run(t, func(t *testing.T) index.Index {
		keys, err := x.Datasets(t.Context())
		require.NoError(t, err)
		for _, key := range keys {
			require.NoError(t, x.Drop(t.Context(), key))
		}
		return x
	})
}
