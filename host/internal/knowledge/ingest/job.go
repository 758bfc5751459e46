package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// job is the parse of a document.
type job struct {
	in    *Ingester
	d     store.Document
	began time.Time

	ctx      context.Context // of the parse; it ends when the lease is lost or the parse canceled
	stop     context.CancelCauseFunc
	renewing sync.WaitGroup

	result *store.Parsed // nil when the chunks stay as they are
	file   []byte        // a copy of the chunk file; nil for a large one

	mu       sync.Mutex
	progress float64
	messages string
	ran      dataset.Ran
}

// mostMessages bounds the lines that are stored about a parse, in bytes.
const mostMessages = 16 << 10

// report adds a line to the messages of the document.
func (j *job) report(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.messages) < mostMessages {
		j.messages += time.Now().Format(time.TimeOnly) + " " + fmt.Sprintf(format, args...) + "\n"
	}
}

// keep keeps the pipeline that ran on the document, for its log.
func (j *job) keep(ran dataset.Ran) {
	if len(ran.Canvas) > store.LargestPipeline {
		j.report("The outputs of the nodes have %d bytes, too many to be kept: no rerun from a node.", len(ran.Canvas))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ran = ran
}

// advance sets the progress.
func (j *job) advance(to float64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.progress = max(j.progress, min(to, 0.99))
}

// record returns the document with progress and messages up to now.
func (j *job) record() store.Document {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.d
	d.Progress, d.Messages = j.progress, j.messages
	return d
}

// begin takes the document up: its lease is renewed until release.
func (j *job) begin(parent context.Context) {
	j.ctx, j.stop = context.WithCancelCause(parent)
	j.in.mu.Lock()
	j.in.working[j] = j.stop
	j.in.mu.Unlock()
	j.report("Task has been received.")
	j.renewing.Go(func() { j.renew(j.ctx, j.stop, j.in.cfg.Store.Ingestion.Renew) })
}

// release ends the renewal of the lease, and returns why the document is not to be finished; nil if
// it is.
func (j *job) release() error {
	cause := context.Cause(j.ctx)
	j.stop(nil)
	j.renewing.Wait()
	j.in.mu.Lock()
	defer j.in.mu.Unlock()
	delete(j.in.working, j)
	return cause
}

// run parses the document under its lease.
func (j *job) run() error {
	return j.guard(func() (err error) {
		j.result, err = j.parse(j.ctx)
		return err
	})
}

// renew renews the lease until ctx ends, and stops the parse when the lease is lost.
func (j *job) renew(
	ctx context.Context, stop context.CancelCauseFunc, renew func(context.Context, *store.Document, int64) error,
) {
	for {
		select {
		case <-time.After(min(j.in.cfg.Lease/4, time.Second)):
		case <-ctx.Done():
			return
		}
		d := j.record()
		err := renew(ctx, &d, time.Now().Add(j.in.cfg.Lease).UnixMilli())
		if errors.Is(err, store.ErrConflict) {
			stop(errCanceled)
			return
		}
	}
}

// end stores the result or the error of a parse. This is short, and is done even when the host
// stops.
func (j *job) end(ctx context.Context, err error) {
	if err == nil {
		j.publish(ctx, j.done())
		return
	}
	if err := j.fail(ctx, err); err != nil {
		j.in.cfg.Logger.Warn("end of a parse was not stored", "document", j.d.ID, "err", err)
	}
}

// publish finishes the document alone.
func (j *job) publish(ctx context.Context, f store.Finished) {
	if _, err := j.in.cfg.Store.Ingestion.Finish(ctx, f); err != nil {
		j.end(ctx, err)
		return
	}
	j.in.index(ctx, j)
}

// fail stores why there is no result.
func (j *job) fail(ctx context.Context, err error) error {
	dropped := j.drop(ctx)
	switch {
	case errors.Is(err, errCanceled), errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound):
		return dropped // canceled, deleted or taken over: the record is not this worker's any more
	case errors.Is(err, context.Canceled), errors.Is(err, document.ErrBusy), errors.Is(err, store.ErrModel):
		d := j.record()
		return errors.Join(dropped, j.in.cfg.Store.Ingestion.Release(ctx, &d))
	}
	if isFull(err) {
		j.report("The disk of the host is full: the document waits, and is parsed when there is space.")
		d := j.record()
		return errors.Join(dropped, j.in.cfg.Store.Ingestion.Release(ctx, &d))
	}
	j.report("[ERROR] %v", err)
	_, err = j.in.cfg.Store.Ingestion.Finish(ctx, j.finished(dataset.Failed, -1, nil))
	return errors.Join(dropped, err)
}

