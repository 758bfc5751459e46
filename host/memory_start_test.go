package host

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// fill lets runs take memory until none is left, in steps of the engine.
func fill(t *testing.T, m *runMemory, runs int) []*runAccount {
	t.Helper()
	accounts := make([]*runAccount, runs)
	for i := range accounts {
		accounts[i] = m.open(fmt.Sprintf("large%d", i))
		require.NoError(t, accounts[i].Grow(2<<20/int64(runs)))
	}
	for full := 0; full < runs; {
		full = 0
		for _, a := range accounts {
			if a.Grow(64<<10) != nil {
				full++
			}
		}
	}
	return accounts
}

// runOf runs a canvas of one message with the memory of a separate run.
func runOf(t *testing.T, m *runMemory, id string) error {
	t.Helper()
	registry, err := engine.NewRegistry(component.Builtin()...)
	require.NoError(t, err)
	canvas, err := engine.Load(registry, sketch.Bytes("begin Begin -> M", `M Message {"content":["fine"]}`))
	require.NoError(t, err)
	opt := engine.Options{Ports: engine.Ports{Budget: m.open(id)}}
	for _, err := range canvas.Run(t.Context(), canvas.State(), engine.Input{}, opt) {
		if err != nil {
			return err
		}
	}
	return nil
}

func TestRunStartsWhileGrowingRunsHoldTheirShare(t *testing.T) {
	m := memoryOf(&memlimit.Usage{}, "")
	fill(t, m, 8)
	for i := range 8 {
		require.NoError(t, runOf(t, m, fmt.Sprint("small", i)))
	}
}

func TestStartWaitsForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memoryOf(&memlimit.Usage{}, "")
		var small []*runAccount
		for {
			a := m.open(fmt.Sprint("small", len(small)))
			if a.held.Grow(smallRun) != nil {
				break
			}
			small = append(small, a)
		}
		began := time.Now()
		done := make(chan error, 1)
		go func() { done <- runOf(t, m, "late") }()
		synctest.Wait()
		require.Empty(t, done, "the start waits")
		time.Sleep(time.Second)
		for _, a := range small[:2] {
			a.held.Close()
		}
		require.NoError(t, <-done)
		require.Equal(t, time.Second, time.Since(began))

		for _, a := range small[:2] {
			a.held = m.budget.Open()
			require.NoError(t, a.held.Grow(smallRun))
		}
		began = time.Now()
		require.ErrorIs(t, runOf(t, m, "refused"), engine.ErrHostMemory)
		require.Equal(t, memoryPatience, time.Since(began))
	})
}

func TestGrowingRunDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := memoryOf(&memlimit.Usage{}, "")
		large := fill(t, m, 2)
		began := time.Now()
		require.ErrorIs(t, large[0].Grow(64<<10), memlimit.ErrFull)
		require.Zero(t, time.Since(began), "waiting for each other does not free memory")
	})
}
