package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/sqlite"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/knowledge/searchmodel"
	"github.com/easel-canvas/easel/host/internal/store"
)

// datasets are the parts behind the datasets of a host.
type datasets struct {
	index    *sqlite.Index
	ingester *ingest.Ingester
	service  *app.Datasets
	work     sync.WaitGroup // of the ingester
}

// openDatasets opens the index of this host and what fills it.
func (h *Host) openDatasets(ctx context.Context) (err error) {
	d := &h.datasets
	if d.index, err = openIndex(ctx, h.cfg.Dir); err != nil {
		return err
	}
	models, err := searchmodel.Open(searchmodel.Config{
		Embedding: h.cfg.Embedding, EmbeddingKey: h.cfg.EmbeddingKey, Rerank: h.cfg.Rerank, RerankKey: h.cfg.RerankKey,
		Client: &http.Client{Transport: h.web.Transport()},
	})
	if err != nil {
		return err
	}
	records := store.DatasetStore{Store: h.store}
	if h.cfg.Postgres == "" {
		// The records are this process's alone: who had a lease on them is dead.
		if err := records.EndLeases(ctx); err != nil {
			return err
		}
	}
	index := replica.New(replica.Config{
		Store: records, Files: h.files, Index: d.index, Logger: h.cfg.Log, Lost: records.RequeueDocument,
	})
	d.ingester = ingest.New(ingest.Config{
		Store: records, Files: h.files, Replica: index, Cutter: ingest.TextCutter{Reader: &h.documents},
		Embedder: models.Embedder, Workers: h.cfg.IngestWorkers, Lease: h.cfg.Lease, Chunks: h.cfg.DatasetChunks,
		Logger: h.cfg.Log,
	})
	d.service = app.NewDatasets(app.DatasetsConfig{
		Store: records, Files: h.files, Replica: index, Ingester: d.ingester, Models: models,
		Limits: app.DatasetLimits{
			File: largestDocument, Bytes: h.cfg.DatasetBytes, Chunks: h.cfg.DatasetChunks,
		},
	})
	return nil
}

// largestDocument is the size up to which documents of datasets are accepted, in bytes.
const largestDocument = 256 << 20

// openIndex opens the index in a data directory, or a temporary one without a directory. It is made
// from the records and can be made again.
func openIndex(ctx context.Context, dir string) (*sqlite.Index, error) {
	if dir == "" {
		return sqlite.Open(ctx, "")
	}
	file := filepath.Join(dir, "index.db")
	x, err := sqlite.Open(ctx, file)
	if !errors.Is(err, sqlite.ErrVersion) {
		return x, err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if gone := os.Remove(file + suffix); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			return nil, fmt.Errorf("remove index of another version: %w", gone)
		}
	}
	return sqlite.Open(ctx, file)
}

func (d *datasets) close() error {
	if d.index == nil {
		return nil
	}
	return d.index.Close()
}
