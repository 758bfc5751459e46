package python

import (
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero/experimental/sys"
)

func TestFiles(t *testing.T) {
	f := newFiles(10, "artifacts")
	o, errno := f.OpenFile("artifacts/a", sys.O_RDWR|sys.O_CREAT, 0)
	require.Zero(t, errno)
	n, errno := o.Write([]byte("12345678"))
	require.Zero(t, errno)
	require.Equal(t, 8, n)
	_, errno = o.Write([]byte("90x"))
	require.Equal(t, sys.EIO, errno, "there is room for 10 bytes")
	_, errno = o.Pwrite([]byte("x"), 1<<39)
	require.Equal(t, sys.EIO, errno)
	_, errno = o.Pwrite([]byte("x"), -1)
	require.Equal(t, sys.EINVAL, errno)
	require.Zero(t, o.Truncate(2))
	at, errno := o.Seek(0, io.SeekStart)
	require.Zero(t, errno)
	require.Zero(t, at)
	buf := make([]byte, 8)
	n, errno = o.Read(buf)
	require.Zero(t, errno)
	require.Equal(t, "12", string(buf[:n]))
	n, errno = o.Read(buf)
	require.Zero(t, errno)
	require.Zero(t, n)

	appending, errno := f.OpenFile("artifacts/a", sys.O_WRONLY|sys.O_APPEND, 0)
	require.Zero(t, errno)
	_, errno = appending.Write([]byte("345678"))
	require.Zero(t, errno)
	s, errno := f.Stat("artifacts/a")
	require.Zero(t, errno)
	require.EqualValues(t, 8, s.Size, "truncated bytes are free again")
	require.Zero(t, s.Mode&fs.ModeDir)
}

func TestFolders(t *testing.T) {
	f := newFiles(10)
	require.Zero(t, f.Mkdir("a", 0))
	require.Zero(t, f.Mkdir("a/b", 0))
	require.Equal(t, sys.EEXIST, f.Mkdir("a", 0))
	require.Equal(t, sys.ENOENT, f.Mkdir("x/y", 0))
	require.Equal(t, sys.ENOTEMPTY, f.Rmdir("a"))
	require.Equal(t, sys.EISDIR, f.Unlink("a"))
	require.Equal(t, sys.EINVAL, f.Rename("a", "a/b/c"), "a folder does not fit into itself")
	require.Equal(t, sys.ENOENT, f.Rename(".", "x"))
	_, errno := f.OpenFile("a", sys.O_RDWR, 0)
	require.Equal(t, sys.EISDIR, errno)
	o, errno := f.OpenFile("a/file", sys.O_WRONLY|sys.O_CREAT, 0)
	require.Zero(t, errno)
	_, errno = o.Readdir(-1)
	require.Equal(t, sys.ENOTDIR, errno)
	_, errno = f.OpenFile("a/file/x", sys.O_WRONLY|sys.O_CREAT, 0)
	require.Equal(t, sys.ENOTDIR, errno)
	_, errno = f.OpenFile("a/file", sys.O_WRONLY|sys.O_CREAT|sys.O_EXCL, 0)
	require.Equal(t, sys.EEXIST, errno)
	require.Zero(t, f.Rename("a/file", "a/b/moved"))

	dir, errno := f.OpenFile("a/b", sys.O_DIRECTORY, 0)
	require.Zero(t, errno)
	entries, errno := dir.Readdir(1)
	require.Zero(t, errno)
	require.Equal(t, "moved", entries[0].Name)
	entries, errno = dir.Readdir(1)
	require.Zero(t, errno)
	require.Empty(t, entries)
	require.Zero(t, f.Unlink("a/b/moved"))
	require.Zero(t, f.Rmdir("a/b"))
	require.Zero(t, f.Rmdir("a"))
	require.Nil(t, f.find("a"))
	require.NotNil(t, f.find("../../.."), "nothing lies above the root")
}

func TestNumberOfFilesIsBounded(t *testing.T) {
	f := newFiles(10)
	var errno sys.Errno
	for i := range maxFiles + 1 {
		if _, errno = f.OpenFile("f"+string(rune('a'+i)), sys.O_WRONLY|sys.O_CREAT, 0); errno != 0 {
			break
		}
	}
	require.Equal(t, sys.EIO, errno)
}

// The room of the answer is separate, and a script cannot take its name.
func TestAnswerHasRoomOfItsOwn(t *testing.T) {
	f := newFiles(1)
	f.answerRoom = 4
	o, errno := f.OpenFile(answerName, sys.O_WRONLY|sys.O_CREAT, 0)
	require.Zero(t, errno)
	require.Zero(t, f.Unlink(answerName))
	other, errno := f.OpenFile(answerName, sys.O_WRONLY|sys.O_CREAT, 0)
	require.Zero(t, errno)
	_, errno = other.Write([]byte("forged"))
	require.Equal(t, sys.EIO, errno)
	_, errno = o.Write([]byte("true"))
	require.Zero(t, errno)
	require.Equal(t, "true", string(f.answer.data.bytes()))
}
