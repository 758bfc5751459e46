package app_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

var owner = datasettest.Owner

func ptr[T any](v T) *T { return &v }

func TestDatasetFromFileToHit(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	d := f.Parsed(ds.ID, "returns.md", "# Returns\n\nShoes can be returned within thirty days.\n")
	require.Equal(t, dataset.Done, d.State, d.Messages)
	require.Contains(t, d.Messages, "Task done")
	require.EqualValues(t, 1, d.Progress)
	require.Positive(t, d.Began)
	require.Positive(t, d.Duration)
	require.Equal(t, 1, d.Chunks)
	require.Equal(t, "b1d517", d.Hash[:6])
	require.Len(t, f.Find("return shoes", ds.ID), 1)

	ds, err := f.Get(t.Context(), owner, ds.ID)
	require.NoError(t, err)
	require.Equal(t, [2]int{1, 1}, [2]int{ds.Documents, ds.Chunks})
	require.Positive(t, ds.Tokens)

	r, _, err := f.Open(t.Context(), owner, ds.ID, d.ID)
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	require.Contains(t, string(text), "thirty days")

	n, err := f.DeleteDocuments(t.Context(), owner, ds.ID, d.ID)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Empty(t, f.Find("return shoes", ds.ID))
	files, err := f.Files.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, files, "nothing of a deleted document is left")
}

func TestTenantsAndUsersAreApart(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	ada, bob := app.Principal{Tenant: "t", User: "ada"}, app.Principal{Tenant: "t", User: "bob"}
	ds, err := f.Create(t.Context(), ada, dataset.Dataset{Name: "own"})
	require.NoError(t, err)
	for _, p := range []app.Principal{bob, {Tenant: "other"}} {
		_, err = f.Get(t.Context(), p, ds.ID)
		require.ErrorIs(t, err, app.ErrNotFound)
		_, err = f.Upload(t.Context(), p, ds.ID, app.Upload{Name: "a.txt", Body: strings.NewReader("x")})
		require.ErrorIs(t, err, app.ErrNotFound)
		_, err = f.Search(t.Context(), p, app.SearchQuery{Datasets: []string{ds.ID}, Question: "x"})
		require.ErrorIs(t, err, app.ErrNotFound)
		n, errs := f.Delete(t.Context(), p, ds.ID)
		require.Zero(t, n)
		require.Len(t, errs, 1)
	}
	_, err = f.Update(t.Context(), ada, ds.ID, app.DatasetPatch{Team: ptr(true)})
	require.NoError(t, err)
	_, err = f.Get(t.Context(), bob, ds.ID)
	require.NoError(t, err)
	_, err = f.Get(t.Context(), app.Principal{Tenant: "other"}, ds.ID)
	require.ErrorIs(t, err, app.ErrNotFound)
}

func TestParseAgain(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	d := f.Parsed(ds.ID, "a.txt", "red apples")
	require.NoError(t, f.Parse(t.Context(), owner, ds.ID, d.ID))
	again := f.Await(ds.ID, d.ID)
	require.Contains(t, again.Messages, "unchanged")
	require.Contains(t, again.Messages, "Task done")
	require.Equal(t, 1, again.Chunks)

	// Another method removes the chunks.
	_, err := f.UpdateDocument(t.Context(), owner, ds.ID, d.ID, app.DocumentPatch{Method: ptr("one")})
	require.NoError(t, err)
	require.Empty(t, f.Contents(ds.ID, d.ID))
	require.NoError(t, f.Parse(t.Context(), owner, ds.ID, d.ID))
	require.Equal(t, dataset.Done, f.Await(ds.ID, d.ID).State)
	require.Equal(t, []string{"red apples"}, f.Contents(ds.ID, d.ID))
}

func TestParseReportsEachDocument(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Idle: true})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	a, b := f.Add(ds.ID, "a.txt", "a"), f.Add(ds.ID, "b.txt", "b")
	require.NoError(t, f.Parse(t.Context(), owner, ds.ID, a.ID))
	err := f.Parse(t.Context(), owner, ds.ID, a.ID, "unknown", b.ID)
	require.Equal(t, []string{app.CodeChanged + " " + a.ID, app.CodeNotFound + " unknown"}, refusals(err))
	d, err := f.Document(t.Context(), owner, ds.ID, b.ID)
	require.NoError(t, err)
	require.Equal(t, dataset.Queued, d.State, "the others are queued")

	require.NoError(t, f.Stop(t.Context(), owner, ds.ID, a.ID), "queued documents can be stopped")
	require.Equal(t, []string{app.CodeChanged + " " + a.ID}, refusals(f.Stop(t.Context(), owner, ds.ID, a.ID)))
}

