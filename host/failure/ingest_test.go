package failure_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/chunkfile"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/sqlite"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed/embedtest"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// killIngestEmbedded and killIngestShared are the short forms that `make test` runs.
func killIngestEmbedded(t *testing.T, bin programs) { killIngest(embedded(t, bin), 4) }

func killIngestShared(t *testing.T, bin programs) { killIngest(shared(t, bin, 1), 2) }

// killIngest kills hosts at random moments while they parse 200 documents. In the end each chunk
// is in the files and in an index once, with its vector, and no file is left without a record.
func killIngest(w *world, kills int) {
	c := &corpus{w: w, model: embeddings(w.t)}
	c.fill(200)
	w.args = append(w.args, "--embedding", c.model+"/v1#words")
	names := []string{"a"}
	if w.nats != nil {
		names = []string{"a", "b"}
	}
	for _, name := range names {
		w.start(name)
	}
	for range kills {
		c.awaitProgress(1 + rand.IntN(12))
		name := names[rand.IntN(len(names))]
		w.mu.Lock()
		h := w.hosts[name]
		w.mu.Unlock()
		w.kill(h)
		w.start(name)
	}
	c.awaitProgress(c.documents)
	for _, name := range names {
		w.mu.Lock()
		h := w.hosts[name]
		w.mu.Unlock()
		w.kill(h)
	}
	c.require()
}

// embeddings serves an embedding model whose vectors follow from the texts.
func embeddings(t testing.TB) string {
	return embedtest.Serve(t, "", func(_, text string) []float32 {
		h := xxhash.Sum64String(text)
		return []float32{1, float32(h & 0xff), float32(h >> 8 & 0xff), float32(h >> 16 & 0xff)}
	})
}

// corpus are documents in the storage of a world.
type corpus struct {
	w         *world
	model     string
	documents int
	dataset   string
	want      map[string][]string // contents of the chunks by document
}

// open opens the storage of the world, of which an embedded one has no host then.
func (c *corpus) open() (*store.Store, *blobs.Store, func()) {
	t, quiet := c.w.t, slog.New(slog.DiscardHandler)
	dir := filepath.Join(c.w.dir, "data")
	stored, brokered := store.Config{Dir: dir}, broker.Config{Dir: dir, Log: quiet}
	if c.w.nats != nil {
		stored = store.Config{URL: c.w.postgres.URL, KeyFile: filepath.Join(c.w.dir, "secret.key")}
		brokered = broker.Config{URLs: c.w.natsURLs(), Replicas: 1, Log: quiet}
	}
	conn, err := broker.Open(t.Context(), brokered, "easel test")
	require.NoError(t, err)
	files, err := blobs.New(t.Context(), conn)
	require.NoError(t, err)
	records, err := store.Open(t.Context(), stored)
	require.NoError(t, err)
	return records, files, func() {
		require.NoError(t, records.Close())
		require.NoError(t, conn.Close())
	}
}

// fill stores n documents and queues them.
func (c *corpus) fill(n int) {
	t := c.w.t
	records, files, done := c.open()
	defer done()
	c.dataset, c.documents, c.want = strings.Repeat("d", 32), n, map[string][]string{}
	host := strings.TrimPrefix(c.model, "http://")
	host, _, _ = strings.Cut(host, ":")
	model := "words@" + host
	_, err := records.Datasets.Create(t.Context(), store.Dataset{Model: model, Dataset: dataset.Dataset{
		ID: c.dataset, Tenant: "t", Name: "many", Method: "naive", EmbeddingModel: model,
	}})
	require.NoError(t, err)
	for i := range n {
		id := fmt.Sprintf("%032x", i)
		var text strings.Builder
		for line := range 5 + i%40 {
			content := fmt.Sprintf("document %d line %d says apple and pear", i, line)
			c.want[id] = append(c.want[id], content)
			text.WriteString(content + "\n")
		}
		info, err := files.Put(t.Context(), ingest.File("t", c.dataset, id), strings.NewReader(text.String()))
		require.NoError(t, err)
		_, err = records.Documents.Create(t.Context(), store.Document{
			Tenant: "t", File: info.Name, QueueTime: int64(i), Document: dataset.Document{
				ID: id, Dataset: c.dataset, Name: id + ".txt", Size: int64(info.Size), Hash: info.Digest, Kind: "doc",
				Method: "naive", Config: []byte(`{"chunk_token_num":1}`), State: dataset.Queued,
			},
		}, 0)
		require.NoError(t, err)
	}
}

