package runlog

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// filledDir returns the data directory of a host that was stopped, with a run in the queue, a file
// and a key.
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

// Files that the server does not require are recreated, with a line in the log; the queue loses
// nothing.
func TestDamagedState(t *testing.T) {
	whole := filledDir(t)
	for _, name := range []string{
		"easel_RUNS/obs/workers/o.dat", "easel_RUNS/meta.inf", "easel_RUNS/msgs/index.db",
		"OBJ_easel_files/msgs/index.db",
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

// A start on intact files logs nothing.
func TestWholeStateIsNotReported(t *testing.T) {
	lines := &bytes.Buffer{}
	l, err := openLog(t.Context(), setup{Dir: filledDir(t), Log: slog.New(slog.NewTextHandler(lines, nil))})
	require.NoError(t, err)
	require.NoError(t, closeLog(l))
	require.NotContains(t, lines.String(), "damaged")
}

// flip changes one byte of a file.
func flip(t *testing.T, file string, at int64) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	require.NoError(t, err)
	b[0] ^= 0x10
	_, err = f.WriteAt(b[:], at)
	require.NoError(t, err)
}

// A byte that changed between two starts is reported, wherever it is, whether or not the server was
// stopped in order.
func TestDamagedMessagesAreReported(t *testing.T) {
	whole := filledDir(t)
	const block = "nats/jetstream/$G/streams/OBJ_easel_files/msgs/1.blk"
	info, err := os.Stat(filepath.Join(whole, block))
	require.NoError(t, err)
	for at := int64(1); at < info.Size(); at += info.Size() / 7 {
		for _, clean := range []bool{true, false} {
			t.Run(fmt.Sprint(at, clean), func(t *testing.T) {
				dir, lines := t.TempDir(), &bytes.Buffer{}
				require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
				flip(t, filepath.Join(dir, block), at)
				if !clean {
					require.NoError(t, os.Remove(filepath.Join(dir, filepath.Dir(block), "index.db")))
				}
				l, err := openLog(t.Context(), setup{Dir: dir, Log: slog.New(slog.NewTextHandler(lines, nil))})
				require.NoError(t, err)
				defer func() { require.NoError(t, closeLog(l)) }()
				require.Contains(t, lines.String(), "messages are lost")
				require.Contains(t, lines.String(), "stream=OBJ_easel_files")
				damage := l.conn.Damage()
				require.Len(t, damage, 1)
				require.LessOrEqual(t, damage[0].Offset, at)
			})
		}
	}
}

// A stream whose messages are gone is reported; the server makes it again, empty.
func TestMissingMessagesAreReported(t *testing.T) {
	whole := filledDir(t)
	for _, name := range []string{"easel_RUNS/msgs", "OBJ_easel_files/msgs/1.blk"} {
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
		path := filepath.Join(dir, "nats", "jetstream", "$G", "streams", filepath.FromSlash(name))
		require.NoError(t, os.RemoveAll(path))
		l, err := openLog(t.Context(), setup{Dir: dir})
		require.NoError(t, err)
		damage := l.conn.Damage()
		require.NoError(t, closeLog(l))
		require.Len(t, damage, 1)
		require.Equal(t, strings.Split(name, "/")[0], damage[0].Stream)
	}
}

// The end of a message that a kill cut off was not acknowledged, and a loss of power leaves zeros:
// neither is damage at the end of the newest file.
func TestTruncatedEndIsNotDamage(t *testing.T) {
	whole := filledDir(t)
	for name, end := range map[string][]byte{
		"cut":   {0x60, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0, 'a'},
		"head":  {0x60, 0, 0},
		"zeros": make([]byte, 4096),
	} {
		t.Run(name, func(t *testing.T) {
			dir, lines := t.TempDir(), &bytes.Buffer{}
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			file := filepath.Join(dir, "nats/jetstream/$G/streams/OBJ_easel_files/msgs/1.blk")
			f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.Write(end)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			l, err := openLog(t.Context(), setup{Dir: dir, Log: slog.New(slog.NewTextHandler(lines, nil))})
			require.NoError(t, err)
			defer func() { require.NoError(t, closeLog(l)) }()
			require.Empty(t, l.conn.Damage())
			require.NotContains(t, lines.String(), "messages are lost")
			_, err = files(t, l).Stat(t.Context(), "t/f")
			require.NoError(t, err)
		})
	}
}

// Files that the server cannot open at all keep the host from starting, with what to do.
func TestUnreadableFilesRefuseStart(t *testing.T) {
	whole := filledDir(t)
	for _, name := range []string{"easel_RUNS", "OBJ_easel_files"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(whole)))
			path := filepath.Join(dir, "nats", "jetstream", "$G", "streams", filepath.FromSlash(name))
			require.DirExists(t, path)
			require.NoError(t, os.RemoveAll(path))
			require.NoError(t, os.WriteFile(path, []byte("not a directory"), 0o600))
			l, err := openLog(t.Context(), setup{Dir: dir})
			if err == nil {
				_, err = blobs.New(t.Context(), l.conn)
				require.NoError(t, closeLog(l))
			}
			require.ErrorIs(t, err, broker.ErrFiles)
			require.ErrorContains(t, err, "easel restore")
			require.ErrorContains(t, err, filepath.Join(dir, "nats"))
		})
	}
}
