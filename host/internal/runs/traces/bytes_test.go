package traces

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// onAll runs a test with each store of bytes.
func onAll(t *testing.T, test func(t *testing.T, b Bytes)) {
	t.Run("directory", func(t *testing.T) { test(t, NewDirectory(filepath.Join(t.TempDir(), "traces"))) })
	t.Run("bucket", func(t *testing.T) { test(t, Bucket{folder(t)}) })
	t.Run("moved", func(t *testing.T) {
		dir := t.TempDir()
		test(t, Moved{NewDirectory(filepath.Join(dir, "new")), NewDirectory(filepath.Join(dir, "old"))})
	})
	t.Run("postgres", func(t *testing.T) {
		test(t, Table{runstest.Records(t, store.Config{URL: servertest.NewSchema(t)})})
	})
}

// folder returns the folder of a bucket on an S3 server.
func folder(t *testing.T) *blobs.Folder {
	t.Helper()
	s, err := servertest.StartS3(t.TempDir())
	if errors.Is(err, servertest.ErrNoS3) {
		t.Skip("no S3 server: ", err)
	}
	require.NoError(t, err)
	t.Cleanup(s.Kill)
	f, err := blobs.OpenFolder(t.Context(), blobs.Bucket{
		URL: "s3://easel/files/?region=us-east-1&endpoint=" + s.Endpoint, Key: s.Key, Secret: s.Secret,
	})
	require.NoError(t, err)
	return f
}

// What was stored before the place changed is read and deleted there.
func TestMovedBytes(t *testing.T) {
	ctx := t.Context()
	earlier := NewDirectory(filepath.Join(t.TempDir(), "traces"))
	before, err := earlier.Append(ctx, "t", "2026-11-27", []byte("before"))
	require.NoError(t, err)
	m := Moved{Bucket{folder(t)}, earlier}
	after, err := m.Append(ctx, "t", "2026-11-27", []byte("after"))
	require.NoError(t, err)
	for p, want := range map[Place]string{before: "before", after: "after"} {
		got, err := m.Read(ctx, p)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
	require.NoError(t, m.DeleteDay(ctx, "t", "2026-11-27"))
	for _, p := range []Place{before, after} {
		_, err := m.Read(ctx, p)
		require.ErrorIs(t, err, ErrNoBytes)
	}
}

func TestBytes(t *testing.T) {
	onAll(t, func(t *testing.T, b Bytes) {
		ctx := t.Context()
		add := func(tenant, day, text string) Place {
			p, err := b.Append(ctx, tenant, day, []byte(text))
			require.NoError(t, err)
			require.Equal(t, Place{tenant, day, p.Name, p.At, int64(len(text))}, p)
			return p
		}
		has := func(p Place, want string) {
			t.Helper()
			got, err := b.Read(ctx, p)
			require.NoError(t, err)
			require.Equal(t, want, string(got))
		}
		first, second := add("t", "2026-11-27", "one"), add("t", "2026-11-27", "second")
		next, strange := add("t", "2026-11-28", "three"), add("../x", "2026-11-27", "four")
		has(first, "one")
		has(second, "second")
		has(strange, "four")

		require.NoError(t, b.Delete(ctx, first))
		require.NoError(t, b.Delete(ctx, first), "again")
		got, err := b.Read(ctx, first)
		if err == nil {
			require.Equal(t, make([]byte, 3), got)
		} else {
			require.ErrorIs(t, err, ErrNoBytes)
		}
		has(second, "second")

		require.NoError(t, b.DeleteDay(ctx, "t", "2026-11-27"))
		_, err = b.Read(ctx, second)
		require.ErrorIs(t, err, ErrNoBytes)
		has(next, "three")
		has(add("t", "2026-11-27", "five"), "five")
		has(strange, "four")
		_, err = b.Read(ctx, Place{"t", "2026-11-28", "../../x", 0, 1})
		require.ErrorIs(t, err, ErrNoBytes)
	})
}

// All days of a tenant are deleted with it.
func TestDeleteAllDays(t *testing.T) {
	onAll(t, func(t *testing.T, b Bytes) {
		mine, err := b.Append(t.Context(), "t", "2026-11-27", []byte("mine"))
		require.NoError(t, err)
		other, err := b.Append(t.Context(), "u", "2026-11-27", []byte("other"))
		require.NoError(t, err)
		require.NoError(t, b.DeleteDay(t.Context(), "t", ""))
		_, err = b.Read(t.Context(), mine)
		require.ErrorIs(t, err, ErrNoBytes)
		_, err = b.Read(t.Context(), other)
		require.NoError(t, err)
	})
}

// A deleted block leaves nothing in its file, whose size stays.
func TestDeletedBlockIsErased(t *testing.T) {
	d := NewDirectory(t.TempDir())
	large := bytes.Repeat([]byte("canary"), 50_000)
	p, err := d.Append(t.Context(), "t", "2026-11-27", large)
	require.NoError(t, err)
	_, err = d.Append(t.Context(), "t", "2026-11-27", []byte("other"))
	require.NoError(t, err)
	require.NoError(t, d.Delete(t.Context(), p))
	name, err := d.file(p)
	require.NoError(t, err)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Len(t, text, len(large)+5)
	require.NotContains(t, string(text), "canary")
}
