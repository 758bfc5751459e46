package runs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

func TestOldRunsAreForgotten(t *testing.T) {
	b := newBench(t)
	b.only(drop) // the test forgets by itself
	canvas := b.Canvas(runstest.Talk)
	var ids []string
	for range 3 {
		j, err := b.runs.Start(t.Context(), Job{Tenant: "t", Canvas: canvas})
		require.NoError(t, err)
		ids = append(ids, j.ID)
	}
	listed := func() (n int) {
		_, n, err := b.Store.Runs.List(
			t.Context(), store.RunFilter{Tenant: "t", Status: store.RunDone}, store.Page{Limit: 1},
		)
		require.NoError(t, err)
		return n
	}
	require.Eventually(t, func() bool { return listed() == len(ids) }, runstest.Patience, 10*time.Millisecond)
	b.runs.history.keep = time.Hour
	require.NoError(t, b.runs.history.forgetOld(t.Context()))
	require.Equal(t, len(ids), listed())
	b.runs.history.keep = time.Nanosecond
	require.Eventually(t, func() bool {
		require.NoError(t, b.runs.history.forgetOld(t.Context()))
		return listed() == 0
	}, runstest.Patience, 10*time.Millisecond)
}
