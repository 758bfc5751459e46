package runlog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/stretchr/testify/require"
)

// Hosts that survive the loss of all data of a NATS continue with a new one: their old runs are
// fenced or lost, and all later requests succeed.
func TestServerThatLostAllStreams(t *testing.T) {
	dir, port := t.TempDir(), freePort(t)
	server := natsChild(t, dir, port)
	cfg := hostConfig{URLs: []string{address(port)}, Lease: time.Second}
	l := openTest(t, cfg.config())
	lost, err := l.Claim(t.Context(), Run{ID: "lost"})
	require.NoError(t, err)
	_, err = lost.Append(t.Context(), rec("ev", "x"))
	require.NoError(t, err)
	_, err = files(t, l).Put(t.Context(), "before", strings.NewReader("x"))
	require.NoError(t, err)
	start(t, childConfig{Role: "host", Config: cfg, Steps: 5, Step: 10 * time.Millisecond})

	server.kill()
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "jetstream")))
	natsChild(t, dir, port)

	require.Eventually(t, func() bool { return l.Healthy(t.Context()) == nil }, patience, 20*time.Millisecond)
	_, err = lost.Append(t.Context(), rec("ev", "y"))
	require.ErrorIs(t, err, ErrFenced)
	require.NoError(t, l.Submit(t.Context(), Run{ID: "next"}))
	w := watch(t, l, "next", 1)
	require.NoError(t, <-w.done)
	requireSteps(t, w.records, 5)
	_, _, err = files(t, l).Open(t.Context(), "before")
	require.ErrorIs(t, err, broker.ErrNotFound)
	_, err = files(t, l).Put(t.Context(), "after", strings.NewReader("x"))
	require.NoError(t, err)
}