// refusals are the errors that a joined error is made of.
func refusals(err error) (out []string) {
	var list interface{ Unwrap() []error }
	if !errors.As(err, &list) {
		return []string{err.Error()}
	}
	for _, e := range list.Unwrap() {
		var refused *app.Error
		if errors.As(e, &refused) {
			out = append(out, refused.Code+" "+refused.Param)
		}
	}
	return out
}

func TestChunksByHand(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	ctx := t.Context()
	ds := f.Dataset(dataset.Dataset{Name: "shop", Method: "naive", Config: []byte(`{"chunk_token_num":1}`)})
	d := f.Parsed(ds.ID, "a.txt", "red apples\ngreen pears\nblue plums")
	require.Len(t, f.Contents(ds.ID, d.ID), 3)

	added, err := f.AddChunk(ctx, owner, ds.ID, d.ID, dataset.Chunk{Content: "by hand", Keywords: []string{"manual"}})
	require.NoError(t, err)
	same, err := f.AddChunk(ctx, owner, ds.ID, d.ID, dataset.Chunk{Content: "by hand"})
	require.NoError(t, err)
	require.Equal(t, added.ID, same.ID)
	require.Equal(t, []string{"by hand"}, f.Find("hand", ds.ID))
	_, err = f.AddChunk(ctx, owner, ds.ID, d.ID, dataset.Chunk{Content: "  "})
	require.ErrorContains(t, err, "blank")

	list, _, err := f.Chunks(ctx, owner, ds.ID, d.ID, app.ChunkList{Words: "green"})
	require.NoError(t, err)
	green := list[0].ID
	require.NoError(t, f.UpdateChunk(ctx, owner, ds.ID, d.ID, green, app.ChunkPatch{Content: ptr("yellow quinces")}))
	require.Empty(t, f.Find("pears", ds.ID))
	require.Equal(t, []string{"yellow quinces"}, f.Find("quinces", ds.ID))
	require.NoError(t, f.UpdateChunk(ctx, owner, ds.ID, d.ID, green, app.ChunkPatch{Enabled: ptr(false)}))
	require.Empty(t, f.Find("quinces", ds.ID))
	require.ErrorIs(t, f.UpdateChunk(ctx, owner, ds.ID, d.ID, "unknown", app.ChunkPatch{}), app.ErrNotFound)

	list, _, err = f.Chunks(ctx, owner, ds.ID, d.ID, app.ChunkList{Words: "blue"})
	require.NoError(t, err)
	n, err := f.DeleteChunks(ctx, owner, ds.ID, d.ID, list[0].ID, "unknown")
	require.NoError(t, err)
	require.Equal(t, 1, n)
	n, err = f.DeleteChunks(ctx, owner, ds.ID, d.ID)
	require.NoError(t, err)
	require.Zero(t, n)
	now, err := f.Document(ctx, owner, ds.ID, d.ID)
	require.NoError(t, err)
	require.Equal(t, 3, now.Chunks)
	require.Len(t, f.Contents(ds.ID, d.ID), 3)

	// Manually added chunks survive a parse; deleted ones are restored.
	_, err = f.UpdateDocument(ctx, owner, ds.ID, d.ID,
		app.DocumentPatch{Config: ptr(json.RawMessage(`{"chunk_token_num":2}`))})
	require.NoError(t, err)
	require.NoError(t, f.Parse(ctx, owner, ds.ID, d.ID))
	now = f.Await(ds.ID, d.ID)
	contents := f.Contents(ds.ID, d.ID)
	require.Contains(t, contents, "by hand")
	require.Contains(t, contents, "yellow quinces")
	require.Len(t, contents, now.Chunks)

	n, err = f.DeleteAllChunks(ctx, owner, ds.ID, d.ID)
	require.NoError(t, err)
	require.Equal(t, now.Chunks, n)
	require.Empty(t, f.Contents(ds.ID, d.ID))
	ds, err = f.Get(ctx, owner, ds.ID)
	require.NoError(t, err)
	require.Equal(t, [2]int{0, 0}, [2]int{ds.Chunks, ds.Tokens})
}

