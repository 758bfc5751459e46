package runs

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

const (
	// smallDocument is the size up to which a document is not counted: runs of small documents
	// neither pay for the account nor wait behind large ones.
	smallDocument = 64 << 10
	// documentCopies is the number of copies of its document that a run holds at its peak: as read
	// from the records store, in the database driver, in the record of the run log, in the message
	// and its parts on their way to the server of the log, and as saved at the end.
	documentCopies = 6
	// logCache is the time that the embedded server of the run log caches writes in memory, and
	// cachedCopies the number of copies of a document among them: its record, its part in the
	// summary, and its part in the events of the run.
	logCache     = 10 * time.Second
	cachedCopies = 3
	// cachedDocument is the size from which these copies are reserved: runs of smaller documents
	// would wait for room that the server mostly has freed by then.
	cachedDocument = 1 << 20
	// memoryPatience bounds how long a start waits for the memory of its document.
	memoryPatience = 2 * time.Second
	// pastReaders bounds the runs that are read back from the run log at a time, before the sizes
	// of their documents are known.
	pastReaders = 4
)

// documentSize estimates the memory of a run with this document, without the state that the engine
// reserves; 0 for a small document.
func documentSize(doc []byte) int64 {
	if len(doc) <= smallDocument {
		return 0
	}
	return documentCopies*int64(len(doc)) + jsonSize(doc)
}

// jsonSize is [engine.JSONSize] of bytes, without a copy of them: it runs before their memory is
// reserved.
func jsonSize(doc []byte) int64 {
	return engine.JSONSize(unsafe.String(unsafe.SliceData(doc), len(doc)))
}

// noRoomError is an [ErrMemory] with the memory that a document needs, for await.
type noRoomError struct {
	size int64
	err  error
}

func (e *noRoomError) Error() string { return e.err.Error() }

func (e *noRoomError) Unwrap() error { return e.err }

// hold reserves the memory of the document of w until [work.release], without waiting. It comes
// before the document is compiled.
//
// Errors: a [noRoomError], [ErrTooLarge].
func (cs *canvases) hold(w *work) error {
	if cs.memory == nil {
		return nil
	}
	size := documentSize(w.doc)
	if size <= w.memory.Held() {
		return nil
	}
	if w.memory == nil {
		w.memory = cs.memory.Open()
	}
	err := memoryError(w.memory.Grow(size - w.memory.Held()))
	if err == nil {
		return nil
	}
	w.release()
	if errors.Is(err, memlimit.ErrFull) {
		return &noRoomError{size, err}
	}
	return err
}

func (w *work) release() {
	w.memory.Close()
	w.memory = nil
}

// releaseLater releases the memory of a document of n bytes at the end of its run, except for the
// copies that stay in the cache of the run log's server.
func releaseLater(account *memlimit.Account, n int) {
	if account == nil || n < cachedDocument {
		account.Close()
		return
	}
	account.Shrink(account.Held() - cachedCopies*int64(n))
	time.AfterFunc(logCache, account.Close)
}

// await waits for size bytes of the memory for documents and returns the account that holds them.
//
// Errors: [ErrMemory] when ctx ends first, with the cause of ctx; [ErrTooLarge].
func (cs *canvases) await(ctx context.Context, size int64) (*memlimit.Account, error) {
	account := cs.memory.Open()
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

// held calls prepare, which makes work with the account of its document, until there is room for
// it. Until then the document is dropped: waiting holds no memory, and prepare reads the document
// again once wait has an account for it.
func held(prepare func(*memlimit.Account) (*work, error), wait func(size int64) (*memlimit.Account, error)) (*work, error) {
	var account *memlimit.Account
	for {
		w, err := prepare(account)
		var full *noRoomError
		if err == nil {
			return w, nil
		}
		account.Close()
		if !errors.As(err, &full) {
			return nil, err
		}
		if account, err = wait(full.size); err != nil {
			return nil, err
		}
	}
}

// beginHeld is [Runs.begin] with the memory of the document reserved.
func (l *loader) beginHeld(ctx context.Context, j Job) (*work, error) {
	return held(func(a *memlimit.Account) (*work, error) { return l.begin(ctx, j, a) },
		func(size int64) (*memlimit.Account, error) { return l.awaitStart(ctx, size) })
}

// awaitStart is await for at most memoryPatience, until ctx ends or this host stops.
func (l *loader) awaitStart(ctx context.Context, size int64) (*memlimit.Account, error) {
	ctx, done := context.WithTimeoutCause(ctx, memoryPatience, memlimit.ErrFull)
	defer done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.stopping, func() { cancel(ErrClosed) })()
	return l.await(ctx, size)
}

// awaitTakeover is await for a run that this host has claimed: it waits until there is room, the
// lease is lost or this host stops. A cancel does not end it: the run has to begin for that.
func (l *loader) awaitTakeover(ctx context.Context, lease *runlog.Lease, size int64) (*memlimit.Account, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(lease.Context(), func() {
		if cause := context.Cause(lease.Context()); lost(cause) {
			cancel(cause)
		}
	})()
	return l.await(ctx, size)
}

// pastHeld is [Runs.past] with the memory of the document reserved; the caller closes the account.
func (t *takeovers) pastHeld(ctx context.Context, lease *runlog.Lease) (p past, _ *memlimit.Account, err error) {
	w, err := held(func(a *memlimit.Account) (*work, error) {
		t.reading <- struct{}{}
		defer func() { <-t.reading }()
		w := &work{memory: a}
		p = past{}
		read, err := t.past(ctx, lease)
		if err != nil {
			return nil, err
		}
		w.doc = read.doc
		if err := t.loader.hold(w); err != nil {
			return nil, err
		}
		p = read
		return w, nil
	}, func(size int64) (*memlimit.Account, error) { return t.loader.awaitTakeover(ctx, lease, size) })
	if err != nil {
		return p, nil, err
	}
	return p, w.memory, nil
}

// lateHeld is [Runs.prepareLate] with the memory of the document reserved.
func (l *loader) lateHeld(ctx context.Context, lease *runlog.Lease, j Job) (*work, error) {
	return held(func(a *memlimit.Account) (*work, error) { return l.prepareLate(ctx, lease, j, a) },
		func(size int64) (*memlimit.Account, error) { return l.awaitTakeover(ctx, lease, size) })
}
