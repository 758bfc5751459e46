package store

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// newDataset adds a dataset to a store.
func newDataset(t testing.TB, s *Store, tenant, id, name string) Dataset {
	t.Helper()
	v, err := s.Datasets.Create(t.Context(), Dataset{Dataset: dataset.Dataset{
		ID: id, Tenant: tenant, Name: name, CreatedBy: "u", Method: "naive",
	}})
	require.NoError(t, err)
	return v
}

// newDocument adds a document to a dataset.
func newDocument(t testing.TB, s *Store, of Dataset, id, name string) Document {
	t.Helper()
	v := Document{Tenant: of.Tenant, File: "f/" + id, Document: dataset.Document{
		ID: id, Dataset: of.ID, Name: name, Size: 10, State: dataset.Unparsed, Kind: "doc",
	}}
	v, err := s.Documents.Create(t.Context(), v, 0)
	require.NoError(t, err)
	return v
}

func TestDatasets(t *testing.T) {
	onBoth(t, func(t *testing.T, records *Store) {
		s, ctx := records, t.Context()
		shop := newDataset(t, s, "t", "1", "Shop")
		require.Equal(t, "shop(1)", newDataset(t, s, "t", "2", "shop").Name, "names are compared without case")
		require.Equal(t, "shop(2)", newDataset(t, s, "t", "3", "shop").Name)
		require.Equal(t, "shop", newDataset(t, s, "other", "4", "shop").Name)
		_, err := s.Datasets.Get(ctx, "other", shop.ID)
		require.ErrorIs(t, err, ErrNotFound)

		_, err = s.Datasets.Edit(ctx, access.All("t"), "1", func(v *Dataset) error { v.Name = "SHOP(1)"; return nil })
		require.ErrorIs(t, err, ErrExists)
		_, err = s.Datasets.Edit(ctx, access.All("t"), "1", func(v *Dataset) error {
			v.Name, v.Config, v.Pagerank, v.Team = "SHOP", []byte(`{"a":1}`), 7, true
			return nil
		})
		require.NoError(t, err)
		v, err := s.Datasets.Get(ctx, "t", "1")
		require.NoError(t, err)
		require.Equal(t, "SHOP", v.Name)
		require.JSONEq(t, `{"a":1}`, string(v.Config))
		require.Equal(t, 7, v.Pagerank)

		other := access.Viewer{Tenant: "t", User: "other"}
		list, total, err := s.Datasets.List(ctx, DatasetFilter{Viewer: other}, Page{})
		require.NoError(t, err)
		require.Equal(t, 1, total, "only what the team shares")
		require.Equal(t, "1", list[0].ID)
		_, total, err = s.Datasets.List(ctx, DatasetFilter{Viewer: access.All("t"), Name: "shop"}, Page{})
		require.NoError(t, err)
		require.Equal(t, 1, total)

		require.NoError(t, s.Datasets.Delete(ctx, "t", "1"))
		require.ErrorIs(t, s.Datasets.Delete(ctx, "t", "1"), ErrNotFound)
	})
}

func TestDocuments(t *testing.T) {
	onBoth(t, func(t *testing.T, records *Store) {
		s, ctx := records, t.Context()
		shop, other := newDataset(t, s, "t", "1", "shop"), newDataset(t, s, "t", "2", "other")
		a := newDocument(t, s, shop, "a", "a.txt")
		require.Equal(t, "a(1).txt", newDocument(t, s, shop, "b", "a.txt").Name)
		newDocument(t, s, other, "c", "a.txt")
		_, err := s.Documents.Create(ctx, Document{Tenant: "t", Document: dataset.Document{
			ID: "d", Dataset: shop.ID, Name: "d", Size: 71,
		}}, 100)
		require.ErrorIs(t, err, ErrQuota)

		list, total, err := s.Documents.List(
			ctx, DocumentFilter{Tenant: "t", Dataset: "1", Words: "A(1)"}, Page{Limit: 5},
		)
		require.NoError(t, err)
		require.Equal(t, 1, total)
		require.Equal(t, "b", list[0].ID)
		_, total, err = s.Documents.List(ctx, DocumentFilter{
			Tenant: "t", Dataset: "1", Suffixes: []string{"txt"}, States: []dataset.State{dataset.Unparsed},
		}, Page{})
		require.NoError(t, err)
		require.Equal(t, 2, total)

		v, err := s.Documents.Edit(ctx, "t", "1", "a", func(d *Document) (Affects, error) {
			d.Meta = map[string]any{"year": "2024", "n": 3.0, "tags": []any{"x"}}
			return Metadata, nil
		})
		require.NoError(t, err)
		require.Greater(t, v.Seq, a.Seq)
		require.Equal(t, a.ContentSeq, v.ContentSeq)
		back, err := s.Documents.Get(ctx, "t", "1", "a")
		require.NoError(t, err)
		require.Equal(t, v.Meta, back.Meta)
		_, err = s.Documents.Get(ctx, "t", "2", "a")
		require.ErrorIs(t, err, ErrNotFound, "it belongs to another dataset")
		_, err = s.Documents.Edit(ctx, "t", "1", "a", func(d *Document) (Affects, error) {
			d.Name = "a(1).txt"
			return Content, nil
		})
		require.ErrorIs(t, err, ErrExists)

		// What is deleted leaves its file to be deleted, and nothing of other datasets.
		n, err := s.Documents.Delete(ctx, "t", "1", "a", "c", "unknown")
		require.NoError(t, err)
		require.Equal(t, 1, n)
		loose, err := s.LooseFiles.Due(ctx, 10)
		require.NoError(t, err)
		require.Equal(t, []LooseFile{{"f/a", "t"}}, loose)
		ds, err := s.Datasets.Get(ctx, "t", "1")
		require.NoError(t, err)
		require.Equal(t, 1, ds.Documents)
		require.Equal(t, ds.Seq, ds.GoneSeq)
		require.NoError(t, s.Datasets.Delete(ctx, "t", "2"))
		loose, err = s.LooseFiles.Due(ctx, 10)
		require.NoError(t, err)
		require.Len(t, loose, 2)
	})
}

