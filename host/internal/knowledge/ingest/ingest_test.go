package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// cutter cuts at lines and calls a function with each before it yields it.
type cutter func(ctx context.Context, line string) error

func (c cutter) Cut(ctx context.Context, in ingest.Input) iter.Seq2[ingest.Piece, error] {
	return func(yield func(ingest.Piece, error) bool) {
		r, err := in.Source.Open(ctx)
		if err != nil {
			yield(ingest.Piece{}, err)
			return
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			yield(ingest.Piece{}, err)
			return
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			err := c(ctx, line)
			if !yield(ingest.Piece{Content: line, Tokens: 1}, err) || err != nil {
				return
			}
		}
	}
}

func ready(context.Context, string) error { return nil }

func TestFailedDocumentDoesNotAffectOthers(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Cutter: cutter(func(_ context.Context, line string) error {
		switch line {
		case "broken":
			return errors.New("page 3 is unreadable")
		case "strange":
			panic("index out of range")
		}
		return nil
	})})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	broken, strange := f.Parsed(ds.ID, "a.txt", "first\nbroken"), f.Parsed(ds.ID, "b.txt", "strange")
	fine := f.Parsed(ds.ID, "c.txt", "fine")
	require.Equal(t, dataset.Failed, broken.State)
	require.EqualValues(t, -1, broken.Progress)
	require.Contains(t, broken.Messages, "[ERROR] page 3 is unreadable")
	require.Equal(t, dataset.Failed, strange.State)
	require.Contains(t, strange.Messages, "internal error")
	require.NotContains(t, strange.Messages, "index out of range", "what went wrong inside is for the log")
	require.Equal(t, dataset.Done, fine.State)
	require.Equal(t, []string{"fine"}, f.Find("fine first", ds.ID))
	files, err := f.Files.List(t.Context())
	require.NoError(t, err)
	require.Len(t, files, 4, "three originals and the chunks of one document")
}

func TestEmptyDocumentIsDone(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Cutter: cutter(ready)})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	d := f.Parsed(ds.ID, "a.txt", "")
	require.Equal(t, dataset.Done, d.State)
	require.Contains(t, d.Messages, "No chunk built")
	require.Empty(t, f.Contents(ds.ID, d.ID))
}

// While a document is parsed again its former chunks are found, and after a cancel they still are.
func TestFormerChunksStayUntilTheNewOnesAreComplete(t *testing.T) {
	arrived := make(chan chan struct{})
	f := datasettest.New(t, datasettest.Options{Cutter: cutter(func(ctx context.Context, line string) error {
		if line != "hold" {
			return nil
		}
		release := make(chan struct{})
		select {
		case arrived <- release:
		case <-ctx.Done():
		}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})})
	ctx := t.Context()
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	d := f.Parsed(ds.ID, "a.txt", "red apples")
	file, _, err := f.Files.Open(ctx, ingest.File("t", ds.ID, d.ID))
	require.NoError(t, err)
	require.NoError(t, file.Close())

	// The same document with another content, as a re-upload makes it.
	_, err = f.Files.Put(ctx, ingest.File("t", ds.ID, d.ID), strings.NewReader("green pears\nhold"))
	require.NoError(t, err)
	_, err = f.Store.Documents.Edit(ctx, "t", ds.ID, d.ID, func(v *store.Document) (store.Affects, error) {
		v.Hash = "other"
		return store.Nothing, nil
	})
	require.NoError(t, err)
	require.NoError(t, f.Parse(ctx, datasettest.Owner, ds.ID, d.ID))
	<-arrived
	require.Equal(t, []string{"red apples"}, f.Contents(ds.ID, d.ID))
	require.NoError(t, f.Stop(ctx, datasettest.Owner, ds.ID, d.ID))
	now := f.Await(ds.ID, d.ID)
	require.Equal(t, dataset.Canceled, now.State)
	require.Contains(t, now.Messages, "[Canceled]")
	require.Equal(t, []string{"red apples"}, f.Find("red apples pears", ds.ID))

	require.NoError(t, f.Parse(ctx, datasettest.Owner, ds.ID, d.ID))
	close(<-arrived)
	require.Equal(t, dataset.Done, f.Await(ds.ID, d.ID).State)
	require.Equal(t, []string{"green pears", "hold"}, f.Contents(ds.ID, d.ID))
	require.Empty(t, f.Find("apples", ds.ID))
}

// A document that is deleted while it is parsed leaves nothing behind.
func TestDeleteWhileParsing(t *testing.T) {
	arrived := make(chan struct{})
	stopped := make(chan struct{})
	f := datasettest.New(t, datasettest.Options{Cutter: cutter(func(ctx context.Context, line string) error {
		close(arrived)
		<-ctx.Done()
		close(stopped)
		return context.Cause(ctx)
	})})
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	d := f.Add(ds.ID, "a.txt", "red apples")
	require.NoError(t, f.Parse(t.Context(), datasettest.Owner, ds.ID, d.ID))
	<-arrived
	_, err := f.DeleteDocuments(t.Context(), datasettest.Owner, ds.ID, d.ID)
	require.NoError(t, err)
	<-stopped
	require.Eventually(t, func() bool {
		files, err := f.Files.List(t.Context())
		return err == nil && len(files) == 0
	}, datasettest.Patience, 5*time.Millisecond)
}