// isFull reports whether err comes from a full or read-only disk.
func isFull(err error) bool {
	return errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrReadOnly) || errors.Is(err, broker.ErrFull)
}

// done returns the end of a parse that succeeded.
func (j *job) done() store.Finished {
	j.report("Task done (%.2fs).", time.Since(j.began).Seconds())
	return j.finished(dataset.Done, 1, j.result)
}

// finished returns the state that the document ends in.
func (j *job) finished(state dataset.State, progress float64, result *store.Parsed) store.Finished {
	d := j.record()
	d.State, d.Progress, d.Duration = state, progress, max(1, time.Since(j.began).Milliseconds())
	j.mu.Lock()
	defer j.mu.Unlock()
	return store.Finished{Document: d, Result: result, Ran: j.ran}
}

// index brings the index up to documents of one dataset.
func (in *Ingester) index(ctx context.Context, jobs ...*job) {
	for _, j := range jobs {
		if j.file != nil {
			defer in.cfg.Replica.Offer(chunkFile(&j.d), j.file)()
		}
	}
	id := jobs[0].d.Dataset
	if _, err := in.cfg.Replica.Sync(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		// Searches repeat it, and report it.
		in.cfg.Logger.Warn("index was not updated", "dataset", id, "err", err)
	}
}

// drop deletes the file of a parse that failed.
func (j *job) drop(ctx context.Context) error {
	name := chunkFile(&j.d)
	if err := j.in.cfg.Files.Delete(ctx, name); err != nil && !errors.Is(err, broker.ErrNotFound) {
		return err // it is loose, and deleted later
	}
	return j.in.cfg.Store.LooseFiles.Forget(ctx, name)
}

// guard calls f and makes an error of a panic: of a parser at a strange document, above all.
func (j *job) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			j.in.cfg.Logger.Error("parser panicked", "document", j.d.ID, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error (see host log, document %s)", j.d.ID)
		}
	}()
	return f()
}

// errAbandoned has the words of the original, which clients look for.
var errAbandoned = abandoned{}

type abandoned struct{}

func (abandoned) Error() string {
	return fmt.Sprintf("Task is abandoned after %d times attempts.", Attempts)
}

// parse returns the result; nil means that the document has the chunks already.
func (j *job) parse(ctx context.Context) (*store.Parsed, error) {
	if j.d.Attempts > Attempts {
		return nil, errAbandoned
	}
	ds, err := j.in.cfg.Store.Datasets.Any(ctx, j.d.Dataset)
	if err != nil {
		return nil, err
	}
	rerun, err := j.in.cfg.Store.Ingestion.RerunOf(ctx, j.d.ID)
	if err != nil {
		return nil, err
	}
	digest := j.digest(&ds)
	if rerun != nil {
		digest = "" // the next parse is not the same
	}
	if digest != "" && j.d.Digest == digest && j.d.ChunkFile != "" {
		j.report("Content and settings are unchanged: the chunks stay as they are.")
		return nil, nil
	}
	if err := j.addThumbnail(ctx); err != nil {
		return nil, err
	}
	w := &writing{job: j, model: ds.Model, seen: map[uint64]bool{}, rerun: rerun}
	return w.run(ctx, digest)
}

// Version changes when the same document and settings give other chunks.
const Version = 3

// digest covers all that the chunks of a document depend on.
func (j *job) digest(ds *store.Dataset) string {
	text, err := json.Marshal([]any{Version, j.d.Hash, j.d.Name, j.d.Method, j.d.Config, j.d.Pipeline, ds.Model})
	if err != nil {
		return "" // settings that are no JSON; reading them fails
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// source returns the original of the document.
func (j *job) source() document.Source {
	return document.Source{Name: j.d.Name, Size: j.d.Size, Open: func(ctx context.Context) (io.ReadCloser, error) {
		r, _, err := j.in.cfg.Files.Open(ctx, j.d.File)
		return r, err
	}}
}