func TestDocumentQueue(t *testing.T) {
	onBoth(t, func(t *testing.T, records *Store) {
		s, ctx := records, t.Context()
		shop := newDataset(t, s, "t", "1", "shop")
		newDocument(t, s, shop, "a", "a.txt")
		newDocument(t, s, shop, "b", "b.txt")
		leases := 0
		claim := func(until int64) (Document, error) {
			leases++
			return s.Ingestion.Claim(ctx, Claim{
				Lease: fmt.Sprint("lease", leases), Until: until, Due: s.ms() + 1e6,
				File: func(d *Document) string { return "c/" + d.ID + "/" + d.Lease },
			})
		}
		_, err := claim(s.ms() + 1e6)
		require.ErrorIs(t, err, ErrNotFound)
		require.NoError(t, s.Ingestion.Queue(ctx, "t", "1", "a"))
		require.ErrorIs(t, s.Ingestion.Queue(ctx, "t", "1", "a"), ErrConflict)
		require.ErrorIs(t, s.Ingestion.Queue(ctx, "t", "1", "unknown"), ErrNotFound)

		// A worker whose lease has ended is not obeyed any more.
		late, err := claim(s.ms() - 1)
		require.NoError(t, err)
		require.Equal(t, "a", late.ID)
		v, err := claim(s.ms() + 1e6)
		require.NoError(t, err)
		require.Equal(t, 2, v.Attempts)
		_, err = claim(s.ms() + 1e6)
		require.ErrorIs(t, err, ErrNotFound)
		require.ErrorIs(t, s.Ingestion.Renew(ctx, &late, s.ms()+1e6), ErrConflict)
		late.State = dataset.Done
		_, err = finishOne(ctx, s, late, &Parsed{ChunkFile: "c/a/lease1"})
		require.ErrorIs(t, err, ErrConflict)

		// The one that has the lease publishes.
		v.Progress, v.Messages = 0.5, "half"
		require.NoError(t, s.Ingestion.Renew(ctx, &v, s.ms()+1e6))
		v.State, v.Progress = dataset.Done, 1
		has := func(id string) bool { return id == "in" }
		done, err := finishOne(ctx, s, v, &Parsed{
			ChunkFile: "c/a/lease3", Chunks: 3, Tokens: 30, Has: has, Meta: map[string]any{"k": "v"},
		})
		require.NoError(t, err)
		require.Equal(t, "v", done.Meta["k"])
		ds, err := s.Datasets.Get(ctx, "t", "1")
		require.NoError(t, err)
		require.Equal(t, [3]int{2, 3, 30}, [3]int{ds.Documents, ds.Chunks, ds.Tokens})
		changes, err := s.Documents.Changed(ctx, "1", v.Seq, 10)
		require.NoError(t, err)
		require.Contains(t, idsOfDocuments(changes), "a")

		// Queued and running documents can be canceled, others cannot.
		require.NoError(t, s.Ingestion.Queue(ctx, "t", "1", "b"))
		require.NoError(t, s.Ingestion.Cancel(ctx, "t", "1", "b", "canceled"))
		require.ErrorIs(t, s.Ingestion.Cancel(ctx, "t", "1", "b", ""), ErrConflict)
		_, err = claim(s.ms() + 1e6)
		require.ErrorIs(t, err, ErrNotFound)

		// A worker that stops returns its document without counting an attempt.
		require.NoError(t, s.Ingestion.Queue(ctx, "t", "1", "b"))
		v, err = claim(s.ms() + 1e6)
		require.NoError(t, err)
		require.NoError(t, s.Ingestion.Release(ctx, &v))
		v, err = claim(s.ms() + 1e6)
		require.NoError(t, err)
		require.Equal(t, 1, v.Attempts)
	})
}

