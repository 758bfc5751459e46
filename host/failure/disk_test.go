package failure_test

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/disktest"
)

// smallDisk mounts a memory disk for the host's data.
func (w *world) smallDisk(size string) (dir string) {
	dir = filepath.Join(w.dir, "data")
	require.NoError(w.t, os.Mkdir(dir, 0o700))
	disktest.Mount(w.t, dir, size) // hosts are killed first: cleanups run in reverse
	return dir
}

// requireRefused checks that a host reports clearly on every route that it cannot store data.
func (c *conversation) requireRefused(h *hostProcess) {
	w := c.w
	w.t.Helper()
	for path, body := range map[string]string{
		"/api/v2/canvases":                            `{"title":"c","dsl":` + talk + `}`,
		"/api/v2/canvases/" + c.canvas + "/sessions":  `{}`,
		"/api/v2/canvases/" + c.canvas + "/runs":      `{"query":"x"}`,
		"/api/v1/agents/" + c.canvas + "/completions": `{"question":"x","stream":true}`,
	} {
		status, err := w.try(w.t.Context(), "POST", h.url+path, body, nil)
		require.Equal(w.t, http.StatusInsufficientStorage, status, "%s: %v", path, err)
		require.ErrorContains(w.t, err, "cannot store anything now")
	}
	res, err := http.Get(h.url + "/readyz")
	require.NoError(w.t, err)
	require.NoError(w.t, res.Body.Close())
	require.Equal(w.t, http.StatusServiceUnavailable, res.StatusCode, "a load balancer must not use this host")
	// Stored data can be read.
	var list struct{ Total int }
	w.call("GET", h.url+"/api/v2/canvases", "", &list)
	require.Positive(w.t, list.Total)
}

// diskFull fills the disk in the middle of a run. New work is refused with a clear error; the run
// waits and continues when there is space again.
func diskFull(t *testing.T, bin programs) {
	w := embedded(t, bin)
	dir := w.smallDisk("64m")
	h := w.start("a")
	before := w.conversation(h, "before")
	before.requireDone()
	arrived, release := w.outside.hold("/full/4")
	c := w.conversation(h, "full")
	<-arrived
	free := disktest.Fill(t, dir)
	release()
	c.requireRefused(h)
	time.Sleep(2 * time.Second) // the run tries to store its step in vain
	require.Zero(t, w.outside.times("/full/5"), "no step is begun before the last one is stored")
	free()
	c.requireDone()
	w.conversation(h, "after").requireDone()
	w.kill(h)
	w.start("a")
	requireSame(t, before.reader.events, w.events(before.run))
	requireSame(t, c.reader.events, w.events(c.run))
}

// readOnlyDisk starts a host on a disk that has become read-only. It reports that and exits; with
// the disk repaired the active run continues.
func readOnlyDisk(t *testing.T, bin programs) {
	w := embedded(t, bin)
	dir := w.smallDisk("64m")
	h := w.start("a")
	arrived, release := w.outside.hold("/read-only/4")
	c := w.conversation(h, "read-only")
	<-arrived
	w.kill(h)
	release()
	remount := func(flags uintptr) {
		require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|flags, ""))
	}
	remount(syscall.MS_RDONLY)
	out, err := w.command("a").CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "read-only")
	remount(0)
	w.start("a")
	c.requireDone()
}
