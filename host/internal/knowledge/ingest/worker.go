package ingest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// worker parses queued documents one after the other. Small ones of a dataset are finished together
// a moment later: a transaction of the records and one of the index for each would cost more than
// its parse. Their leases are renewed until then.
type worker struct {
	in   *Ingester
	more bool // there was a document at the last look

	mu    sync.Mutex // held while documents are finished
	ready []*job     // parsed, not finished
	bytes int64      // of ready
	timer *time.Timer
}

// Bounds of documents that are finished together.
const (
	smallDocument = 256 << 10 // bytes of one
	mostFinished  = 16
	mostBytes     = 1 << 20 // of all
	longestWait   = 500 * time.Millisecond
)

// next claims a document and parses it. found is false without one.
func (w *worker) next(ctx context.Context) (found bool, err error) {
	now := time.Now()
	d, err := w.in.cfg.Store.Ingestion.Claim(ctx, w.in.claim(now, w.more))
	if w.more = err == nil; err != nil {
		w.flush(ctx)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		return false, err
	}
	j := &job{in: w.in, d: d, began: now}
	j.begin(ctx)
	err = j.run()
	if err == nil && j.waits() && w.add(ctx, j) {
		return true, nil
	}
	if cause := j.release(); cause != nil {
		err = cause
	}
	j.end(context.WithoutCancel(ctx), err)
	if isFull(err) {
		return false, err
	}
	return true, nil
}

// waits reports whether the document may be finished later. One that was taken up before may have
// been with one that took its worker down, and is finished at once.
func (j *job) waits() bool {
	return j.d.Size <= smallDocument && j.d.Attempts == 1 && context.Cause(j.ctx) == nil
}

// add adds a parsed document to those that wait, and reports whether it did: not when it is of
// another dataset.
func (w *worker) add(ctx context.Context, j *job) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ready) > 0 && w.ready[0].d.Dataset != j.d.Dataset {
		return false
	}
	if len(w.ready) == 0 {
		w.timer = time.AfterFunc(longestWait, func() { w.flush(ctx) })
	}
	w.ready = append(w.ready, j)
	if w.bytes += j.d.Size; len(w.ready) == mostFinished || w.bytes >= mostBytes {
		w.finish(context.WithoutCancel(ctx))
	}
	return true
}

// flush finishes the documents that wait.
func (w *worker) flush(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.finish(context.WithoutCancel(ctx))
}

// finish finishes the documents that wait in one transaction. If that fails, for the reason of one
// of them, each is finished alone. The caller holds w.mu.
func (w *worker) finish(ctx context.Context) {
	var jobs []*job
	var list []store.Finished
	for _, j := range w.ready {
		if cause := j.release(); cause != nil {
			j.end(ctx, cause)
			continue
		}
		jobs, list = append(jobs, j), append(list, j.done())
	}
	w.ready, w.bytes = nil, 0
	if w.timer != nil {
		w.timer.Stop()
	}
	if len(jobs) == 0 {
		return
	}
	if _, err := w.in.cfg.Store.Ingestion.Finish(ctx, list...); err == nil {
		w.in.index(ctx, jobs...)
		return
	}
	for i, j := range jobs {
		j.publish(ctx, list[i])
	}
}
