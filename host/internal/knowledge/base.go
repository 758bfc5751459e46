package knowledge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/document"
)

// Config says what is made searchable.
type Config struct {
	// Root is the folder of datasets.
	Root string
	// Index is the file that holds the index; created when missing, and again when it cannot be
	// used. "" keeps the index in memory.
	Index string
	// Reader reads documents that are not plain text; nil leaves those out.
	Reader Reader
	// Poll is how often the folder is looked at; 0 means 2 s, negative once only.
	Poll time.Duration
	// Wait is how long a search waits for the first indexing; 0 means 10 s.
	Wait time.Duration
	// Log takes progress and what could not be read; nil means slog.Default.
	Log *slog.Logger
}

// Reader reads documents in a bounded amount of memory.
type Reader interface {
	// Read is the text of a document, with headings as in Markdown. Errors are those of package
	// document.
	Read(context.Context, document.Source) (string, error)
	// Reserve waits for memory for a document that is read without it.
	Reserve(ctx context.Context, n int64) (release func(), err error)
}

// ErrIndexing means that the documents are still being read for the first time; ask again later.
var ErrIndexing = errors.New("the documents are still being indexed")

// Base is an open folder of documents. It is safe for concurrent use.
type Base struct {
	cfg   Config
	root  *os.Root
	index *index
	stop  context.CancelFunc
	ready chan struct{} // closed after the first indexing
	work  sync.WaitGroup

	mu   sync.Mutex
	last pass // what the last look at the folder found
}

// pass is one look at the folder.
type pass struct{ done, of int }

var (
	_ engine.Retriever         = (*Base)(nil)
	_ component.MetadataLister = (*Base)(nil)
)

// Open opens a folder and begins to index it in the background.
func Open(ctx context.Context, cfg Config) (*Base, error) {
	if cfg.Poll == 0 {
		cfg.Poll = 2 * time.Second
	}
	if cfg.Wait == 0 {
		cfg.Wait = 10 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	root, err := os.OpenRoot(cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("knowledge: %w", err)
	}
	ix, err := openIndex(ctx, cfg.Index)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	b := &Base{cfg: cfg, root: root, index: ix, ready: make(chan struct{})}
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	b.work.Go(func() { b.follow(working) })
	return b, nil
}

// Close ends the indexing and closes the index.
func (b *Base) Close() error {
	b.stop()
	b.work.Wait()
	return errors.Join(b.index.close(), b.root.Close())
}

// await waits for the first indexing.
func (b *Base) await(ctx context.Context) error {
	select {
	case <-b.ready:
		return nil
	default:
	}
	select {
	case <-b.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(b.cfg.Wait):
		b.mu.Lock()
		defer b.mu.Unlock()
		return fmt.Errorf("%w: %d of %d are done", ErrIndexing, b.last.done, b.last.of)
	}
}
