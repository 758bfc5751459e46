package document

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/memlimit"
)

const (
	// leastWork is reserved for every document beside its bytes.
	leastWork = 1 << 20
	// pdfWork is what pdfium takes without a file, with room for fonts and pages that unpack.
	pdfWork = 48 << 20
	// perXML is how many bytes one byte of XML becomes at most, with what growing it leaves behind:
	// an element of five bytes becomes an entry of a list or a map.
	perXML = 8
)

// firstWork estimates the bytes that reading a document holds beside its own, from its size.
func firstWork(limits *Limits, kind kind, size int64) int64 {
	switch kind {
	case kindPDF:
		// pdfium copies the file.
		return min(int64(limits.Memory), pdfWork+2*size)
	case kindOffice:
		return min(limits.Work, 4*leastWork+16*size)
	case kindHTML:
		return min(limits.Work, leastWork+4*size)
	}
	// Text becomes up to three times as long when it is decoded. A small Office document, whose
	// name does not count, fits too.
	return min(limits.Work, 4*leastWork+3*size)
}

// reserve waits for memory for a document of size bytes that takes work bytes more, or what the
// host has for it.
func (r *Reader) reserve(ctx context.Context, limits *Limits, size, work int64) (int64, func(), error) {
	if r.Memory == nil {
		return work, func() {}, nil
	}
	if most := r.Memory.Size(); size+work > most {
		work = most - size
		if work < leastWork {
			text := fmt.Sprintf("%d bytes; this host gives %d bytes of memory to documents", size, most)
			return 0, nil, &LimitError{LimitHost, text}
		}
	}
	release, err := r.wait(ctx, limits, size+work)
	return work, release, err
}

// Reserve waits for n bytes of the memory for documents, or for all there are, for work on a
// document that does not go through [Reader.Read]. release gives them back.
//
// Errors: [ErrBusy], ctx's.
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

// hostBound marks an error as the host's when the document had less memory than the limits allow.
func hostBound(err error, work int64) error {
	if isLimit(err, LimitMemory) {
		return &LimitError{LimitHost, fmt.Sprintf("more than %d bytes of memory, which is what this host has for it", work)}
	}
	return err
}

func isLimit(err error, limit Limit) bool {
	var over *LimitError
	return errors.As(err, &over) && over.Limit == limit
}
