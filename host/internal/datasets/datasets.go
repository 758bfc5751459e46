// Package datasets puts the parts together that the datasets of a host consist of.
package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/knowledge/folder"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/opensearch"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/postgres"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/sqlite"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Config configures the parts. Store, Files, Cutter, Models and Logger are required.
type Config struct {
	Store  *store.Store
	Files  *blobs.Store
	Cutter ingest.Cutter
	Models app.SearchModels
	Limits app.DatasetLimits
	// Folder holds read-only datasets of files; nil means none. The caller closes it.
	Folder *folder.Folder
	// Index is the address of an index that hosts share (see [IndexAddress]); "" keeps one in Dir.
	Index string
	// Dir is where an index of this host is; "" makes a temporary one.
	Dir string
	// Alone means that no other process uses the records: leases of documents belong to ended ones.
	Alone   bool
	Workers int           // see ingest.Config
	Lease   time.Duration // see ingest.Config
	Poll    time.Duration // see ingest.Config
	Logger  *slog.Logger
}

// Datasets are the parts.
type Datasets struct {
	Service  *app.Datasets
	Ingester *ingest.Ingester
	Replica  *replica.Replica
	Index    index.Index
	Store    *store.Store
}

// Open opens the index and makes the parts. Nothing is parsed before the Ingester runs.
func Open(ctx context.Context, cfg Config) (*Datasets, error) {
	d := &Datasets{Store: cfg.Store}
	var err error
	if d.Index, err = openIndex(ctx, cfg.Index, cfg.Dir); err != nil {
		return nil, err
	}
	cfg.Logger.Info("index of datasets opened", "index", fmt.Sprint(d.Index))
	if cfg.Alone {
		if err := d.Store.Ingestion.EndLeases(ctx); err != nil {
			return nil, errors.Join(err, d.Close())
		}
	}
	d.Replica = replica.New(replica.Config{
		Store: d.Store, Files: cfg.Files, Index: d.Index, Logger: cfg.Logger, Lost: d.Store.Ingestion.Requeue,
	})
	d.Ingester = ingest.New(ingest.Config{
		Store: d.Store, Files: cfg.Files, Replica: d.Replica, Cutter: cfg.Cutter, Embedder: cfg.Models.Embedder,
		Workers: cfg.Workers, Lease: cfg.Lease, Poll: cfg.Poll, Chunks: cfg.Limits.Chunks, Logger: cfg.Logger,
	})
	d.Service = app.NewDatasets(app.DatasetsConfig{
		Store: d.Store, Files: cfg.Files, Replica: d.Replica, Ingester: d.Ingester, Models: cfg.Models,
		Limits: cfg.Limits, Folder: cfg.Folder, Logger: cfg.Logger,
	})
	return d, nil
}

// openIndex opens the index at an address, or in a directory without one.
func openIndex(ctx context.Context, address, dir string) (index.Index, error) {
	if address == "" {
		return openFile(ctx, dir)
	}
	if isHTTP(address) {
		return opensearch.Open(ctx, opensearch.Config{URL: address})
	}
	return postgres.Open(ctx, postgres.Config{URL: address})
}

// isHTTP reports whether an address is of OpenSearch or Elasticsearch.
func isHTTP(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}

// IndexAddress returns the address of the index that a setting names: itself, or that of the
// database of the records for "postgres".
func IndexAddress(setting, records string) (string, error) {
	if setting == "postgres" {
		if records == "" {
			return "", errors.New("index: postgres is the database of the records, and they are in none")
		}
		return records, nil
	}
	// The address may have a password, so it is not shown.
	switch scheme, _, found := strings.Cut(setting, "://"); {
	case setting == "", found && (scheme == "postgres" || scheme == "postgresql" || isHTTP(setting)):
		return setting, nil
	default:
		return "", errors.New("index: unknown address (one of postgres, postgres://USER@HOST/DATABASE, " +
			"https://HOST:9200/PREFIX of OpenSearch or Elasticsearch)")
	}
}

// openFile opens the index in a directory. It is made from the records and can be made again.
func openFile(ctx context.Context, dir string) (*sqlite.Index, error) {
	if dir == "" {
		return sqlite.Open(ctx, "")
	}
	file := filepath.Join(dir, "index.db")
	x, err := openPrivate(ctx, file)
	if !errors.Is(err, sqlite.ErrVersion) {
		return x, err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if gone := os.Remove(file + suffix); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			return nil, fmt.Errorf("remove index of another version: %w", gone)
		}
	}
	return openPrivate(ctx, file)
}

// openPrivate opens an index file, which only its owner may read when it is made.
func openPrivate(ctx context.Context, file string) (*sqlite.Index, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return sqlite.Open(ctx, file)
}

// Close closes the index, after the end of [ingest.Ingester.Run].
func (d *Datasets) Close() error { return d.Index.Close() }
