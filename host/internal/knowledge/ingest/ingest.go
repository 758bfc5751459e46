// Package ingest parses the documents of datasets: file, pieces, vectors, index.
//
// The queue is the state of the documents in the records store (see store.ClaimDocument): an
// [Ingester] claims a document with a lease, writes its chunks into a new file of the object store,
// and publishes that file in one transaction, after which every host takes it into its index. A
// worker that dies leaves a lease that ends and a file that no record names: another worker starts
// the document again, and nothing of it is there twice. After five attempts a document is set
// aside as failed.
//
// Memory is bounded by the number of workers and by the limits of the reader of documents.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/easel-canvas/easel/host/internal/knowledge/models/embed"
	"github.com/easel-canvas/easel/host/internal/knowledge/replica"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Config configures an Ingester. All but Embedder are required, zero numbers mean defaults.
type Config struct {
	Store   *store.Store
	Files   *blobs.Store
	Replica *replica.Replica
	Cutter  Cutter
	// Embedder opens the embedding model of a tenant by its name; nil without any.
	Embedder func(ctx context.Context, tenant, model string) (embed.Embedder, error)
	// Workers is the number of documents that are parsed concurrently; 0 means 2.
	Workers int
	// Lease is the time without a heartbeat after which a document is taken over; 0 means 10 s.
	Lease time.Duration
	// Poll is the interval at which an idle worker looks for documents that other hosts queued; 0
	// means 1 s.
	Poll time.Duration
	// Chunks bounds the chunks of a tenant; 0 means no bound.
	Chunks int64
	Logger *slog.Logger
}

// Ingester parses queued documents. It is safe for concurrent use.
type Ingester struct {
	cfg  Config
	wake chan struct{}

	mu      sync.Mutex
	working map[*job]context.CancelCauseFunc
}

// Attempts bounds the attempts at a document whose worker dies. Workers die for other reasons too:
// with three attempts, 30 kills of the host during 200 documents set an innocent one aside in 2 of
// 4 runs.
const Attempts = 5

// New makes an ingester; Run works.
func New(cfg Config) *Ingester {
	if cfg.Workers == 0 {
		cfg.Workers = 2
	}
	if cfg.Lease == 0 {
		cfg.Lease = 10 * time.Second
	}
	if cfg.Poll == 0 {
		cfg.Poll = time.Second
	}
	return &Ingester{cfg: cfg, wake: make(chan struct{}, cfg.Workers), working: map[*job]context.CancelCauseFunc{}}
}

// Wake makes the workers look for queued documents now.
func (in *Ingester) Wake() {
	for range in.cfg.Workers {
		select {
		case in.wake <- struct{}{}:
		default:
			return
		}
	}
}

// errCanceled is the cause of a parse that was canceled.
var errCanceled = errors.New("canceled")

// Cancel stops the parse of a document on this host at once. Other hosts see with the next renewal
// of their lease that it is lost.
func (in *Ingester) Cancel(document string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for j, stop := range in.working {
		if j.d.ID == document {
			stop(errCanceled)
		}
	}
}

// Run parses documents until ctx ends. Documents at work are then queued again.
func (in *Ingester) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range in.cfg.Workers {
		workers.Go(func() {
			w := &worker{in: in}
			defer w.flush(ctx)
			in.work(ctx, w.next)
		})
	}
	// A slow model that documents are embedded again with holds up no parse.
	workers.Go(func() { in.work(ctx, in.nextEmbedding) })
	workers.Go(func() { in.sweep(ctx) })
	workers.Wait()
}

// longestPause bounds the time after which documents that met a full disk are taken up again.
const longestPause = 30 * time.Second

// work calls next, which works on a document, one after the other. On a full disk it waits
// twice as long each time.
func (in *Ingester) work(ctx context.Context, next func(context.Context) (found bool, err error)) {
	failing := false
	var pause time.Duration
	for {
		found, err := next(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			in.cfg.Logger.Error("documents cannot be worked on, retrying", "err", err)
		}
		failing = err != nil
		wake, wait := in.wake, in.cfg.Poll
		if isFull(err) {
			pause = min(longestPause, max(wait, 2*pause))
			wake, wait = nil, pause // new documents would meet the same disk
		} else {
			pause = 0
		}
		if found {
			continue
		}
		select {
		case <-wake:
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// claim returns a new claim for a document.
func (in *Ingester) claim(now time.Time, likely bool) store.Claim {
	return store.Claim{
		Lease: strings.ReplaceAll(uuid.NewString(), "-", ""), Until: now.Add(in.cfg.Lease).UnixMilli(), File: chunkFile,
		Due: now.Add(longestParse).UnixMilli(), Likely: likely,
	}
}

// longestParse is after which time the file of a parse is deleted that no document has.
const longestParse = 24 * time.Hour

// chunkFile returns the name of the file for the chunks of a document under its lease.
func chunkFile(d *store.Document) string {
	return fmt.Sprintf("%s/datasets/%s/%s/%s", d.Tenant, d.Dataset, d.ID, d.Lease)
}

// File returns the name of the file with the original of a document.
func File(tenant, dataset, document string) string {
	return fmt.Sprintf("%s/datasets/%s/%s/original", tenant, dataset, document)
}
