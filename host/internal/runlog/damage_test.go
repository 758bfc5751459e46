package runlog

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// filledDir is the data directory of a host that was stopped, with a run in the queue, a file and a
// key.
func filledDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	l, err := openLog(t.Context(), setup{Dir: dir})
	require.NoError(t, err)
	require.NoError(t, l.Submit(t.Context(), Run{ID: "queued"}))
	_, err = files(t, l).Put(t.Context(), "t/f", strings.NewReader("content"))
	require.NoError(t, err)
	require.NoError(t, closeLog(l))
	return dir
}

// Files that the server can do without are made again, with a line in the log; nothing of the queue
// is lost.
func TestDamagedState(t *testing.T) {
	whole := filledDir(t)
	for _, name := range []string{
		"easel_RUNS/obs/workers/o.dat", "easel_RUNS/meta.inf", "easel_RUNS/msgs/index.db", "OBJ_easel_files/msgs/index.db",
	} {
		t.Run(name, func(t *testing.T) {
			dir, lines := t.TempDir(), &bytes.Buffer{}
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			file := filepath.Join(dir, "nats", "jetstream", "$G", "streams", filepath.FromSlash(name))
			require.FileExists(t, file)
			require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte{0xde, 0xad}, 20), 0o600))
			l, err := openLog(t.Context(), setup{Dir: dir, Log: slog.New(slog.NewTextHandler(lines, nil))})
			require.NoError(t, err)
			defer func() { require.NoError(t, closeLog(l)) }()
			require.Contains(t, lines.String(), "damaged; recreated")
			info, err := l.consumer.Info(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, 1, int(info.NumPending)+info.NumAckPending)
			_, err = files(t, l).Stat(t.Context(), "t/f")
			require.NoError(t, err)
		})
	}
}

// A start on whole files says nothing.
func TestWholeStateIsNotReported(t *testing.T) {
	lines := &bytes.Buffer{}
	l, err := openLog(t.Context(), setup{Dir: filledDir(t), Log: slog.New(slog.NewTextHandler(lines, nil))})
	require.NoError(t, err)
	require.NoError(t, closeLog(l))
	require.NotContains(t, lines.String(), "damaged")
}
