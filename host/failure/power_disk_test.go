package failure_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// powerDisk is an ext4 file system on a separate disk whose power can be cut: unsynced data is
// lost, as with the memory of a machine.
type powerDisk struct {
	t          testing.TB
	image, dir string
	mounted    bool
}

// newPowerDisk creates and mounts an empty one at dir, which it creates.
func newPowerDisk(t testing.TB, dir string) *powerDisk {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a disk and cut its power")
	}
	d := &powerDisk{t: t, image: dir + ".ext4", dir: dir}
	require.NoError(t, os.Mkdir(dir, 0o700))
	f, err := os.Create(d.image)
	require.NoError(t, err)
	require.NoError(t, errors.Join(f.Truncate(256<<20), f.Close()))
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("no file system can be made here: %v: %s", err, out)
	}
	if err := d.tryMount(); err != nil {
		t.Skip("cannot mount an image here: ", err)
	}
	// Hosts are killed first: cleanups run in reverse.
	t.Cleanup(func() {
		if d.mounted {
			d.unmount()
		}
	})
	return d
}

func (d *powerDisk) tryMount() error {
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	d.mounted = true
	return nil
}

// cut cuts the power: from here on nothing reaches the disk, including buffered data.
func (d *powerDisk) cut() {
	const (
		shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN
		noFlush  = 2          // EXT4_GOING_FLAGS_NOLOGFLUSH: not even the journal
	)
	f, err := os.Open(d.dir)
	require.NoError(d.t, err)
	defer f.Close()
	how := uint32(noFlush)
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		d.t.Skip("this kernel cuts no power: ", errno)
	}
}

// back restores the power once the disk is not in use: the kernel repairs it from its journal.
func (d *powerDisk) back() {
	d.unmount()
	d.mount()
}

// mount retries if another test takes the free loop device first.
func (d *powerDisk) mount() {
	var err error
	require.Eventually(
		d.t,
		func() bool { err = d.tryMount(); return err == nil },
		patience,
		100*time.Millisecond,
		"%v",
		&err,
	)
}

// unmount waits until killed processes have released the disk.
func (d *powerDisk) unmount() {
	var err error
	require.Eventually(
		d.t,
		func() bool { err = syscall.Unmount(d.dir, 0); return err == nil },
		patience,
		10*time.Millisecond,
		"unmount: %v",
		&err,
	)
	d.mounted = false
}

// requireSound checks the file system itself.
func (d *powerDisk) requireSound() {
	d.unmount()
	out, err := exec.Command("e2fsck", "-fn", d.image).CombinedOutput()
	require.NoError(d.t, err, "%s", out)
}

// witnesses are two files that show whether a cut lost data: the first is synced, the second is
// not.
type witnesses struct{ synced, loose string }

func (d *powerDisk) witnesses() witnesses {
	w := witnesses{filepath.Join(d.dir, "synced"), filepath.Join(d.dir, "loose")}
	f, err := os.Create(w.synced)
	require.NoError(d.t, err)
	_, err = f.WriteString("kept")
	require.NoError(d.t, errors.Join(err, f.Sync(), f.Close()))
	return w
}

// flush writes buffered data, as the kernel does after a while.
func (d *powerDisk) flush() {
	out, err := exec.Command("sync", "--file-system", d.dir).CombinedOutput()
	require.NoError(d.t, err, "%s", out)
}

// before is called shortly before the cut. It syncs nothing, which could also sync other files.
func (w witnesses) before(t testing.TB) {
	require.NoError(t, os.WriteFile(w.loose, []byte("lost"), 0o600))
}

// require checks that the cut lost unsynced data and nothing else, and removes the files.
func (w witnesses) require(t testing.TB) {
	t.Helper()
	text, err := os.ReadFile(w.synced)
	require.NoError(t, err)
	require.Equal(t, "kept", string(text), "what was synced is there")
	text, err = os.ReadFile(w.loose)
	require.True(t, errors.Is(err, os.ErrNotExist) || err == nil, "%v", err)
	require.Empty(t, string(text), "what was not synced is gone")
	require.NoError(t, os.Remove(w.synced))
	_ = os.Remove(w.loose) // its name may be gone, too
}
