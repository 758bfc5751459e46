package failure_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// lateServers starts hosts before the servers they need.
func lateServers(t *testing.T, bin programs) {
	w := shared(t, bin, 1)
	begin := func(name, missing string) *servertest.Process {
		p, err := servertest.Start(w.command(name))
		require.NoError(t, err)
		t.Cleanup(p.Kill)
		_, err = p.Line("", "waiting", missing)
		require.NoError(t, err)
		return p
	}
	requireServes := func(p *servertest.Process) {
		_, err := p.Line("address: ")
		require.NoError(t, err)
	}

	w.nats[0].Kill()
	impatient := begin("impatient", "the run log")
	require.NoError(t, impatient.Signal(syscall.SIGTERM))
	select {
	case <-impatient.Done():
	case <-time.After(patience):
		require.FailNow(t, "a waiting host does not stop on request")
	}
	early := begin("a", "the run log")
	require.NoError(t, w.nats[0].Restart())
	requireServes(early)

	w.postgres.Kill()
	early = begin("b", "the records store")
	require.NoError(t, w.postgres.Restart())
	requireServes(early)
}