// finishOne finishes one document.
func finishOne(ctx context.Context, s *Store, v Document, p *Parsed) (Document, error) {
	out, err := s.Ingestion.Finish(ctx, Finished{Document: v, Result: p})
	if err != nil {
		return Document{}, err
	}
	return out[0], nil
}

// Documents are finished together or not at all.
func TestFinishTogether(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		shop := newDataset(t, s, "t", "1", "shop")
		var list []Finished
		for i, id := range []string{"a", "b", "c"} {
			newDocument(t, s, shop, id, id+".txt")
			require.NoError(t, s.Ingestion.Queue(ctx, "t", "1", id))
			v, err := s.Ingestion.Claim(ctx, Claim{
				Lease: "lease " + id, Until: s.ms() + 1e6, Due: s.ms() + 1e6,
				File: func(d *Document) string { return "c/" + d.ID },
			})
			require.NoError(t, err)
			v.State = dataset.Done
			list = append(list, Finished{Document: v, Result: &Parsed{
				ChunkFile: "c/" + id, Chunks: i + 1, Has: func(string) bool { return false }, Limit: 6,
			}})
		}
		lost := slices.Clone(list)
		lost[2].Document.Lease = "another"
		_, err := s.Ingestion.Finish(ctx, lost...)
		require.ErrorIs(t, err, ErrConflict)
		v, err := s.Documents.Get(ctx, "t", "1", "a")
		require.NoError(t, err)
		require.Equal(t, dataset.Running, v.State)
		large := slices.Clone(list)
		more := *list[2].Result
		more.Chunks, large[2].Result = 4, &more
		_, err = s.Ingestion.Finish(ctx, large...)
		require.ErrorIs(t, err, ErrQuota, "the chunks of all count")

		done, err := s.Ingestion.Finish(ctx, list...)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "c"}, idsOfDocuments(done))
		ds, err := s.Datasets.Get(ctx, "t", "1")
		require.NoError(t, err)
		require.Equal(t, 6, ds.Chunks)
		require.Equal(t, done[2].Seq, ds.Seq)
	})
}

func idsOfDocuments(list []Document) (ids []string) {
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	return ids
}

func TestChunkEdits(t *testing.T) {
	onBoth(t, func(t *testing.T, records *Store) {
		s, ctx := records, t.Context()
		shop := newDataset(t, s, "t", "1", "shop")
		stale := newDocument(t, s, shop, "a", "a.txt")
		off := true
		v := stale
		v.Chunks, v.Tokens = 2, 9
		v, err := s.Documents.EditChunks(ctx, v, []ChunkEdit{
			{Chunk: "new", Put: &dataset.Chunk{Content: "by hand"}, Tokens: 4},
			{Chunk: "gone", Deleted: true},
			{Chunk: "off", Disabled: &off},
			{Chunk: "kept", Disabled: &off},
		}, false)
		require.NoError(t, err)
		_, err = s.Documents.EditChunks(ctx, stale, nil, false)
		require.ErrorIs(t, err, ErrConflict)
		edits, err := s.Documents.ChunkEdits(ctx, "a", stale.Seq)
		require.NoError(t, err)
		require.Len(t, edits, 4)

		// A parse brings deleted chunks back and keeps what was written by hand.
		require.NoError(t, s.Ingestion.Queue(ctx, "t", "1", "a"))
		v, err = s.Ingestion.Claim(ctx, Claim{
			Lease: "l", Until: s.ms() + 1e6,
			File: func(*Document) string { return "c" },
		})
		require.NoError(t, err)
		v.State = dataset.Done
		v, err = finishOne(ctx, s, v, &Parsed{
			ChunkFile: "c", Chunks: 5, Tokens: 50, Has: func(id string) bool { return id == "kept" },
		})
		require.NoError(t, err)
		require.Equal(t, [2]int{6, 54}, [2]int{v.Chunks, v.Tokens})
		edits, err = s.Documents.ChunkEdits(ctx, "a", 0)
		require.NoError(t, err)
		require.Len(t, edits, 2)

		v, err = s.Documents.EditChunks(ctx, v, nil, true)
		require.NoError(t, err)
		require.Equal(t, v.Seq, v.ContentSeq)
		edits, err = s.Documents.ChunkEdits(ctx, "a", 0)
		require.NoError(t, err)
		require.Len(t, edits, 1)
		require.Equal(t, "by hand", edits[0].Put.Content)
	})
}
