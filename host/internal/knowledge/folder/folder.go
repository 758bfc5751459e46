package folder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/knowledge/index/sqlite"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed"
)

// Config configures the watch of a folder. Root and Cutter are required.
type Config struct {
	// Root is the folder of datasets.
	Root string
	// Dir is where the index is stored; "" makes a temporary one.
	Dir string
	// Cutter reads and cuts the documents; Images is set if it reads text in images.
	Cutter ingest.Cutter
	Images bool
	// Embedder makes vectors, for several documents at once; nil means that documents are searched
	// by words. Model is its name.
	Embedder embed.Embedder
	Model    string
	// Workers is the number of documents that are read concurrently; 0 means one for each
	// processor, and at least 2.
	Workers int
	// Poll is the time between two scans; 0 means 2 s, a negative value scans once.
	Poll time.Duration
	// Wait bounds how long a search waits for the first scan; 0 means 10 s, a negative value has no
	// bound.
	Wait time.Duration
	// Full returns an error while documents cannot be indexed because the disk is full; nil never
	// does.
	Full func(context.Context) error
	// Logger receives progress and documents that cannot be read; nil means slog.Default.
	Logger *slog.Logger
}

// ErrScanning means that the documents are being read for the first time; retry later.
var ErrScanning = errors.New("the documents are being indexed for the first time")

// Folder is a watched folder. It is safe for concurrent use.
type Folder struct {
	cfg     Config
	root    *os.Root
	index   index.Index
	records *records
	stop    context.CancelFunc
	ready   chan struct{} // closed after the first scan
	work    sync.WaitGroup

	mu sync.RWMutex
	// reported are documents that could not be read for now, with their marks.
	reported map[string]string
	datasets map[string]*folderDataset // by key
	byID     map[string]*folderDataset
	scanned  int // documents of the scan in progress that are done
	listed   int // of all
}

// Open opens a folder and begins to index it in the background.
func Open(ctx context.Context, cfg Config) (*Folder, error) {
	if cfg.Poll == 0 {
		cfg.Poll = 2 * time.Second
	}
	if cfg.Wait == 0 {
		cfg.Wait = 10 * time.Second
	}
	if cfg.Workers == 0 {
		cfg.Workers = max(2, runtime.GOMAXPROCS(0))
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	root, err := os.OpenRoot(cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("knowledge folder: %w", err)
	}
	f := &Folder{
		cfg: cfg, root: root, ready: make(chan struct{}),
		datasets: map[string]*folderDataset{}, byID: map[string]*folderDataset{}, reported: map[string]string{},
	}
	if err := f.openFiles(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("knowledge folder: %w", err), root.Close())
	}
	f.restore()
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.stop = stop
	f.work.Go(func() { f.watch(working) })
	return f, nil
}

// Names of the files in Config.Dir.
const (
	indexFile   = "knowledge-index.db"
	recordsFile = "knowledge.db"
)

// openFiles opens the index and the records. What cannot be used is deleted and made again.
func (f *Folder) openFiles(ctx context.Context) error {
	err := f.tryFiles(ctx)
	if err == nil || f.cfg.Dir == "" || ctx.Err() != nil {
		return err
	}
	f.cfg.Logger.Warn("index of the knowledge folder is made again", "dir", f.cfg.Dir, "err", err)
	for _, name := range []string{indexFile, recordsFile} {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			gone := os.Remove(filepath.Join(f.cfg.Dir, name+suffix))
			if gone != nil && !errors.Is(gone, os.ErrNotExist) {
				return errors.Join(err, gone)
			}
		}
	}
	return f.tryFiles(ctx)
}

func (f *Folder) tryFiles(ctx context.Context) (err error) {
	var paths [2]string // of temporary files, none
	if f.cfg.Dir != "" {
		for i, name := range []string{recordsFile, indexFile} {
			if paths[i], err = private(filepath.Join(f.cfg.Dir, name)); err != nil {
				return err
			}
		}
	}
	if f.records, err = openRecords(ctx, paths[0], f.settings()); err != nil {
		return err
	}
	x, err := sqlite.Open(ctx, paths[1])
	if err == nil {
		f.index = x
		err = f.records.compare(ctx, x)
	}
	if err != nil && x != nil {
		err = errors.Join(err, x.Close())
	}
	if err != nil {
		return errors.Join(err, f.records.close())
	}
	return nil
}

// private makes a file that only its owner may read, unless it exists.
func private(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	return path, file.Close()
}

// settings identifies all that the chunks depend on, except the documents.
func (f *Folder) settings() string {
	return fmt.Sprintf("%d %d %q", ingest.Version, document.Version, f.cfg.Model)
}

// Close ends the scan in progress and closes the index.
func (f *Folder) Close() error {
	f.stop()
	f.work.Wait()
	return errors.Join(f.index.Close(), f.records.close(), f.root.Close())
}

// Index returns the index that holds the chunks; [Folder.Key] names the datasets in it.
func (f *Folder) Index() index.Index { return f.index }

// Model names the model of the vectors; "" means none.
func (f *Folder) Model() string { return f.cfg.Model }

// Await waits for the first scan. Errors: [ErrScanning], that of ctx.
func (f *Folder) Await(ctx context.Context) error {
	select {
	case <-f.ready:
		return nil
	default:
	}
	var limit <-chan time.Time // nil never fires
	if f.cfg.Wait > 0 {
		limit = time.After(f.cfg.Wait)
	}
	select {
	case <-f.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-limit:
		f.mu.RLock()
		defer f.mu.RUnlock()
		return fmt.Errorf("%w: %d of %d are done", ErrScanning, f.scanned, f.listed)
	}
}
