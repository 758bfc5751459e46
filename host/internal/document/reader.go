package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/host/internal/memlimit"
)

// Reader reads documents. The zero value works. It is safe for concurrent use.
type Reader struct {
	// CacheDir stores the compiled PDF reader, 14 MB, between processes: the first PDF of a process then waits 60 ms
	// instead of some seconds. Only the host may write there. "" compiles in memory.
	CacheDir string
	// Limits bound the work on one document.
	Limits Limits
	// Memory is shared by the documents that are read at the same time; nil does not bound their sum.
	Memory *memlimit.Budget

	begin      sync.Once
	slow, fast chan struct{} // turns of PDFs, and of all else
	pdf        pdfReader
	failed     failures
}

// Source is a document to read. Open is called up to three times: the memory to read it is reserved in between.
type Source struct {
	Name, MimeType string // they decide only where the content is ambiguous
	Size           int64  // bytes that Open gives
	Open           func(context.Context) (io.ReadCloser, error)

	data []byte // all of it, when it is small
}

// Bytes is a document in memory.
func Bytes(name, mimeType string, data []byte) Source {
	return Source{Name: name, MimeType: mimeType, Size: int64(len(data)), Open: func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// Text is [Reader.Read] for a document in memory.
func (r *Reader) Text(ctx context.Context, name, mimeType string, data []byte) (string, error) {
	return r.Read(ctx, Bytes(name, mimeType, data))
}

// Read is the text of a document. A document that failed is not parsed again, see [FailureOf].
//
// Errors: [ErrFormat], [ErrEncrypted], [ErrDamaged], [ErrNoText], [ErrLimit], [ErrBusy], the error of s.Open, ctx's.
func (r *Reader) Read(ctx context.Context, s Source) (string, error) {
	limits := r.Limits.orDefaults()
	if s.Size > int64(limits.File) {
		return "", exceeded(LimitFile, limits.File, "bytes")
	}
	r.begin.Do(func() { r.slow, r.fast = make(chan struct{}, limits.PDFs), make(chan struct{}, limits.Others) })
	head := make([]byte, min(s.Size, headSize))
	if err := s.load(ctx, head); err != nil {
		return "", err
	}
	kind, turns := kindOf(s.Name, s.MimeType, head), r.fast
	if kind == kindPDF {
		turns = r.slow
		// The compiler runs before the time of the document begins.
		if err := r.pdf.open(r.CacheDir); err != nil {
			return "", err
		}
	}
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if s.Size == int64(len(head)) {
		s.data = head
	}
	return r.readReserved(ctx, &limits, kind, s)
}

// readReserved reads a document after its memory is reserved. How much an Office document or a PDF takes is known later;
// to wait for more it gives everything back first, so that two documents never wait for each other.
func (r *Reader) readReserved(ctx context.Context, limits *Limits, kind kind, s Source) (string, error) {
	for work := firstWork(limits, kind, s.Size); ; {
		text, more, err := r.attempt(ctx, limits, kind, s, work)
		if more <= work {
			return text, err
		}
		work = more
	}
}

// attempt reads a document with work bytes beside its own. more is how many it should be read with instead; 0 is none.
func (r *Reader) attempt(ctx context.Context, limits *Limits, kind kind, s Source, work int64) (
	text string, more int64, err error,
) {
	granted, release, err := r.reserve(ctx, limits, s.Size, work)
	if err != nil {
		return "", 0, err
	}
	defer release()
	data, unmap, err := s.bytes(ctx)
	if err != nil {
		return "", 0, err
	}
	defer unmap()
	if err := r.failed.find(kind, data); err != nil {
		return "", 0, err
	}
	working, stop := context.WithTimeoutCause(ctx, limits.Time, exceeded(LimitTime, limits.Time, "of work"))
	defer stop()
	if kind == kindOffice {
		text, more, err = officeText(working, limits, data, work, granted)
		if more > work {
			return "", more, nil
		}
	} else {
		text, err = read(working, limits, &r.pdf, kind, data, granted)
	}
	switch {
	case err == nil:
		return text, 0, nil
	case working.Err() != nil:
		err = context.Cause(working)
	case granted < work:
		err = hostBound(err, granted)
	case kind == kindPDF && work < int64(limits.Memory) && isLimit(err, LimitMemory):
		return "", int64(limits.Memory), nil
	}
	if ctx.Err() == nil {
		r.failed.add(kind, data, err)
	}
	return "", 0, err
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

// headSize is how many bytes decide about the format.
const headSize = 64 << 10

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
	switch {
	case s.data != nil:
		return s.data, func() {}, nil
	case s.Size < leastMapped:
		data, unmap = make([]byte, s.Size), func() {}
	default:
		if data, err = mapMemory(s.Size); err != nil {
			return nil, nil, err
		}
		unmap = func() { unmapMemory(data) }
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

// kindOf is the format of a document by its content; only what looks like text is distinguished by its name as well.
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
	head := data[:min(len(data), headSize)]
	_, err := Decode(head, 3*len(head))
	return err == nil
}

func looksHTML(head string) bool {
	head = strings.ToLower(strings.TrimLeft(strings.TrimPrefix(head, "\uFEFF"), " \t\r\n"))
	return strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html")
}