func TestDisabledDocument(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	d := f.Parsed(ds.ID, "a.txt", "red apples")
	_, err := f.UpdateDocument(t.Context(), owner, ds.ID, d.ID, app.DocumentPatch{Enabled: ptr(false)})
	require.NoError(t, err)
	require.Empty(t, f.Find("apples", ds.ID))
	list, _, err := f.Chunks(t.Context(), owner, ds.ID, d.ID, app.ChunkList{})
	require.NoError(t, err)
	require.True(t, list[0].Disabled)
	_, err = f.UpdateDocument(t.Context(), owner, ds.ID, d.ID, app.DocumentPatch{
		Enabled: ptr(true),
		Name:    ptr("fruit.txt"),
	})
	require.NoError(t, err)
	require.Len(t, f.Find("apples", ds.ID), 1)
	require.Len(t, f.Find("fruit", ds.ID), 1, "names are searched")
}

func TestDatasetMetadata(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	ctx := t.Context()
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	a, b := f.Parsed(ds.ID, "a.txt", "red apples"), f.Parsed(ds.ID, "b.txt", "red pears")
	for id, year := range map[string]string{a.ID: "2024", b.ID: "2025"} {
		meta := map[string]any{"year": year, "tags": []any{"x", "y"}}
		_, err := f.UpdateDocument(ctx, owner, ds.ID, id, app.DocumentPatch{Meta: &meta})
		require.NoError(t, err)
	}
	meta, err := f.Metadata(ctx, owner, ds.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]map[string]int{"year": {"2024": 1, "2025": 1}, "tags": {"x": 2, "y": 2}}, meta)

	late := &index.Filter{Conditions: []index.Condition{{Key: "year", Operator: ">", Value: "2024"}}}
	r, err := f.Search(ctx, owner, app.SearchQuery{Datasets: []string{ds.ID}, Question: "red", Filter: late})
	require.NoError(t, err)
	require.Len(t, r.Hits, 1)
	require.Equal(t, "red pears", r.Hits[0].Content)
	require.Equal(t, "2025", r.Hits[0].Meta["year"])
	list, total, err := f.Documents(ctx, owner, ds.ID, app.DocumentList{Filter: late})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	require.Equal(t, b.ID, list[0].ID)

	updated, matched, err := f.UpdateMetadata(ctx, owner, ds.ID, app.MetadataUpdate{
		Filter:  late,
		Updates: []app.MetadataSet{{Key: "tags", Value: "z", Match: "x"}, {Key: "new", Value: 3.0}},
		Deletes: []app.MetadataSet{{Key: "year"}, {Key: "tags", Value: "y"}},
	})
	require.NoError(t, err)
	require.Equal(t, [2]int{1, 1}, [2]int{updated, matched})
	d, err := f.Document(ctx, owner, ds.ID, b.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"tags": []any{"z"}, "new": 3.0}, d.Meta)
	require.Len(t, f.Find("pears", ds.ID), 1)
}

func TestDatasetQuotas(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Limits: app.DatasetLimits{File: 20, Bytes: 30, Chunks: 2}})
	ctx := t.Context()
	ds := f.Dataset(dataset.Dataset{Name: "shop", Method: "naive", Config: []byte("{\"delimiter\":\"`\\n`\"}")})
	upload := func(size int, announced int64) error {
		_, err := f.Upload(ctx, owner, ds.ID, app.Upload{
			Name: "a.txt", Size: announced,
			Body: strings.NewReader(strings.Repeat("x", size)),
		})
		return err
	}
	require.ErrorIs(t, upload(21, 21), app.ErrFileTooLarge)
	require.ErrorIs(t, upload(21, -1), app.ErrFileTooLarge, "whatever is announced")
	require.NoError(t, upload(20, 20))
	require.ErrorIs(t, upload(11, 1), app.ErrQuota)
	files, err := f.Files.List(ctx)
	require.NoError(t, err)
	require.Len(t, files, 1, "what was refused is not stored")

	d := f.Parsed(ds.ID, "b.txt", "a\nb\nc")
	require.Equal(t, dataset.Failed, d.State)
	require.Contains(t, d.Messages, "quota is used up")
	require.Zero(t, d.Chunks)
	require.Equal(t, dataset.Done, f.Parsed(ds.ID, "c.txt", "a\nb").State)
	_, err = f.AddChunk(ctx, owner, ds.ID, d.ID, dataset.Chunk{Content: "third"})
	require.ErrorIs(t, err, app.ErrQuota)
}

func TestPagerankLiftsADataset(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{})
	best := f.Dataset(dataset.Dataset{Name: "best"})
	lifted := f.Dataset(dataset.Dataset{Name: "lifted", Pagerank: 100})
	f.Parsed(best.ID, "a.txt", "red apples")
	f.Parsed(lifted.ID, "b.txt", "red apples and a lot of other fruit beside what was asked for")
	require.Contains(t, f.Find("red apples", best.ID, lifted.ID)[0], "other fruit")
}
