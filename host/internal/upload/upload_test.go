package upload

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/logtest"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
	"github.com/easel-canvas/easel/host/internal/upload/files"
)

func newBox(t *testing.T) *Box {
	t.Helper()
	documents := &document.Reader{}
	t.Cleanup(func() { require.NoError(t, documents.Close()) })
	return &Box{
		Store: runstest.Records(t, store.Config{}), Files: logtest.Open(t, broker.Config{}).Files,
		Most: 100 << 20, Documents: documents,
	}
}

func (b *Box) has(t *testing.T, tenant, id string) bool {
	t.Helper()
	r, _, err := b.Open(t.Context(), Member(tenant), id)
	if errors.Is(err, ErrNotFound) {
		return false
	}
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return true
}

func TestPort(t *testing.T) {
	b := newBox(t)
	word, err := os.ReadFile(filepath.Join("..", "document", "testdata", "returns.docx"))
	require.NoError(t, err)
	file, err := b.Put(t.Context(), Member("one"), "returns.docx", bytes.NewReader(word))
	require.NoError(t, err)
	image, err := b.Put(t.Context(), Member("one"), "a.jpg", strings.NewReader("\x89PNG\r\n\x1a\n"))
	require.NoError(t, err)
	require.Empty(t, enginetest.ExerciseFiles(t.Context(), b.Of(Member("one")), file, image))
	require.Equal(t, "image/png", image.Get("mime_type").Str(), "the type is detected from the content")

	text, err := b.Of(Member("one")).Read(t.Context(), file)
	require.NoError(t, err)
	require.Contains(t, text, "File: returns.docx\n")
	require.Contains(t, text, "三十天内可以退货")
	// Only the id of a descriptor that a canvas passes is used.
	text, err = b.Of(Member("one")).Read(t.Context(),
		engine.Object("id", image.Get("id"), "name", "x.txt", "mime_type", "text/plain", "created_by", "two"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(text, "data:image/png;base64,"), text)
}

func TestTenantsAreIsolated(t *testing.T) {
	b := newBox(t)
	file, err := b.Put(t.Context(), Member("one"), "a.txt", strings.NewReader("secret"))
	require.NoError(t, err)
	id := file.Get("id").Str()
	require.True(t, b.has(t, "one", id))
	for _, c := range []struct{ tenant, id string }{
		{"two", id},
		{"two", "../one/" + id},
		{"", "one/" + id},
		{"one", "../one/" + id},
		{"one", ""},
	} {
		require.False(t, b.has(t, c.tenant, c.id), c)
		_, err := b.Of(Member(c.tenant)).Read(t.Context(), engine.Object("id", c.id, "created_by", "one"))
		require.ErrorIs(t, err, ErrNotFound)
	}
}

func TestSizes(t *testing.T) {
	b := newBox(t)
	b.Most = 1000
	_, err := b.Put(t.Context(), Member("one"), "a.txt", strings.NewReader(strings.Repeat("x", 1001)))
	require.ErrorIs(t, err, ErrTooLarge)
	file, err := b.Put(t.Context(), Member("one"), "a.txt", strings.NewReader(strings.Repeat("x", 1000)))
	require.NoError(t, err)
	require.Equal(t, "1000", file.Get("size").Text())
	empty, err := b.Put(t.Context(), Member("one"), "", strings.NewReader(""))
	require.NoError(t, err)
	require.Equal(t, "file", empty.Get("name").Str())

	b.Most = 0
	large, err := b.Put(t.Context(), Member("one"), "a.txt", io.LimitReader(blanks{}, files.Largest+1))
	require.NoError(t, err)
	_, err = b.Of(Member("one")).Read(t.Context(), large)
	require.ErrorIs(t, err, ErrTooLarge)
}

// A file that cannot be read is parsed once: the error is stored with it, and is the same after a
// restart.
func TestUnreadableFileIsParsedOnce(t *testing.T) {
	b := newBox(t)
	file, err := b.Put(t.Context(), Member("one"), "a.docx", strings.NewReader("PK\x03\x04 and no more"))
	require.NoError(t, err)
	_, first := b.Of(Member("one")).Read(t.Context(), file)
	require.ErrorIs(t, first, document.ErrDamaged)
	// Without the content, the error can only come from the store.
	require.NoError(t, b.Files.Delete(t.Context(), objectName("one", file.Get("id").Str())))
	b.Documents = &document.Reader{}
	_, again := b.Of(Member("one")).Read(t.Context(), file)
	require.ErrorIs(t, again, document.ErrDamaged)
	require.Equal(t, first.Error(), again.Error())
	found, err := b.item(t.Context(), Member("one"), file.Get("id").Str())
	require.NoError(t, err)
	require.EqualValues(t, 2, found.item.Rev, "the failure is stored once")
}

// A file that failed because the host was busy can be read later.
func TestBusyFileIsReadLater(t *testing.T) {
	b := newBox(t)
	file, err := b.Put(t.Context(), Member("one"), "a.txt", strings.NewReader("text"))
	require.NoError(t, err)
	memory := memlimit.New("documents", 64<<20)
	b.Documents = &document.Reader{Memory: memory, Limits: document.Limits{Wait: time.Millisecond}}
	other := memory.Open()
	require.NoError(t, other.Grow(64<<20))
	_, err = b.Of(Member("one")).Read(t.Context(), file)
	require.ErrorIs(t, err, document.ErrBusy)
	other.Close()
	text, err := b.Of(Member("one")).Read(t.Context(), file)
	require.NoError(t, err)
	require.Contains(t, text, "text")
	require.Zero(t, memory.Used())
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// An interrupted upload stores no file.
func TestInterruptedUpload(t *testing.T) {
	b := newBox(t)
	gone := errors.New("gone")
	_, err := b.Put(t.Context(), Member("one"), "a.txt",
		io.MultiReader(strings.NewReader(strings.Repeat("x", 1<<20)), broken{gone}))
	require.ErrorIs(t, err, gone)
	list, err := b.Store.Items.List(t.Context(), "one", kind)
	require.NoError(t, err)
	require.Empty(t, list)
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func TestMaker(t *testing.T) {
	b := newBox(t)
	made, err := b.Maker(Member("one")).Convert(t.Context(), "xlsx", "| a |\n|---|\n| 1 |")
	require.NoError(t, err)
	id := made.Get("doc_id").Str()
	require.Equal(t, id[:8]+".xlsx", made.Get("file_name").Str())
	text, err := b.Of(Member("one")).Read(t.Context(), engine.Object("id", id))
	require.NoError(t, err)
	require.Contains(t, text, "| a |\n| --- |\n| 1 |")
	require.False(t, b.has(t, "two", id))
	_, err = b.Maker(Member("one")).Convert(t.Context(), "odt", "x")
	require.ErrorContains(t, err, "odt")
}

func FuzzCleanName(f *testing.F) {
	for _, s := range []string{
		"a.txt", "../a", `..\..\a`, "", ".", "..", "a/", "\x00\r\n\"", "\xff", "退货.txt",
		strings.Repeat("长", 300),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := cleanName(name)
		if got == "" || got == "." || got == ".." || strings.ContainsAny(got, "/\\\"\r\n\x00") ||
			!utf8.ValidString(got) || utf8.RuneCountInString(got) > 200 {
			t.Fatalf("%q becomes %q", name, got)
		}
	})
}
