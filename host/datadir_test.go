package host

import (
	"bytes"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/logtest"
)

// openIn opens a host on a directory, and returns its log.
func openIn(t *testing.T, dir string) (lines string, err error) {
	t.Helper()
	var out bytes.Buffer
	h, err := New(t.Context(), Config{Dir: dir, Log: slog.New(slog.NewTextHandler(&out, nil))})
	if err == nil {
		err = h.Close()
	}
	return out.String(), err
}

// A run log without its records is refused: its files would never be used or deleted.
func TestRecordsMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	_, err := openIn(t, dir)
	require.NoError(t, err)
	records := func() []string {
		files, err := filepath.Glob(filepath.Join(dir, "easel.db*"))
		require.NoError(t, err)
		return files
	}
	for _, file := range records() {
		require.NoError(t, os.Remove(file))
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "secret.key")))
	_, err = openIn(t, dir)
	require.NoError(t, err, "there is nothing to lose yet")

	nats := logtest.OpenUntil(t, broker.Config{Dir: dir})
	_, err = nats.Files.Put(t.Context(), "tenant/file", strings.NewReader("of somebody"))
	require.NoError(t, err)
	require.NoError(t, nats.Close())
	aside := t.TempDir()
	for _, file := range records() {
		require.NoError(t, os.Rename(file, filepath.Join(aside, filepath.Base(file))))
	}
	_, err = openIn(t, dir)
	require.ErrorIs(t, err, ErrRecordsMissing)
	require.ErrorContains(t, err, "easel restore")
	require.ErrorContains(t, err, filepath.Join(dir, "nats"))
	require.Empty(t, records(), "nothing is made")

	for _, name := range []string{"easel.db", "easel.db-wal", "easel.db-shm", "easel.db-check"} {
		if err := os.Rename(filepath.Join(aside, name), filepath.Join(dir, name)); err != nil {
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
	}
	_, err = openIn(t, dir)
	require.NoError(t, err, "the records are back")
	for _, file := range records() {
		require.NoError(t, os.Remove(file))
	}
	require.NoError(t, os.Rename(filepath.Join(dir, "nats"), filepath.Join(aside, "nats")))
	_, err = openIn(t, dir)
	require.NoError(t, err, "the run log is away")
}

// A host refuses to start when acknowledged records are missing, until the loss is accepted.
func TestLostRecordsRefuseStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	h, err := New(t.Context(), Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	killed := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(killed, 0o700))
	for _, name := range []string{"easel.db", "easel.db-wal", "easel.db-check", "secret.key"} {
		f, err := os.Open(filepath.Join(dir, name))
		require.NoError(t, err)
		defer f.Close() // after the host: closing easel.db before would release its locks
		text, err := io.ReadAll(f)
		require.NoError(t, err)
		if name == "easel.db-wal" {
			text[len(text)-100] ^= 1
		}
		require.NoError(t, os.WriteFile(filepath.Join(killed, name), text, 0o600))
	}
	require.NoError(t, h.Close())

	_, err = openIn(t, killed)
	require.ErrorIs(t, err, store.ErrLost)
	require.Regexp(t, `easel.db-wal is damaged or cut off at byte \d+: 1 acknowledged commit is missing`, err.Error())
	require.ErrorContains(t, err, "easel restore FILE --replace")
	_, code, found := strings.Cut(err.Error(), "--accept-loss ")
	require.True(t, found)
	code, _, _ = strings.Cut(code, " ")
	var out bytes.Buffer
	h, err = New(t.Context(), Config{Dir: killed, AcceptLoss: code, Log: slog.New(slog.NewTextHandler(&out, nil))})
	require.NoError(t, err)
	require.NoError(t, h.Close())
	require.Contains(t, out.String(), "acknowledged commits were dropped, as accepted")
	aside, err := filepath.Glob(filepath.Join(killed, "easel.db-lost-*", "easel.db-wal"))
	require.NoError(t, err)
	require.Len(t, aside, 1)
	lines, err := openIn(t, killed)
	require.NoError(t, err)
	require.NotContains(t, lines, "acknowledged")
}

// Files of a manually created data directory are private to the host.
func TestFilesOfDataDirArePrivate(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	lines, err := openIn(t, dir)
	require.NoError(t, err)
	require.NotContains(t, lines, "its mode was changed")
	mode := func(name string) fs.FileMode {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	require.Equal(t, fs.FileMode(0o600), mode("easel.db"))
	require.NoError(t, os.Chmod(filepath.Join(dir, "easel.db"), 0o664))
	require.NoError(t, os.Chmod(filepath.Join(dir, "secret.key"), 0o644))
	lines, err = openIn(t, dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o660), mode("easel.db"), "a group is let in on purpose")
	require.Equal(t, fs.FileMode(0o640), mode("secret.key"))
	require.Equal(t, 2, strings.Count(lines, "its mode was changed"), lines)
	require.Contains(t, lines, filepath.Join(dir, "easel.db"))
}
