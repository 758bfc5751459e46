package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/runs"
)

// memoryOf returns the memory of runs in a process with the given usage, of 100 MiB, with its note
// in file.
func memoryOf(usage *memlimit.Usage, file string) *runMemory {
	m := newRunMemory(memlimit.New("runs", 100<<20), 100<<20)
	m.usage, m.file = func() memlimit.Usage { return *usage }, file
	return m
}

func TestGuardEndsLargestRun(t *testing.T) {
	usage := &memlimit.Usage{Live: 50 << 20}
	m := memoryOf(usage, "")
	small, large := m.open("small"), m.open("large")
	require.NoError(t, small.Grow(1<<20))
	require.NoError(t, large.Grow(4<<20))
	end, err := m.watch()
	require.NoError(t, err)
	require.Empty(t, end)
	require.NoError(t, m.Full())

	usage.Live = 80 << 20
	end, err = m.watch()
	require.NoError(t, err)
	require.Equal(t, "large", end)
	require.ErrorIs(t, m.Full(), runs.ErrMemory)
	require.ErrorIs(t, small.Grow(1), errShort, "nothing grows meanwhile")
	require.NoError(t, large.Grow(-4<<20))

	usage.Live = 70 << 20
	_, err = m.watch()
	require.NoError(t, err)
	require.Error(t, m.Full(), "it does not switch to and fro")
	usage.Live = 40 << 20
	_, err = m.watch()
	require.NoError(t, err)
	require.NoError(t, m.Full())
	require.NoError(t, small.Grow(1))
	require.NoError(t, small.Grow(-1<<20-1))
	require.Zero(t, m.budget.Used())
	require.Empty(t, m.accounts)
}

func TestNoteNamesRunsThatHeldMost(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.json")
	usage := &memlimit.Usage{Live: 10 << 20, Resident: 95 << 20}
	m := memoryOf(usage, file)
	require.NoError(t, m.open("small").Grow(100))
	require.NoError(t, m.open("large").Grow(6<<20))
	require.NoError(t, m.open("half").Grow(4<<20))
	for range 2 {
		_, err := m.watch()
		require.NoError(t, err)
		require.NoFileExists(t, file, "garbage is no shortage")
		usage.Live = 60 << 20
		_, err = m.watch()
		require.NoError(t, err)
		require.FileExists(t, file)
		usage.Live = 10 << 20
		_, err = m.watch()
		require.NoError(t, err)
		require.NoFileExists(t, file, "it got better")
	}
	usage.Live = 60 << 20
	_, err := m.watch()
	require.NoError(t, err)

	next := memoryOf(usage, file)
	n, err := next.readNote()
	require.NoError(t, err)
	require.NotNil(t, n)
	require.True(t, next.Suspect("large"))
	require.True(t, next.Suspect("half"))
	require.False(t, next.Suspect("small"))
	require.NoFileExists(t, file, "the next death is another one")

	require.NoError(t, os.WriteFile(file, []byte(`{"limit":1`), 0o600))
	n, err = memoryOf(usage, file).readNote()
	require.NoError(t, err)
	require.Nil(t, n, "a note that was cut off says nothing")
	n, err = memoryOf(usage, file).readNote()
	require.NoError(t, err)
	require.Nil(t, n)
}

func TestAccountRefusesBeyondBudget(t *testing.T) {
	m := memoryOf(&memlimit.Usage{}, "")
	a := m.open("a")
	require.NoError(t, a.Grow(10<<20))
	err := a.Grow(30 << 20)
	require.True(t, errors.Is(err, memlimit.ErrTooLarge), err)
	require.NoError(t, a.Grow(-10<<20))
	require.Zero(t, m.budget.Used())
}
