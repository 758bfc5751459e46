//go:build soak

package failure_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// Only a NATS that does not sync loses its power, under two running hosts and a PostgreSQL: first
// it loses everything, then the last moments. Accepted runs are in the records, so they are
// completed.
func TestPowerCutsOfNATS(t *testing.T) {
	w := embedded(t, buildPrograms(t))
	disk := newPowerDisk(t, filepath.Join(w.dir, "disk"))
	var err error
	w.postgres, err = servertest.StartPostgres()
	if err == servertest.ErrNoPostgres {
		t.Skip("PostgreSQL cannot be had here: ", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.postgres.Remove()) })
	nats, err := servertest.StartNATS(w.bin.nats, disk.dir)
	require.NoError(t, err)
	t.Cleanup(func() { nats.Kill() })
	w.nats = append(w.nats, nats)
	w.share()
	a := w.start("a")
	w.start("b")
	var all ledger
	for round, synced := range []bool{false, true, true} {
		l := w.load(a)
		time.Sleep(time.Second)
		if synced {
			require.NoError(t, exec.Command("sync", "-f", disk.dir).Run())
			time.Sleep(time.Second)
		}
		l.dying.Store(true)
		disk.cut()
		nats.Kill()
		disk.back()
		_, err := os.Stat(filepath.Join(disk.dir, nats.Name, "jetstream", "$G", "streams"))
		require.Equal(t, synced, err == nil, "the disk has kept what was synced, and nothing else")
		require.NoError(t, os.MkdirAll(filepath.Join(disk.dir, nats.Name), 0o700))
		require.NoError(t, nats.Restart())
		began := time.Now()
		l.halt(func() {})
		l.settle()
		all.add(l)
		lost := all.losses(w, "contract")
		t.Logf(
			"cut %d of NATS: %s; all done after %v; lost: %d",
			round+1,
			l,
			time.Since(began).Round(time.Millisecond),
			len(lost),
		)
		require.Empty(t, lost)
		w.conversation(a, fmt.Sprint("after-cut-", round)).requireDone()
	}
}
