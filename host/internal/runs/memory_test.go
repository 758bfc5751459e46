package runs

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// largeWaiting is the canvas waiting with n bytes more.
func largeWaiting(n int) string {
	return strings.Replace(runstest.Waiting, `"content":["first"]`, fmt.Sprintf(`"content":[%q]`, strings.Repeat("x", n)), 1)
}

// documents sets a budget with room for one and a half documents.
func (b *bench) documents(doc string) *memlimit.Budget {
	budget := memlimit.New("canvases of runs", documentSize([]byte(doc))*3/2)
	b.runs.memory = budget
	return budget
}

func TestLargeDocumentIsReservedUntilItsRunEnds(t *testing.T) {
	for _, keep := range []Keep{KeepNothing, KeepCanvas, KeepSession} {
		t.Run("keep "+string(keep), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			doc := largeWaiting(1 << 20)
			budget := b.documents(doc)
			large, small := b.Canvas(doc), b.Canvas(runstest.Waiting)
			j := Job{Canvas: large, Keep: keep}
			if keep == KeepSession {
				j.Session = b.Session(large, doc)
			}
			first := b.start(j)
			require.GreaterOrEqual(t, budget.Used(), int64(documentCopies<<20))
			held := budget.Used()

			// A second one finds no room and writes nothing; a small one does not wait.
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := b.runs.Start(ctx, Job{ID: "refused", Tenant: "t", Canvas: large})
			require.ErrorIs(t, err, ErrMemory)
			require.Equal(t, "host_memory", CodeOf(err))
			_, err = b.Store.Runs.Get(t.Context(), "t", "refused")
			require.ErrorIs(t, err, store.ErrNotFound)
			second := b.start(Job{Canvas: small})
			require.Equal(t, held, budget.Used())

			b.Gate <- struct{}{}
			b.Gate <- struct{}{}
			for _, run := range []string{first.ID, second.ID} {
				require.NoError(t, b.runs.Follow(t.Context(), run, runlog.Pos{}, func(runlog.Record) bool { return true }))
			}
			require.Eventually(t, func() bool { return budget.Used() <= int64(cachedCopies*len(doc)) }, runstest.Patience, time.Millisecond,
				"only what the log's server caches")
		})
	}
}

func TestDocumentLargerThanBudgetIsRefused(t *testing.T) {
	b := newBench(t)
	doc := largeWaiting(1 << 20)
	budget := memlimit.New("canvases of runs", 1<<20)
	b.runs.memory = budget
	_, err := b.runs.Start(t.Context(), Job{Tenant: "t", Canvas: b.Canvas(doc)})
	require.ErrorIs(t, err, ErrTooLarge)
	require.NotErrorIs(t, err, ErrMemory)
	require.Equal(t, "host_memory", CodeOf(err))
	require.Zero(t, budget.Used())
}

// A queued run waits for the memory of its document, and runs when there is room.
func TestQueuedRunWaitsForMemoryOfItsDocument(t *testing.T) {
	b := newBench(t)
	doc := largeWaiting(1 << 20)
	budget := b.documents(doc)
	other := budget.Open()
	require.NoError(t, other.Grow(budget.Size()))
	canvas := b.Canvas(doc)
	require.NoError(t, b.Log.Submit(t.Context(), runlog.Run{ID: "late", Data: []byte(`{"id":"late","tenant":"t","canvas":"` + canvas + `"}`)}))
	b.Gate <- struct{}{}
	require.Eventually(t, func() bool {
		row, err := b.Store.Runs.Get(t.Context(), "t", "late")
		return err == nil && row.Status == store.RunActive
	}, runstest.Patience, time.Millisecond)
	require.Zero(t, b.Ran.Load())
	other.Close()
	require.NoError(t, b.runs.Follow(t.Context(), "late", runlog.Pos{}, func(runlog.Record) bool { return true }))
	require.EqualValues(t, 1, b.Ran.Load())
}

func TestSmallDocumentNeedsNoMemoryOfBudget(t *testing.T) {
	require.Zero(t, documentSize(make([]byte, smallDocument)))
	require.Greater(t, documentSize([]byte(largeWaiting(smallDocument))), int64(documentCopies*smallDocument))
}
