package document

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

const (
	// minWork is reserved for every document beyond its bytes.
	minWork = 1 << 20
	// pdfWork is the memory of pdfium without a file, including unpacked fonts and pages.
	pdfWork = 48 << 20
	// perXML bounds the bytes of memory per byte of XML, including garbage from growing: an element
	// of five bytes becomes an entry of a list or a map.
	perXML = 8
)

// firstWork estimates, from the size, the memory for reading a document beyond its bytes.
func firstWork(limits *Limits, kind kind, size int64) int64 {
	switch kind {
	case kindPDF:
		// pdfium copies the file.
		return min(int64(limits.Memory), pdfWork+2*size)
	case kindOffice, kindFlatODF, kindOld:
		return min(limits.Work, 4*minWork+16*size)
	case kindHTML:
		return min(limits.Work, minWork+4*size)
	}
	// Decoding makes text up to three times as long. It is also enough for a small Office document
	// with a wrong name.
	return min(limits.Work, 4*minWork+3*size)
}

// reserve waits for memory for a document of size bytes and work more bytes. If the budget is
// smaller, it reserves all of it. It returns the bytes granted for work.
func (r *Reader) reserve(ctx context.Context, limits *Limits, size, work int64) (int64, func(), error) {
	if r.Memory == nil {
		return work, func() {}, nil
	}
	if budget := r.Memory.Size(); size+work > budget {
		work = budget - size
		if work < minWork {
			text := fmt.Sprintf("%d bytes; this host gives %d bytes of memory to documents", size, budget)
			return 0, nil, &LimitError{LimitHost, text}
		}
	}
	release, err := r.wait(ctx, limits, size+work)
	return work, release, err
}

// Reserve waits for n bytes of the memory for documents, or for the whole budget if it is smaller,
// for work that bypasses [Reader.Read]. release returns them.
//
// Errors: [ErrBusy], those of ctx.
func (r *Reader) Reserve(ctx context.Context, n int64) (release func(), err error) {
	if r.Memory == nil {
		return func() {}, nil
	}
	limits := r.Limits.orDefaults()
	return r.wait(ctx, &limits, min(n, r.Memory.Size()))
}

func (r *Reader) wait(ctx context.Context, limits *Limits, n int64) (release func(), err error) {
	account := r.Memory.Open()
	waiting, stop := context.WithTimeoutCause(ctx, limits.Wait, ErrBusy)
	defer stop()
	err = account.Wait(waiting, n)
	switch {
	case err == nil:
		return account.Close, nil
	case errors.Is(err, memlimit.ErrTooLarge):
		return nil, &LimitError{LimitHost, err.Error()}
	case errors.Is(context.Cause(waiting), ErrBusy):
		return nil, fmt.Errorf("%w: %d bytes of memory were not free for %v", ErrBusy, n, limits.Wait)
	}
	return nil, context.Cause(ctx)
}

// hostBound replaces a memory error by one about the host if the document had less memory than the
// limits allow.
func hostBound(err error, work int64) error {
	if isLimit(err, LimitMemory) {
		return &LimitError{LimitHost, fmt.Sprintf("more than %d bytes of memory, which is what this host has for it",
			work)}
	}
	return err
}

func isLimit(err error, limit Limit) bool {
	var over *LimitError
	return errors.As(err, &over) && over.Limit == limit
}