// awaitProgress waits until more documents are done than now, or all.
func (c *corpus) awaitProgress(more int) {
	first := -1
	require.Eventually(c.w.t, func() bool {
		done, err := c.done()
		if err != nil {
			return false
		}
		if first < 0 {
			first = done
		}
		return done >= min(first+more, c.documents)
	}, patience, 2*time.Millisecond, "the documents do not become done")
}

// done counts the parsed documents, without the locks of a host.
func (c *corpus) done() (n int, err error) {
	driver, name := "sqlite", "file:"+filepath.Join(c.w.dir, "data", "easel.db")+"?mode=ro&_pragma=busy_timeout(5000)"
	if c.w.nats != nil {
		driver, name = "pgx", c.w.postgres.URL
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return n, db.QueryRow(`SELECT COUNT(*) FROM documents WHERE state = 'done'`).Scan(&n)
}

// require lists all chunks, in the files and in an index made of them, and those in the index of a
// host that was killed.
func (c *corpus) require() {
	t := c.w.t
	records, files, done := c.open()
	defer done()
	quiet := slog.New(slog.DiscardHandler)
	file := ""
	if c.w.nats == nil {
		file = filepath.Join(c.w.dir, "data", "index.db")
	}
	x, err := sqlite.Open(t.Context(), file)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	r := replica.New(replica.Config{Store: records, Files: files, Index: x, Logger: quiet})
	synced, err := r.Sync(t.Context(), c.dataset)
	require.NoError(t, err)
	list, total, err := records.Documents.List(t.Context(), store.DocumentFilter{Tenant: "t", Dataset: c.dataset},
		store.Page{})
	require.NoError(t, err)
	require.Equal(t, c.documents, total)
	chunks, again := 0, 0
	named := map[string]bool{}
	for i := range list {
		d := &list[i]
		require.Equal(t, dataset.Done, d.State, d.Messages)
		require.Equal(t, c.want[d.ID], c.inFile(files, d))
		require.Equal(t, len(c.want[d.ID]), d.Chunks)
		page, err := x.Chunks(t.Context(), &index.List{Dataset: synced.Key, Document: d.ID, Limit: 1000})
		require.NoError(t, err)
		var contents []string
		for _, chunk := range page.Chunks {
			contents = append(contents, chunk.Content)
		}
		require.Equal(t, c.want[d.ID], contents)
		chunks += len(contents)
		if d.Attempts > 1 {
			again++
		}
		named[d.File], named[d.ChunkFile] = true, true
	}
	t.Logf("%d documents were parsed more than once", again)
	stats, err := x.Stats(t.Context(), synced.Key)
	require.NoError(t, err)
	require.Equal(t, index.Stats{Documents: c.documents, Chunks: chunks, Vectors: chunks, Dims: 4}, stats)
	c.requireNoStray(records, files, named)
}

// inFile returns the chunks in the file of a document; each has a vector.
func (c *corpus) inFile(files *blobs.Store, d *store.Document) (contents []string) {
	t := c.w.t
	r, _, err := files.Open(t.Context(), d.ChunkFile)
	require.NoError(t, err)
	defer r.Close()
	for chunk, err := range chunkfile.Read(r) {
		require.NoError(t, err)
		require.Len(t, chunk.Vector, 4)
		contents = append(contents, chunk.Content)
	}
	return contents
}

// requireNoStray requires that each file has a record or is marked for deletion.
func (c *corpus) requireNoStray(records *store.Store, files *blobs.Store, named map[string]bool) {
	t := c.w.t
	var dump bytes.Buffer
	require.NoError(t, records.Dump(context.WithoutCancel(t.Context()), &dump))
	list, err := files.List(t.Context())
	require.NoError(t, err)
	for _, f := range list {
		if !named[f.Name] {
			require.Contains(t, dump.String(), f.Name, "a file that no record names")
		}
	}
}
