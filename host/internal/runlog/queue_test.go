package runlog

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestQueueThatLostMessages checks that after a power loss, when a server may have lost queue
// messages but not their delivery state, new messages are delivered.
func TestQueueThatLostMessages(t *testing.T) {
	dir := t.TempDir()
	work := func(runs ...string) {
		l, err := openLog(t.Context(), setup{Dir: dir})
		require.NoError(t, err)
		done := make(chan string, len(runs))
		go func() {
			_ = l.Work(context.WithoutCancel(t.Context()), func(_ context.Context, e *Lease) error {
				done <- e.Run.ID
				return nil
			})
		}()
		for _, id := range runs {
			require.NoError(t, l.Submit(t.Context(), Run{ID: id}))
			select {
			case got := <-done:
				require.Equal(t, id, got)
			case <-time.After(patience):
				require.FailNow(t, "the run is in the queue and no worker gets it", id)
			}
		}
		require.NoError(t, closeLog(l))
	}
	work("a", "b", "c")
	stream := filepath.Join(dir, "nats", "jetstream", "$G", "streams", "easel_RUNS")
	require.FileExists(t, filepath.Join(stream, "obs", "workers", "o.dat"))
	for _, lost := range []string{"msgs", "meta.inf", "meta.sum"} {
		require.NoError(t, os.RemoveAll(filepath.Join(stream, lost)))
	}
	work("d", "e")
}
