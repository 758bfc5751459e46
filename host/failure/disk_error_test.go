package failure_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// failsReadOnly configures the kernel to make the disk read-only after an error, as most
// installations do.
func (d *powerDisk) failsReadOnly() {
	out, err := exec.Command("mount", "-o", "remount,errors=remount-ro", d.dir).CombinedOutput()
	require.NoError(d.t, err, "%s", out)
}

// fail causes an error of the disk.
func (d *powerDisk) fail() {
	out, err := exec.Command("losetup", "-n", "-O", "NAME", "-j", d.image).Output()
	require.NoError(d.t, err)
	trigger := filepath.Join("/sys/fs/ext4", filepath.Base(strings.TrimSpace(string(out))), "trigger_fs_error")
	if err := os.WriteFile(trigger, []byte("a test"), 0); err != nil {
		d.t.Skip("this kernel cannot inject errors: ", err)
	}
}

// repair repairs the disk as an operator would, once it is not in use.
func (d *powerDisk) repair() {
	d.unmount()
	// 1 means that errors have been corrected.
	if out, err := exec.Command("e2fsck", "-fy", d.image).CombinedOutput(); err != nil {
		require.Equal(d.t, 1, err.(*exec.ExitError).ExitCode(), "%s", out)
	}
	d.mount()
}

// diskError makes the disk of an active host read-only. New work is refused with a clear error, the
// active run waits; on the repaired disk the next start continues it. The repair drops unsynced
// data, so everything is synced.
func diskError(t *testing.T, bin programs) {
	w := embedded(t, bin)
	d := newPowerDisk(t, filepath.Join(w.dir, "data"))
	d.failsReadOnly()
	h := w.start("a", "--sync", "always")
	before := w.conversation(h, "before")
	before.requireDone()
	arrived, release := w.outside.hold("/broken/4")
	c := w.conversation(h, "broken")
	<-arrived
	d.fail()
	release()
	c.requireRefused(h)
	_, err := w.try(t.Context(), "POST", h.url+"/api/v2/canvases/"+c.canvas+"/runs", `{"query":"x"}`, nil)
	require.ErrorContains(t, err, "read-only")
	time.Sleep(2 * time.Second) // the run tries to store its step in vain
	require.Zero(t, w.outside.times("/broken/5"), "no step is begun before the last one is stored")
	status, _ := w.status(c.run)
	require.Equal(t, "running", status)
	w.kill(h)
	d.repair()
	h = w.start("a", "--sync", "always")
	c.requireDone()
	requireSame(t, before.reader.events, w.events(before.run))
	w.conversation(h, "after").requireDone()
}
