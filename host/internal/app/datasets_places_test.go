package app_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// lines is a parsed document with a chunk for each line.
func lines(t *testing.T, f *datasettest.Fixture, text string) dataset.Document {
	t.Helper()
	ds := f.Dataset(dataset.Dataset{
		Name: "lines", Method: "naive", Config: []byte("{\"chunk_token_num\":1,\"delimiter\":\"`\\n`\"}"),
	})
	d := f.Parsed(ds.ID, "lines.txt", text)
	require.Equal(t, dataset.Done, d.State, d.Messages)
	return d
}

func anyVersion(*dataset.Chunk) error { return nil }

// listed are the contents of the chunks of a document by pages, and their ids by content.
func listed(t *testing.T, f *datasettest.Fixture, d dataset.Document) (string, map[string]string) {
	t.Helper()
	var contents []string
	ids := map[string]string{}
	for page := 1; ; page++ {
		list, total, err := f.Chunks(t.Context(), owner, d.Dataset, d.ID, app.ChunkList{Page: page, Size: 2})
		require.NoError(t, err)
		for _, c := range list {
			contents, ids[c.Content] = append(contents, c.Content), c.ID
		}
		if page*2 >= total {
			require.Len(t, contents, total)
			return strings.Join(contents, " "), ids
		}
	}
}

// Chunks keep their places whatever is split, merged, edited and deleted around them, also when all
// are indexed again.
func TestEditedChunksKeepTheirPlaces(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	ctx := t.Context()
	d := lines(t, f, "a1 a2 a3\nb\nc\nd")
	split := func(chunk, first, second string) {
		t.Helper()
		_, ids := listed(t, f, d)
		_, err := app.SplitChunk(
			ctx, f.Datasets, owner, d.Dataset, d.ID, ids[chunk], [2]string{first, second}, anyVersion)
		require.NoError(t, err)
	}
	edit := func(chunk, text string) {
		t.Helper()
		_, ids := listed(t, f, d)
		err := f.UpdateChunk(ctx, owner, d.Dataset, d.ID, ids[chunk], app.ChunkPatch{Content: &text})
		require.NoError(t, err)
	}
	holds := func(want string) {
		t.Helper()
		got, _ := listed(t, f, d)
		require.Equal(t, want, got)
	}
	split("a1 a2 a3", "a1", "a2 a3")
	split("a2 a3", "a2", "a3")
	edit("b", "B")
	edit("a1", "A1")
	edit("a2", "A2")
	holds("A1 A2 a3 B c d")

	_, ids := listed(t, f, d)
	require.NoError(t, app.MergeChunks(ctx, f.Datasets, owner, d.Dataset, d.ID, [2]string{ids["A1"], ids["A2"]},
		"A12", [2]app.ChunkCheck{anyVersion, anyVersion}))
	holds("A12 a3 B c d")
	_, err := f.DeleteChunks(ctx, owner, d.Dataset, d.ID, ids["B"], ids["A1"])
	require.NoError(t, err)
	holds("a3 c d")
	_, err = f.AddChunk(ctx, owner, d.Dataset, d.ID, dataset.Chunk{Content: "c", Keywords: []string{"k"}})
	require.NoError(t, err)
	holds("a3 c d")
	split("d", "d", "a1 a2 a3") // the id of a deleted chunk that stood before
	holds("a3 c d a1 a2 a3")

	name := "other.txt"
	_, err = f.UpdateDocument(ctx, owner, d.Dataset, d.ID, app.DocumentPatch{Name: &name})
	require.NoError(t, err)
	holds("a3 c d a1 a2 a3")
	enabled := "d"
	list, total, err := f.Chunks(ctx, owner, d.Dataset, d.ID, app.ChunkList{Words: enabled})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	require.Equal(t, "d", list[0].Content)
}

// An edit of a chunk does not index the others of its document again: there may be thousands.
func TestAnEditIndexesItsChunksOnly(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	d := lines(t, f, "a b\nc")
	_, ids := listed(t, f, d)
	before, err := f.Store.Documents.Of(t.Context(), d.Dataset, d.ID)
	require.NoError(t, err)
	_, err = app.SplitChunk(
		t.Context(), f.Datasets, owner, d.Dataset, d.ID, ids["a b"], [2]string{"a", "b"}, anyVersion)
	require.NoError(t, err)
	text := "C"
	require.NoError(t, f.UpdateChunk(t.Context(), owner, d.Dataset, d.ID, ids["c"], app.ChunkPatch{Content: &text}))
	after, err := f.Store.Documents.Of(t.Context(), d.Dataset, d.ID)
	require.NoError(t, err)
	require.Equal(t, before.ContentSeq, after.ContentSeq)
	require.Greater(t, after.Seq, before.Seq)
}

func TestASplitCountsForTheQuota(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Limits: app.DatasetLimits{Chunks: 2}})
	d := lines(t, f, "a b\nc")
	_, ids := listed(t, f, d)
	_, err := app.SplitChunk(
		t.Context(), f.Datasets, owner, d.Dataset, d.ID, ids["a b"], [2]string{"a", "b"}, anyVersion)
	require.ErrorIs(t, err, app.ErrQuota)
	got, _ := listed(t, f, d)
	require.Equal(t, "a b c", got)
}

// Two files that fit one at a time are both announced without a size and read at the same time.
func TestReplacedFilesTogetherKeepTheQuota(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Limits: app.DatasetLimits{Bytes: 20}})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	var group sync.WaitGroup
	var begun sync.WaitGroup
	begun.Add(2)
	errs := make([]error, 2)
	for i, name := range []string{"a.txt", "b.txt"} {
		d := f.Add(ds.ID, name, "x")
		group.Go(func() {
			body := &meeting{Reader: strings.NewReader(strings.Repeat("y", 15)), begun: &begun}
			u := app.Upload{Name: name, Size: -1, Body: body}
			_, errs[i] = app.ReplaceFile(t.Context(), f.Datasets, owner, ds.ID, d.ID, u)
		})
	}
	group.Wait()
	require.ErrorIs(t, errors.Join(errs...), app.ErrQuota)
	use, _, err := f.Use(t.Context(), owner)
	require.NoError(t, err)
	require.EqualValues(t, 16, use.Bytes)
	files, err := f.Files.List(t.Context())
	require.NoError(t, err)
	require.Len(t, files, 2, "neither the refused file nor the replaced one is left")
}

// meeting is a file whose first byte waits until all have begun.
type meeting struct {
	*strings.Reader
	begun *sync.WaitGroup
	once  sync.Once
}

func (m *meeting) Read(p []byte) (int, error) {
	m.once.Do(func() { m.begun.Done(); m.begun.Wait() })
	return m.Reader.Read(p)
}
