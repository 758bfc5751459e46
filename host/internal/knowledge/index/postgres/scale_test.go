package postgres

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/testing/indextest"
)

// TestScale measures searches in a PostgreSQL on this machine, which has no pgvector. It reports
// the processor time of the host, and of the server process of its connection.
func TestScale(t *testing.T) {
	const dims, ds = 384, "tenant/many"
	n := indextest.ScaleChunks(t)
	x := open(t, server(t)+"&pool_max_conns=1")
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
	var process int
	require.NoError(t, x.pool.QueryRow(t.Context(), `SELECT pg_backend_pid()`).Scan(&process))
	indextest.Searches(t, &indextest.Scale{
		Index: x, Dataset: ds, Chunks: n, Dims: dims, Server: func() time.Duration { return processorTime(process) },
	})
}

// processorTime returns the processor time of a process of this machine; 0 without /proc.
func processorTime(process int) time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	const user, system = 11, 12 // fields behind the name, in hundredths of a second
	fields := strings.Fields(rest)
	var ticks int
	for _, f := range fields[user : system+1] {
		n, _ := strconv.Atoi(f)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
