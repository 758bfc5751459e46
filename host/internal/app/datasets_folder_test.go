package app_test

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/folder"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// watched is a folder of documents: name, text, name, text ...
func watched(t *testing.T, files ...string) *folder.Folder {
	t.Helper()
	root := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		path := filepath.Join(root, filepath.FromSlash(files[i]))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(files[i+1]), 0o600))
	}
	reader := &document.Reader{}
	f, err := folder.Open(t.Context(), folder.Config{
		Root: root, Cutter: ingest.DocumentCutter{Reader: reader}, Poll: -1, Wait: datasettest.Patience,
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, f.Close())
		require.NoError(t, reader.Close())
	})
	require.NoError(t, f.Await(t.Context()))
	return f
}

// Datasets of the watched folder are read like all others, and searched together with them.
func TestFolderIsADataset(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Folder: watched(t,
		"guides/boots.md", "---\nyear: 2024\n---\n# Boots\n\nBoots can be returned within thirty days.",
		"guides/tents.md", "# Tents\n\nTents are waterproof.",
		"@t/own/plan.md", "A plan of the tenant.",
		"@other/secret/x.md", "Boots of another tenant.",
	)})
	own := f.Dataset(dataset.Dataset{Name: "shop"})
	f.Parsed(own.ID, "returns.md", "# Returns\n\nShoes can be returned within twenty days.\n")

	list, total, err := f.List(t.Context(), owner, app.DatasetList{})
	require.NoError(t, err)
	require.Equal(t, 3, total)
	byName := map[string]dataset.Dataset{}
	for _, v := range list {
		byName[v.Name] = v
	}
	require.Len(t, byName, 3)
	guides := byName["guides"]
	require.Equal(t, []any{true, 2, 2, "structure"},
		[]any{guides.ReadOnly, guides.Documents, guides.Chunks, guides.Method})
	require.False(t, byName["shop"].ReadOnly)
	got, err := f.Get(t.Context(), owner, guides.ID)
	require.NoError(t, err)
	require.Equal(t, guides, got)
	for _, name := range []string{"guides", "Guides", guides.ID} {
		found, err := f.Resolve(t.Context(), owner, name)
		require.NoError(t, err)
		require.Equal(t, []dataset.Dataset{guides}, found)
	}
	_, err = f.Resolve(t.Context(), owner, "secret")
	require.EqualError(t, err, `dataset "secret" does not exist; there are guides, own, shop`)
	require.ErrorIs(t, err, app.ErrNotFound)

	documents, total, err := f.Documents(t.Context(), owner, guides.ID,
		app.DocumentList{OrderBy: "name", Ascending: true})
	require.NoError(t, err)
	require.Equal(t, []any{2, "boots.md", "tents.md"}, []any{total, documents[0].Name, documents[1].Name})
	boots := documents[0]
	require.Equal(t, dataset.Done, boots.State)
	for want, q := range map[int]app.DocumentList{
		0: {States: []dataset.State{dataset.Failed}},
		1: {Filter: &index.Filter{Conditions: []index.Condition{{Key: "year", Operator: ">", Value: "2020"}}}},
		2: {Suffixes: []string{"md"}, Size: -1},
	} {
		found, _, err := f.Documents(t.Context(), owner, guides.ID, q)
		require.NoError(t, err)
		require.Len(t, found, want)
	}
	chunks, total, err := f.Chunks(t.Context(), owner, guides.ID, boots.ID, app.ChunkList{})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	require.Contains(t, chunks[0].Content, "thirty days")
	require.Equal(t, []string{guides.ID, boots.ID, "boots.md"},
		[]string{chunks[0].Dataset, chunks[0].Document, chunks[0].Name})
	in, d, err := f.Open(t.Context(), owner, guides.ID, boots.ID)
	require.NoError(t, err)
	text, err := io.ReadAll(in)
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.EqualValues(t, d.Size, len(text))
	found, err := f.Datasets.Find(t.Context(), owner, boots.ID)
	require.NoError(t, err)
	require.Equal(t, boots, found)
	meta, err := f.Metadata(t.Context(), owner, guides.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]map[string]int{"year": {"2024": 1}}, meta)

	both := app.SearchQuery{Datasets: []string{own.ID, guides.ID}, Question: "returned days"}
	r, err := f.Search(t.Context(), owner, both)
	require.NoError(t, err)
	require.Equal(t, 2, r.Total)
	require.ElementsMatch(t, []string{own.ID, guides.ID}, []string{r.Hits[0].Dataset, r.Hits[1].Dataset})
	require.Len(t, r.Documents, 2)
	for page, want := range []string{r.Hits[0].ID, r.Hits[1].ID} {
		both.Page, both.Size = page+1, 1
		one, err := f.Search(t.Context(), owner, both)
		require.NoError(t, err)
		require.Len(t, one.Hits, 1)
		require.Equal(t, want, one.Hits[0].ID)
	}
}

