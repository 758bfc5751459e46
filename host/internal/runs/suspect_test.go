package runs

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/runlog"
)

func TestSuspectedRunsExecuteOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(Config{Logger: slog.New(slog.DiscardHandler)})
		for range 3 {
			leave, ok := r.Gate(runlog.Run{ID: "once", Failures: 1})
			require.True(t, ok, "one death says little")
			leave()
		}
		leave, ok := r.Gate(runlog.Run{ID: "a", Failures: 2})
		require.True(t, ok)
		_, ok = r.Gate(runlog.Run{ID: "b", Failures: 2})
		require.False(t, ok)
		_, ok = r.Gate(runlog.Run{ID: "c"})
		require.True(t, ok, "others go on")
		leave()
		late, ok := r.Gate(runlog.Run{ID: "b", Failures: 3})
		require.True(t, ok)
		leave() // a second time
		_, ok = r.Gate(runlog.Run{ID: "a", Failures: 2})
		require.False(t, ok)
		// One that lasts holds up no other.
		time.Sleep(quarantine)
		synctest.Wait()
		leave, ok = r.Gate(runlog.Run{ID: "a", Failures: 2})
		require.True(t, ok)
		late()
		_, ok = r.Gate(runlog.Run{ID: "c", Failures: 2})
		require.False(t, ok)
		leave()
	})
}

func TestFullHostRefusesRuns(t *testing.T) {
	full := ErrMemory
	r := New(Config{Logger: slog.New(slog.DiscardHandler), Full: func() error { return full }})
	_, ok := r.Gate(runlog.Run{ID: "a"})
	require.False(t, ok)
	_, err := r.Start(t.Context(), Job{})
	require.ErrorIs(t, err, ErrMemory)
	require.Equal(t, "host_memory", CodeOf(err))
	full = nil
	_, ok = r.Gate(runlog.Run{ID: "a"})
	require.True(t, ok)
	require.False(t, r.Abort("a", errors.New("why")), "it does not work here")
}