// A document whose worker dies each time is set aside.
func TestPoisonDocument(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Cutter: cutter(ready), Idle: true})
	ctx := t.Context()
	ds := f.Dataset(dataset.Dataset{Name: "shop"})
	d := f.Add(ds.ID, "a.txt", "red apples")
	require.NoError(t, f.Parse(ctx, datasettest.Owner, ds.ID, d.ID))
	for i := range ingest.Attempts { // workers that claim it and are never heard of again
		_, err := f.Store.Ingestion.Claim(ctx, store.Claim{
			Lease: fmt.Sprint("dead", i), Until: 1, File: func(*store.Document) string { return "" },
		})
		require.NoError(t, err)
	}
	running, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	work.Go(func() { f.Ingester.Run(running) })
	defer work.Wait()
	defer stop()
	now := f.Await(ds.ID, d.ID)
	require.Equal(t, dataset.Failed, now.State)
	require.Contains(t, now.Messages, fmt.Sprintf("abandoned after %d", ingest.Attempts))
}

// Two hosts with the same records and files share the work, and each finds what the other has made.
func TestTwoHosts(t *testing.T) {
	shared := datasettest.Shared(t)
	var mu sync.Mutex
	worked := map[string]int{}
	both := make(chan struct{})
	hostNamed := func(name string) *datasettest.Fixture {
		o := shared
		o.Cutter = cutter(func(ctx context.Context, _ string) error {
			mu.Lock()
			if worked[name]++; len(worked) == 2 && worked[name] == 1 {
				close(both)
			}
			mu.Unlock()
			select { // until both are at work
			case <-both:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		return datasettest.New(t, o)
	}
	a, b := hostNamed("a"), hostNamed("b")
	ds := a.Dataset(dataset.Dataset{Name: "shop"})
	const n = 20
	var ids []string
	for i := range n {
		ids = append(ids, a.Add(ds.ID, fmt.Sprintf("%d.txt", i), fmt.Sprintf("apple number%d", i)).ID)
	}
	require.NoError(t, a.Parse(t.Context(), datasettest.Owner, ds.ID, ids...))
	for i, id := range ids {
		require.Equal(t, dataset.Done, b.Await(ds.ID, id).State)
		for _, h := range []*datasettest.Fixture{a, b} {
			require.Equal(t, []string{fmt.Sprintf("apple number%d", i)}, h.Find(fmt.Sprintf("number%d", i), ds.ID))
		}
	}
	require.Equal(t, n, worked["a"]+worked["b"], "each document is parsed once")

	// Edits, metadata and deletions of one host are seen by the other.
	chunk, err := a.AddChunk(t.Context(), datasettest.Owner, ds.ID, ids[0], dataset.Chunk{Content: "by hand"})
	require.NoError(t, err)
	require.Equal(t, []string{"by hand"}, b.Find("hand", ds.ID))
	off := false
	require.NoError(t, b.UpdateChunk(t.Context(), datasettest.Owner, ds.ID, ids[0], chunk.ID,
		app.ChunkPatch{Enabled: &off}))
	require.Empty(t, a.Find("hand", ds.ID))
	meta := map[string]any{"year": "2024"}
	_, err = b.UpdateDocument(t.Context(), datasettest.Owner, ds.ID, ids[1], app.DocumentPatch{Meta: &meta})
	require.NoError(t, err)
	r, err := a.Search(t.Context(), datasettest.Owner, app.SearchQuery{Datasets: []string{ds.ID}, Question: "number1"})
	require.NoError(t, err)
	require.Equal(t, meta, r.Hits[0].Meta)
	_, err = b.DeleteDocuments(t.Context(), datasettest.Owner, ds.ID, ids[2])
	require.NoError(t, err)
	require.Empty(t, a.Find("number2", ds.ID))
	_, err = a.DeleteChunks(t.Context(), datasettest.Owner, ds.ID, ids[0], chunk.ID)
	require.NoError(t, err)
	require.Len(t, b.Contents(ds.ID, ids[0]), 1)
}

// A document whose chunks are lost is parsed again automatically, and the others stay searchable.
func TestLostChunkFile(t *testing.T) {
	o := datasettest.Shared(t)
	o.Cutter = cutter(ready)
	a := datasettest.New(t, o)
	ds := a.Dataset(dataset.Dataset{Name: "shop"})
	lost, kept := a.Parsed(ds.ID, "a.txt", "red apples"), a.Parsed(ds.ID, "b.txt", "green pears")
	v, err := a.Store.Documents.Get(t.Context(), "t", ds.ID, lost.ID)
	require.NoError(t, err)
	require.NoError(t, o.Files.Delete(t.Context(), v.ChunkFile))

	b := datasettest.New(t, o) // a host with an empty index
	require.Equal(t, []string{"green pears"}, b.Contents(ds.ID, kept.ID))
	require.Eventually(t, func() bool { return len(b.Find("apples", ds.ID)) == 1 }, datasettest.Patience,
		5*time.Millisecond)
}
