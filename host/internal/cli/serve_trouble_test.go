//go:build linux

package cli

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/disktest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// stranger runs `easel serve` as a user without access to the private files of this one, until it
// exits, and returns its last line. Root uses another user; others remove their own permissions
// with forbid.
type stranger struct {
	dir     string // both can get there
	program string
}

const unprivileged = 65534

func newStranger(t *testing.T) stranger {
	t.Helper()
	dir, err := os.MkdirTemp("", "easel-stranger-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o777))
	s := stranger{dir, filepath.Join(dir, "easel")}
	self, err := os.Executable()
	require.NoError(t, err)
	from, err := os.Open(self)
	require.NoError(t, err)
	defer from.Close()
	to, err := os.OpenFile(s.program, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	return s
}

// forbid denies the stranger access to a path.
func (s stranger) forbid(t *testing.T, path string) {
	t.Helper()
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(path, 0o700))
		return
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, 0))
	t.Cleanup(func() { require.NoError(t, os.Chmod(path, info.Mode().Perm())) })
}

// give grants the stranger access to a path and everything below it.
func (s stranger) give(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(path, func(path string, _ os.DirEntry, err error) error {
		if err != nil || os.Geteuid() != 0 {
			return err
		}
		return os.Chown(path, unprivileged, unprivileged)
	}))
}

func (s stranger) serve(t *testing.T, flags ...string) (last string) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, s.program, append([]string{"serve", "--addr", "127.0.0.1:0"}, flags...)...)
	cmd.Env, cmd.Dir = []string{asProgram + "=1", "GOCOVERDIR=" + s.dir}, s.dir
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, ctx.Err(), "it ended by itself: %s", out)
	require.Error(t, err, "%s", out)
	for line := range strings.Lines(string(out)) {
		require.NotContains(t, line, "address:", "it did not start")
		require.NotContains(t, line, "waiting", "nothing comes by itself")
		if strings.HasPrefix(line, "easel: ") {
			require.Empty(t, last, "one line")
			last = line
		}
	}
	return last
}

// A host without access to its files names the file and its owner.
func TestServeOnFilesOfAnotherUser(t *testing.T) {
	s := newStranger(t)
	made := func(name string) string {
		dir := filepath.Join(s.dir, name)
		h := serve(t, nil, "--data", dir)
		require.NoError(t, h.stop())
		return dir
	}
	key := filepath.Join(s.dir, "key")
	require.NoError(t, os.WriteFile(key, []byte("0123456789abcdef\n"), 0o600))
	s.forbid(t, key)
	whole := made("whole")
	s.forbid(t, whole)
	const another = "belongs to a different user than the one that runs easel: "
	require.Contains(t, s.serve(t, "--data", whole), another)
	require.Contains(t, s.serve(t, "--data", filepath.Join(whole, "below")), "permission denied")
	for _, part := range []string{"runner.lock", "nats", "easel.db", "secret.key"} {
		dir := made("no-" + part)
		s.give(t, dir)
		if os.Geteuid() == 0 {
			require.NoError(t, os.Chown(filepath.Join(dir, part), 0, 0))
		}
		s.forbid(t, filepath.Join(dir, part))
		said := s.serve(t, "--data", dir)
		require.Contains(t, said, another, part)
		require.Contains(t, said, filepath.Join(dir, part), part)
	}
	fresh := filepath.Join(s.dir, "fresh")
	require.Contains(t, s.serve(t, "--data", fresh, "--key-file", key),
		"key file "+key+": open "+key+": permission denied")
	require.Contains(t, s.serve(t, "--data", fresh, "--api-key-file", key), "API key: open "+key+": permission denied")
}

// A host that starts on a full disk reports that, regardless of the part that fails first.
func TestServeOnAFullDisk(t *testing.T) {
	for _, size := range []string{"8k", "64k", "300k"} {
		t.Run(size, func(t *testing.T) {
			dir := disktest.Small(t, size)
			var out, errs servertest.Output
			err := withEnv(t, &out, &errs, nil).dispatch(t.Context(),
				[]string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(dir, "data")})
			require.ErrorContains(t, err, "the disk of --data "+filepath.Join(dir, "data")+" is full")
			require.NotContains(t, errs.String(), "waiting", "there is nothing to wait for")
		})
	}
}

// Key files that every user may read are reported, and used.
func TestServeWarnsOfOpenKeys(t *testing.T) {
	dir := t.TempDir()
	open, closed := filepath.Join(dir, "open"), filepath.Join(dir, "closed")
	for file, mode := range map[string]os.FileMode{open: 0o644, closed: 0o640} {
		require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("ab", 32)+"\n"), 0o600))
		require.NoError(t, os.Chmod(file, mode))
	}
	s := serve(t, nil, "--key-file", open, "--api-key-file", closed)
	require.Equal(t, 1, strings.Count(s.errs.String(), "all users of this machine can read a key file"), s.errs)
	require.Contains(t, s.errs.String(), "file="+open)
	require.NoError(t, s.stop())
}