// A dataset of the watched folder changes with its files only.
func TestFolderIsReadOnly(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Folder: watched(t,
		"guides/a.md", "Boots.", "@other/secret/x.md", "Boots.")})
	list, _, err := f.List(t.Context(), owner, app.DatasetList{})
	require.NoError(t, err)
	require.Len(t, list, 1)
	id := list[0].ID
	documents, _, err := f.Documents(t.Context(), owner, id, app.DocumentList{})
	require.NoError(t, err)
	doc := documents[0].ID
	ctx := t.Context()
	for name, change := range map[string]func(id string) error{
		"Update": func(id string) error {
			_, err := f.Update(ctx, owner, id, app.DatasetPatch{Name: ptr("x")})
			return err
		},
		"Delete": func(id string) error { _, errs := f.Delete(ctx, owner, id); return errs[0] },
		"Upload": func(id string) error {
			_, err := f.Upload(ctx, owner, id, app.Upload{Name: "b.md", Body: strings.NewReader("x")})
			return err
		},
		"UpdateDocument": func(id string) error {
			_, err := f.UpdateDocument(ctx, owner, id, doc, app.DocumentPatch{Name: ptr("x")})
			return err
		},
		"DeleteDocuments": func(id string) error { _, err := f.DeleteDocuments(ctx, owner, id, doc); return err },
		"Parse":           func(id string) error { return f.Parse(ctx, owner, id, doc) },
		"Stop":            func(id string) error { return f.Stop(ctx, owner, id, doc) },
		"AddChunk": func(id string) error {
			_, err := f.AddChunk(ctx, owner, id, doc, dataset.Chunk{Content: "x"})
			return err
		},
		"UpdateChunk":     func(id string) error { return f.UpdateChunk(ctx, owner, id, doc, "0", app.ChunkPatch{}) },
		"DeleteChunks":    func(id string) error { _, err := f.DeleteChunks(ctx, owner, id, doc, "0"); return err },
		"DeleteAllChunks": func(id string) error { _, err := f.DeleteAllChunks(ctx, owner, id, doc); return err },
		"UpdateMetadata": func(id string) error {
			_, _, err := f.UpdateMetadata(ctx, owner, id,
				app.MetadataUpdate{Updates: []app.MetadataSet{{Key: "k", Value: "v"}}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var refused *app.Error
			require.ErrorAs(t, change(id), &refused)
			require.Equal(t, app.CodeForbidden, refused.Code)
			require.Equal(t, `dataset "guides" is a folder of this host: it changes with its files only`,
				refused.Message)
		})
	}
	again, _, err := f.Documents(ctx, owner, id, app.DocumentList{})
	require.NoError(t, err)
	require.Equal(t, documents, again)
}

// Pages of a list with datasets of both kinds are the parts of the whole list.
func TestPagesOfBothKinds(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Folder: watched(t, "b/x.md", "x", "c/x.md", "x", "a/x.md", "x")})
	for i := range 5 {
		f.Dataset(dataset.Dataset{Name: fmt.Sprint("own", i)})
	}
	for _, ascending := range []bool{false, true} {
		q := app.DatasetList{Size: -1, Ascending: ascending}
		all, total, err := f.List(t.Context(), owner, q)
		require.NoError(t, err)
		require.Equal(t, 8, total)
		require.Len(t, all, 8)
		for size := 1; size <= 9; size++ {
			var paged []string
			for page := 1; page <= 9; page++ {
				q := app.DatasetList{Page: page, Size: size, Ascending: ascending}
				rows, total, err := f.List(t.Context(), owner, q)
				require.NoError(t, err)
				require.Equal(t, 8, total)
				for _, v := range rows {
					paged = append(paged, v.ID)
				}
			}
			want := make([]string, len(all))
			for i := range all {
				want[i] = all[i].ID
			}
			require.Equal(t, want, paged, "size %d", size)
		}
	}
}
