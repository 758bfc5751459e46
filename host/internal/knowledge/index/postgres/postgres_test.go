package postgres

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/indextest"
	"github.com/easel-canvas/easel/host/internal/servertest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	servertest.RemoveShared()
	os.Exit(code)
}

// server returns the address of a PostgreSQL from Debian, which has no pgvector.
func server(t testing.TB) string {
	t.Helper()
	s, err := servertest.SharedPostgres()
	if errors.Is(err, servertest.ErrNoPostgres) {
		t.Skip("PostgreSQL cannot be had here: ", err)
	}
	require.NoError(t, err)
	return s.URL
}

var schemas atomic.Int64

// open opens an empty index.
func open(t testing.TB, url string) *Index {
	t.Helper()
	return reopen(t, Config{URL: url, Schema: fmt.Sprintf("index %d", schemas.Add(1))})
}

func reopen(t testing.TB, cfg Config) *Index {
	t.Helper()
	x, err := Open(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	return x
}

func TestSuite(t *testing.T) {
	url := server(t)
	indextest.Run(t, func(t *testing.T) index.Index { return open(t, url) })
}
