package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/host/internal/memlimit"
)

// Reader reads documents. The zero value works. It is safe for concurrent use.
type Reader struct {
	// CacheDir stores the compiled PDF reader, 14 MB, between processes: the first PDF of a process
	// then waits 60 ms instead of some seconds. Only the host may write there. "" compiles in
	// memory.
	CacheDir string
	// Log takes what an operator should know of CacheDir; nil means slog.Default.
	Log *slog.Logger
	// Limits bound the work on one document.
	Limits Limits
	// Memory is shared by the documents that are read at the same time; nil does not bound their
	// sum.
	Memory *memlimit.Budget

	begin      sync.Once
	slow, fast chan struct{} // turns of PDFs, and of all else
	pdf        pdfReader
	failed     failures
}

// Source is a document to read. Open is called again when reading it needs more memory than was
// reserved.
type Source struct {
	Name, MimeType string // they decide only where the content is ambiguous
	Size           int64  // bytes that Open gives
	Open           func(context.Context) (io.ReadCloser, error)
}

// Bytes is a document in memory.
func Bytes(name, mimeType string, data []byte) Source {
	open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	return Source{Name: name, MimeType: mimeType, Size: int64(len(data)), Open: open}
}

// Text is [Reader.Read] for a document in memory.
func (r *Reader) Text(ctx context.Context, name, mimeType string, data []byte) (string, error) {
	return r.Read(ctx, Bytes(name, mimeType, data))
}

// Read is the text of a document. A document that failed is not parsed again, see [FailureOf].
//
// Errors: [ErrFormat], [ErrEncrypted], [ErrDamaged], [ErrNoText], [ErrLimit], [ErrBusy], the error
// of s.Open, ctx's.
func (r *Reader) Read(ctx context.Context, s Source) (string, error) { return r.read(ctx, s, nil) }

// read is Read, or [Reader.Sheets] when there is a list for them.
func (r *Reader) read(ctx context.Context, s Source, sheets *[]Sheet) (string, error) {
	limits := r.Limits.orDefaults()
	if s.Size > int64(limits.File) {
		return "", exceeded(LimitFile, limits.File, "bytes")
	}
	r.begin.Do(func() { r.slow, r.fast = make(chan struct{}, limits.PDFs), make(chan struct{}, limits.Others) })
	a := attempt{kind: kindOf(s.Name, s.MimeType, nil)} // by the name, until the bytes are there
	a.work = firstWork(&limits, a.kind, s.Size)
	for {
		next, text, err := r.attempt(ctx, &limits, s, a, sheets)
		if next == a {
			return text, err
		}
		a = next
	}
}

// attempt is what reading a document needs, as far as it is known. Its bytes, an Office document's
// directory and pdfium tell more; a document that needs more gives everything back before it waits
// for that, so that no document waits for one that waits.
type attempt struct {
	kind kind
	work int64 // bytes beside those of the file
}

// attempt reads a document, or gives the attempt to make instead.
func (r *Reader) attempt(ctx context.Context, limits *Limits, s Source, a attempt, sheets *[]Sheet) (
	next attempt, text string, err error,
) {
	done, err := r.turn(ctx, a.kind)
	if err != nil {
		return a, "", err
	}
	defer done()
	granted, release, err := r.reserve(ctx, limits, s.Size, a.work)
	if err != nil {
		return a, "", err
	}
	defer release()
	data, unmap, err := s.bytes(ctx)
	if err != nil {
		return a, "", err
	}
	defer unmap()
	next = attempt{kind: kindOf(s.Name, s.MimeType, data), work: a.work}
	if err := r.failed.find(next.kind, data); err != nil {
		return a, "", err
	}
	next.work = max(a.work, firstWork(limits, next.kind, s.Size))
	if next.work > a.work || next.kind == kindPDF && a.kind != kindPDF {
		return next, "", nil
	}
	working, stop := context.WithTimeoutCause(ctx, limits.Time, exceeded(LimitTime, limits.Time, "of work"))
	defer stop()
	switch {
	case next.kind == kindOffice:
		text, next.work, err = officeText(working, limits, data, a.work, granted, sheets)
		if next.work > a.work {
			return next, "", nil
		}
	case sheets != nil:
		return a, "", errNoWorkbook
	default:
		text, err = read(working, limits, &r.pdf, next.kind, data, granted)
	}
	switch {
	case err == nil:
		return a, text, nil
	case working.Err() != nil:
		err = context.Cause(working)
	case granted < a.work/4*3: // with nearly all of it the document is at fault
		err = hostBound(err, granted)
	case next.kind == kindPDF && a.work < int64(limits.Memory) && isLimit(err, LimitMemory):
		next.work = int64(limits.Memory)
		return next, "", nil
	}
	if ctx.Err() == nil && sheets == nil { // what fails for its sheets may have a text
		r.failed.add(next.kind, data, err)
	}
	return a, "", err
}

