//go:build linux

package disk

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/disktest"
)

func started(dir string) *Reserve {
	r := NewReserve(dir)
	r.Open()
	r.Started()
	return r
}

func TestReserveIsFreedAndMadeAgain(t *testing.T) {
	dir := disktest.Small(t, "200m")
	synctest.Test(t, func(t *testing.T) {
		before := Free(dir)
		r := started(dir)
		require.InDelta(t, before-reserveSize, Free(dir), 64<<10, "the file occupies its size")
		require.NoError(t, r.Full())
		free := disktest.Fill(t, dir)
		require.NoError(t, r.Full(), "it is not in use")
		require.Zero(t, r.Room(dir))
		require.True(t, r.Release())
		require.False(t, r.Release(), "once")
		require.GreaterOrEqual(t, Free(dir), int64(reserveSize))
		require.ErrorIs(t, r.Full(), ErrFull)
		require.Zero(t, r.Room(dir), "what was freed is not for ordinary writes")
		time.Sleep(time.Minute)
		require.ErrorIs(t, r.Full(), ErrFull)
		free()
		time.Sleep(time.Minute)
		require.NoError(t, r.Full())
		require.InDelta(t, before-reserveSize, Free(dir), 64<<10, "it is there again")
	})
}

// A host that starts on a full disk uses the reserve, and keeps it from ordinary writes after the
// start.
func TestReserveServesTheStart(t *testing.T) {
	dir := disktest.Small(t, "200m")
	started(dir)
	disktest.Fill(t, dir)
	r := NewReserve(dir)
	r.Open()
	require.NoError(t, r.Full(), "a start writes")
	require.GreaterOrEqual(t, r.Room(dir), int64(reserveSize))
	r.Started()
	require.ErrorIs(t, r.Full(), ErrFull)
}

// A command may use the reserve of a host.
func TestReserveThatAnotherProcessUsed(t *testing.T) {
	dir := disktest.Small(t, "200m")
	synctest.Test(t, func(t *testing.T) {
		r, other := started(dir), NewReserve(dir)
		other.Open()
		require.True(t, other.Release())
		require.False(t, r.Release())
		time.Sleep(time.Minute)
		r.Refill()
		require.True(t, r.Release(), "it is there again")
	})
}

func TestReserveOfASmallDisk(t *testing.T) {
	dir := disktest.Small(t, "32m")
	r := started(dir)
	info, err := os.Stat(r.path())
	require.NoError(t, err)
	require.InDelta(t, 4<<20, info.Size(), 1<<20)
	tiny := disktest.Small(t, "4m")
	r = started(tiny)
	require.False(t, r.Release(), "it has no room for one")
	require.NoError(t, r.Full())
	require.Positive(t, r.Room(tiny))
}

func TestNoReserve(t *testing.T) {
	var r *Reserve
	r.Open()
	r.Started()
	r.Refill()
	require.False(t, r.Release())
	require.NoError(t, r.Full())
	require.Positive(t, r.Room(t.TempDir()))
}

// Where the file system allocates nothing in advance, the file is written with bytes that cannot be
// compressed.
func TestReserveIsWritten(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, fill(f, 3<<20+5))
	info, err := f.Stat()
	require.NoError(t, err)
	require.EqualValues(t, 3<<20+5, info.Size())
	raw, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	require.NotEqual(t, raw[:1<<20], raw[1<<20:2<<20])
}
