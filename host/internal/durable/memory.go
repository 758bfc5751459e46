package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/memlimit"
	"github.com/easel-canvas/easel/host/internal/runner"
)

const (
	// smallDocument is the size up to which a document is not counted: runs of small documents
	// neither pay for the account nor wait behind large ones.
	smallDocument = 64 << 10
	// documentCopies is how many times a run holds its document as text at its peak: as it was read
	// from the records store, in the database driver, in the record of the run log, in the message
	// and its parts on their way to the server of the log, and as it is saved at the end.
	documentCopies = 6
	// memoryPatience bounds how long a start waits for the memory of its document.
	memoryPatience = 2 * time.Second
	// pastReaders is how many runs at a time are read back from the run log before it is known how
	// large their documents are.
	pastReaders = 4
)

// documentSize estimates the memory of a run with this document, without the state that the engine
// reserves; 0 for a small document.
func documentSize(doc []byte) int64 {
	if len(doc) <= smallDocument {
		return 0
	}
	return documentCopies*int64(len(doc)) + engine.JSONSize(string(doc))
}

// hold reserves the memory of the document of w until [work.release], without waiting. size is what
// was needed, for await.
//
// Errors: [ErrMemory], [ErrTooLarge].
func (r *Runs) hold(w *work) (size int64, err error) {
	if r.cfg.Documents == nil {
		return 0, nil
	}
	if size = documentSize(w.doc); size <= w.memory.Held() {
		return size, nil
	}
	if w.memory == nil {
		w.memory = r.cfg.Documents.Open()
	}
	if err = w.memory.Grow(size - w.memory.Held()); err != nil {
		w.release()
	}
	return size, memoryError(err)
}

// release gives the memory of the document back.
func (w *work) release() {
	w.memory.Close()
	w.memory = nil
}

// await waits for size bytes of the memory for documents and returns the account that holds them.
//
// Errors: [ErrMemory] when ctx ends first, with the cause of ctx; [ErrTooLarge].
func (r *Runs) await(ctx context.Context, size int64) (*memlimit.Account, error) {
	account := r.cfg.Documents.Open()
	if err := account.Wait(ctx, size); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, memoryError(err)
	}
	return account, nil
}

// memoryError makes an error of this package from one of the budget or of waiting for it.
func memoryError(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrClosed), lost(err):
		return err
	case errors.Is(err, memlimit.ErrTooLarge):
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %w", ErrMemory, err)
}

// beginHeld makes the work of a job with the memory of its document reserved. While there is no
// room the document is dropped: a waiting start holds no memory, and reads the document again.
func (r *Runs) beginHeld(ctx context.Context, j Job) (*work, error) {
	var account *memlimit.Account
	for {
		w, err := r.begin(ctx, j)
		if err != nil {
			account.Close()
			return nil, err
		}
		w.memory = account
		size, err := r.hold(w)
		if err == nil {
			return w, nil
		}
		w = nil
		if !errors.Is(err, memlimit.ErrFull) {
			return nil, err
		}
		if account, err = r.awaitStart(ctx, size); err != nil {
			return nil, err
		}
	}
}

// awaitStart is await for at most memoryPatience, until ctx ends or this host stops.
func (r *Runs) awaitStart(ctx context.Context, size int64) (*memlimit.Account, error) {
	ctx, done := context.WithTimeoutCause(ctx, memoryPatience, memlimit.ErrFull)
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.stopping, func() { cancel(ErrClosed) })()
	return r.await(ctx, size)
}

// awaitTakeover is await for a run that this host has claimed: it waits until there is room, the
// lease is lost or this host stops. A cancel does not end it: the run has to begin for that.
func (r *Runs) awaitTakeover(ctx context.Context, lease *runner.Lease, size int64) (*memlimit.Account, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(lease.Context(), func() {
		if cause := context.Cause(lease.Context()); lost(cause) {
			cancel(cause)
		}
	})()
	return r.await(ctx, size)
}

// pastHeld is [Runs.past] with the memory of the document reserved; the caller closes the account.
func (r *Runs) pastHeld(ctx context.Context, lease *runner.Lease) (past, *memlimit.Account, error) {
	var account *memlimit.Account
	for {
		p, w, size, err := r.readPast(ctx, lease, account)
		if err == nil || !errors.Is(err, memlimit.ErrFull) {
			return p, w.memory, err
		}
		p = past{} // waiting holds no memory
		if account, err = r.awaitTakeover(ctx, lease, size); err != nil {
			return p, nil, err
		}
	}
}

// readPast reads what the log holds of a run, and reserves the memory of its document unless the
// account holds it already.
func (r *Runs) readPast(ctx context.Context, lease *runner.Lease, account *memlimit.Account) (p past, w work, size int64, err error) {
	r.reading <- struct{}{}
	defer func() { <-r.reading }()
	w.memory = account
	if p, err = r.past(ctx, lease); err != nil {
		w.release()
		return p, w, 0, err
	}
	w.doc = p.doc
	size, err = r.hold(&w)
	return p, w, size, err
}
