package runs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// A host under heavy load may need longer between writing a run down and claiming it than the scan
// for lost runs allows; the run is then claimed from the queue first.
func TestStartOfARunThatTheQueueClaimedFirst(t *testing.T) {
	b := newBench(t)
	c := b.Canvas(runstest.Talk)
	s := b.Session(c, runstest.Talk)
	for _, j := range []Job{
		{ID: "turn", Tenant: "t", Canvas: c, Session: s, Keep: KeepSession, User: "u"},
		{ID: "alone", Tenant: "t", Canvas: c, User: "u"},
	} {
		lease, err := b.Log.Claim(t.Context(), runlog.Run{ID: j.ID, Data: []byte("{}")})
		require.NoError(t, err)
		started, err := b.runs.Start(t.Context(), j)
		require.NoError(t, err)
		require.Equal(t, j.ID, started.ID)
		row, err := b.Store.Runs.Get(t.Context(), "t", j.ID)
		require.NoError(t, err)
		require.Equal(t, store.RunActive, row.Status, "the run that is worked on was ended: %s", row.Error)
		require.NoError(t, lease.End(t.Context()))
	}
}
