// Package datasettest opens the services of datasets, with all that is stored below them, for the
// tests of other packages.
package datasettest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/datasets"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/folder"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/searchmodel"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/logtest"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// Fixture is a host's part for datasets.
type Fixture struct {
	testing.TB
	*app.Datasets
	Store    *store.Store
	Files    *blobs.Store
	Index    index.Index
	Replica  *replica.Replica
	Ingester *ingest.Ingester
}

// Options change what a fixture has; the zero value is a new store with the cutter of texts.
type Options struct {
	Store  *store.Store
	Files  *blobs.Store
	Cutter ingest.Cutter
	Models app.SearchModels
	Limits app.DatasetLimits
	Folder *folder.Folder
	Lease  time.Duration
	// IndexURL is the address of an index that hosts share; "" creates a new one.
	IndexURL string
	// Workers is the number of documents that are parsed concurrently; 0 means 2.
	Workers int
	// Idle starts no worker: documents stay queued.
	Idle bool
}

// Patience bounds how long tests wait for an expected change.
const Patience = 2 * time.Minute

// Owner is a principal that sees everything of its tenant.
var Owner = app.For(access.All("t"))

// Shared returns options for fixtures of several hosts, with the same records and files.
func Shared(t testing.TB) Options {
	t.Helper()
	return Options{Store: runstest.Records(t, store.Config{}), Files: logtest.Open(t, broker.Config{}).Files}
}

// New opens a fixture and closes it at the end of the test.
func New(t testing.TB, o Options) *Fixture {
	t.Helper()
	f := &Fixture{TB: t, Files: o.Files}
	if f.Files == nil {
		f.Files = logtest.Open(t, broker.Config{}).Files
	}
	if o.Store == nil {
		o.Store = runstest.Records(t, store.Config{})
	}
	if o.Models == nil {
		o.Models = &searchmodel.Models{}
	}
	if o.Cutter == nil {
		reader := &document.Reader{}
		t.Cleanup(func() { require.NoError(t, reader.Close()) })
		o.Cutter = ingest.DocumentCutter{Reader: reader}
	}
	parts, err := datasets.Open(t.Context(), datasets.Config{
		Store: o.Store, Files: f.Files, Cutter: o.Cutter, Models: o.Models, Folder: o.Folder, Limits: o.Limits,
		Workers: o.Workers, Index: o.IndexURL, Lease: o.Lease, Poll: 10 * time.Millisecond, Logger: runstest.Quiet,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, parts.Close()) })
	f.Datasets, f.Ingester, f.Replica = parts.Service, parts.Ingester, parts.Replica
	f.Index, f.Store = parts.Index, parts.Store
	if !o.Idle {
		t.Cleanup(f.Run())
	}
	return f
}

// Run starts the workers; stop ends them.
func (f *Fixture) Run() (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.Context()))
	var work sync.WaitGroup
	work.Go(func() { f.Ingester.Run(ctx) })
	return func() { cancel(); work.Wait() }
}

// Dataset makes a dataset.
func (f *Fixture) Dataset(ds dataset.Dataset) dataset.Dataset {
	f.Helper()
	out, err := f.Create(f.Context(), Owner, ds)
	require.NoError(f, err)
	return out
}

// Add uploads a document.
func (f *Fixture) Add(ds, name, text string) dataset.Document {
	f.Helper()
	d, err := f.Upload(f.Context(), Owner, ds, app.Upload{
		Name: name, Size: int64(len(text)),
		Body: strings.NewReader(text),
	})
	require.NoError(f, err)
	return d
}

// Parsed uploads a document, parses it and waits for the end.
func (f *Fixture) Parsed(ds, name, text string) dataset.Document {
	f.Helper()
	d := f.Add(ds, name, text)
	require.NoError(f, f.Parse(f.Context(), Owner, ds, d.ID))
	return f.Await(ds, d.ID)
}

// Await waits for the end of a parse.
func (f *Fixture) Await(ds, document string) (d dataset.Document) {
	f.Helper()
	require.Eventually(f, func() bool {
		var err error
		d, err = f.Document(f.Context(), Owner, ds, document)
		require.NoError(f, err)
		return d.State != dataset.Queued && d.State != dataset.Running
	}, Patience, 5*time.Millisecond)
	return d
}

// Contents returns those of the chunks of a document.
func (f *Fixture) Contents(ds, document string) (out []string) {
	f.Helper()
	list, total, err := f.Chunks(f.Context(), Owner, ds, document, app.ChunkList{Size: -1})
	require.NoError(f, err)
	require.Len(f, list, total)
	for _, c := range list {
		out = append(out, c.Content)
	}
	return out
}

// Find returns the contents of what a search finds.
func (f *Fixture) Find(question string, datasets ...string) (out []string) {
	f.Helper()
	r, err := f.Search(f.Context(), Owner, app.SearchQuery{Datasets: datasets, Question: question})
	require.NoError(f, err)
	for _, h := range r.Hits {
		out = append(out, h.Content)
	}
	return out
}
