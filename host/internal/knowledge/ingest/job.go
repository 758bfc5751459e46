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

	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// job is the parse of a document.
type job struct {
	in    *Ingester
	d     store.Document
	began time.Time

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

// record is the document with progress and messages up to now.
func (j *job) record() store.Document {
	j.mu.Lock()
	defer j.mu.Unlock()
	d := j.d
	d.Progress, d.Messages = j.progress, j.messages
	return d
}

// run parses the document under its lease, and stores how that ended.
func (j *job) run(parent context.Context) {
	ctx, stop := context.WithCancelCause(parent)
	defer stop(nil)
	j.in.mu.Lock()
	j.in.working[j] = stop
	j.in.mu.Unlock()
	defer func() {
		j.in.mu.Lock()
		defer j.in.mu.Unlock()
		delete(j.in.working, j)
	}()
	j.report("Task has been received.")
	var renewing sync.WaitGroup
	renewing.Go(func() { j.renew(ctx, stop, j.in.cfg.Store.Ingestion.Renew) })
	var result *store.Parsed
	err := j.guard(func() (err error) {
		result, err = j.parse(ctx)
		return err
	})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	stop(nil)
	renewing.Wait()
	// What is left to do is short, and is done even when the host stops.
	if err := j.end(context.WithoutCancel(parent), result, err); err != nil {
		j.in.cfg.Logger.Warn("end of a parse was not stored", "document", j.d.ID, "err", err)
	}
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

// end stores the result of a parse, or why there is none.
func (j *job) end(ctx context.Context, result *store.Parsed, err error) error {
	seconds := time.Since(j.began).Seconds()
	if err == nil {
		j.report("Task done (%.2fs).", seconds)
		err = j.finish(ctx, dataset.Done, 1, result)
		if err == nil {
			if _, err := j.in.cfg.Replica.Sync(ctx, j.d.Dataset); err != nil && !errors.Is(err, store.ErrNotFound) {
				// Searches repeat it, and report it.
				j.in.cfg.Logger.Warn("index was not updated", "dataset", j.d.Dataset, "err", err)
			}
			return nil
		}
	}
	dropped := j.drop(ctx)
	switch {
	case errors.Is(err, errCanceled), errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound):
		return dropped // canceled, deleted or taken over: the record is not this worker's any more
	case errors.Is(err, context.Canceled), errors.Is(err, document.ErrBusy), errors.Is(err, store.ErrModel):
		d := j.record()
		return errors.Join(dropped, j.in.cfg.Store.Ingestion.Release(ctx, &d))
	}
	j.report("[ERROR] %v", err)
	return errors.Join(dropped, j.finish(ctx, dataset.Failed, -1, nil))
}

// finish stores the state that the document ends in.
func (j *job) finish(ctx context.Context, state dataset.State, progress float64, result *store.Parsed) error {
	d := j.record()
	d.State, d.Progress, d.Duration = state, progress, max(1, time.Since(j.began).Milliseconds())
	j.mu.Lock()
	ran := j.ran
	j.mu.Unlock()
	_, err := j.in.cfg.Store.Ingestion.Finish(ctx, d, result, ran)
	return err
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

// parse gives the result; nil means that the document has the chunks already.
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
	w := &writing{job: j, model: ds.Model, seen: map[uint64]bool{}, rerun: rerun}
	return w.run(ctx, digest)
}

// Version changes when the same document and settings give other chunks.
const Version = 2

// digest is that of all that the chunks of a document depend on.
func (j *job) digest(ds *store.Dataset) string {
	text, err := json.Marshal([]any{Version, j.d.Hash, j.d.Name, j.d.Method, j.d.Config, j.d.Pipeline, ds.Model})
	if err != nil {
		return "" // settings that are no JSON; reading them fails
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// source is the original of the document.
func (j *job) source() document.Source {
	return document.Source{Name: j.d.Name, Size: j.d.Size, Open: func(ctx context.Context) (io.ReadCloser, error) {
		r, _, err := j.in.cfg.Files.Open(ctx, j.d.File)
		return r, err
	}}
}