// turn waits until a document may be read; done ends the turn. Few PDFs are read at the same time.
func (r *Reader) turn(ctx context.Context, kind kind) (done func(), err error) {
	turns := r.fast
	if kind == kindPDF {
		turns = r.slow
		// The compiler runs before the time of the document begins.
		if err := r.pdf.open(r.CacheDir, r.Log); err != nil {
			return nil, err
		}
	}
	select {
	case turns <- struct{}{}:
		return func() { <-turns }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func read(ctx context.Context, limits *Limits, pdf *pdfReader, kind kind, data []byte, work int64) (string, error) {
	switch kind {
	case kindPDF:
		return pdf.text(ctx, limits, data, work)
	case kindOld:
		return "", oldOffice(data)
	case kindRTF:
		return "", fmt.Errorf("%w: it is RTF; save it as docx", ErrFormat)
	case kindHTML:
		source, err := decodeHTML(data)
		if err != nil {
			return "", err
		}
		return htmlText(ctx, limits, source)
	}
	return Decode(data, limits.Text)
}

// Close ends the PDF reader. Documents that are being read fail.
func (r *Reader) Close() error { return r.pdf.close() }

// load reads a document from its start into data.
func (s *Source) load(ctx context.Context, data []byte) error {
	in, err := s.Open(ctx)
	if err != nil {
		return err
	}
	_, err = io.ReadFull(in, data)
	if closed := in.Close(); err == nil {
		err = closed
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("document %q: it has less than %d bytes: %w", s.Name, s.Size, io.ErrUnexpectedEOF)
	}
	return err
}

// leastMapped is the size from which a file is held outside the heap.
const leastMapped = 1 << 20

// bytes are those of a document, until unmap is called.
func (s *Source) bytes(ctx context.Context) (data []byte, unmap func(), err error) {
	if s.Size < leastMapped {
		data, unmap = make([]byte, s.Size), func() {}
	} else if data, unmap, err = mapMemory(s.Size); err != nil {
		return nil, nil, err
	}
	if err := s.load(ctx, data); err != nil {
		unmap()
		return nil, nil, err
	}
	return data, unmap, nil
}

// kind is how a document is read.
type kind int

const (
	kindText kind = iota
	kindHTML
	kindPDF
	kindOffice
	kindOld // Office before 2007, or an encrypted document of today
	kindRTF
)

// kindOf is the format of a document by its content; only what looks like text is distinguished by
// its name as well.
func kindOf(name, mimeType string, data []byte) kind {
	head := string(data[:min(len(data), 1024)])
	switch extension := strings.ToLower(path.Ext(name)); {
	case strings.HasPrefix(head, "PK\x03\x04"), strings.HasPrefix(head, "PK\x05\x06"):
		return kindOffice
	case strings.HasPrefix(head, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"):
		return kindOld
	case strings.HasPrefix(head, `{\rtf`):
		return kindRTF
	case strings.HasPrefix(head, "%PDF-"), extension == ".pdf" || mimeType == "application/pdf",
		strings.Contains(head, "%PDF-") && !isText(data):
		// Readers of PDF accept some foreign bytes before the mark.
		return kindPDF
	case extension == ".html", extension == ".htm", extension == ".xhtml",
		mimeType == "text/html", mimeType == "application/xhtml+xml", looksHTML(head):
		return kindHTML
	case extension == ".docx", extension == ".xlsx", extension == ".pptx":
		if !isText(data) {
			return kindOffice
		}
	}
	return kindText
}

func isText(data []byte) bool {
	head := data[:min(len(data), 64<<10)]
	_, err := Decode(head, 3*len(head))
	return err == nil
}

func looksHTML(head string) bool {
	head = strings.ToLower(strings.TrimLeft(strings.TrimPrefix(head, "\uFEFF"), " \t\r\n"))
	return strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html")
}
