package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// Reader reads documents. The zero value is ready to use. It is safe for concurrent use.
type Reader struct {
	// CacheDir stores the compiled PDF reader (14 MB) between processes, which reduces the delay of
	// the first PDF of a process from seconds to 60 ms. It must be writable by the host only. ""
	// disables the cache.
	CacheDir string
	// Log receives warnings about CacheDir; nil means slog.Default.
	Log *slog.Logger
	// Limits bound the resources for one document.
	Limits Limits
	// OCR reads images and scanned pages for [Reader.Blocks]; nil reads none.
	OCR OCR
	// Memory bounds the sum over all documents that are read concurrently; nil means no bound.
	Memory *memlimit.Budget

	initOnce             sync.Once
	pdfTurns, otherTurns chan struct{} // semaphores
	pdf                  pdfReader
	failed               failures
}

// Source is a document to read. Open is called again if reading needs more memory than was
// reserved.
type Source struct {
	Name, MimeType string // used only if the content is ambiguous
	Size           int64  // bytes that Open returns
	Open           func(context.Context) (io.ReadCloser, error)
}

// Bytes returns a Source for a document in memory.
func Bytes(name, mimeType string, data []byte) Source {
	open := func(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	return Source{Name: name, MimeType: mimeType, Size: int64(len(data)), Open: open}
}

// Text is like [Reader.Read] for a document in memory.
func (r *Reader) Text(ctx context.Context, name, mimeType string, data []byte) (string, error) {
	return r.Read(ctx, Bytes(name, mimeType, data))
}

// Read returns the text of a document. A document that failed is not parsed again, see [FailureOf].
//
// Errors: [ErrFormat], [ErrEncrypted], [ErrDamaged], [ErrNoText], [ErrLimit], [ErrBusy], the errors
// of s.Open and ctx.
func (r *Reader) Read(ctx context.Context, s Source) (string, error) { return r.read(ctx, s, want{}) }

// Blocks returns a document as blocks. It has the limits and errors of [Reader.Read]; a PDF or an
// image without text is [ErrNoText] unless OCR is set.
func (r *Reader) Blocks(ctx context.Context, s Source) ([]block.Block, error) {
	var blocks []block.Block
	_, err := r.read(ctx, s, want{blocks: &blocks})
	return blocks, err
}

// want selects the result instead of the text; at most one field is set.
type want struct {
	sheets    *[]Sheet
	blocks    *[]block.Block
	thumbnail *thumbnail
}

// text reports whether the text is read.
func (w want) text() bool { return w == want{} }

// page returns the target of the document.
func (w want) page(limits *Limits) *page {
	out := newPage(limits)
	if w.blocks != nil {
		out.blocks = &collector{maxSize: limits.Work}
	}
	out.drawn = w.thumbnail
	return out
}

// take passes on the result.
func (w want) take(out *page) (string, error) {
	if w.blocks != nil && out.err == nil {
		*w.blocks = out.blocks.result()
	}
	return out.result()
}

// read implements Read, or the variant selected by w.
func (r *Reader) read(ctx context.Context, s Source, w want) (string, error) {
	limits := r.Limits.orDefaults()
	if s.Size > int64(limits.File) {
		return "", exceeded(LimitFile, limits.File, "bytes")
	}
	r.initOnce.Do(func() {
		r.pdfTurns, r.otherTurns = make(chan struct{}, limits.PDFs), make(chan struct{}, limits.Others)
	})
	a := attempt{kind: kindOf(s.Name, s.MimeType, nil)} // by name until the bytes are loaded
	a.work = firstWork(&limits, a.kind, s.Size)
	for {
		next, text, err := r.attempt(ctx, &limits, s, a, w)
		if next == a {
			return text, err
		}
		a = next
	}
}

// attempt holds the resources for reading a document, as far as they are known. The content, the
// directory of an Office document and pdfium may require more. A document that needs more releases
// everything before it waits, so documents cannot deadlock.
type attempt struct {
	kind kind
	work int64 // bytes beyond the file itself
	pdf  bool  // a PDF is attached to the document
}

// attempt reads a document. If next differs from a, it must be called again with next.
func (r *Reader) attempt(ctx context.Context, limits *Limits, s Source, a attempt, w want) (
	next attempt, text string, err error,
) {
	done, err := r.turn(ctx, a.kind == kindPDF || a.pdf)
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
	next = attempt{kind: kindOf(s.Name, s.MimeType, data), work: a.work, pdf: a.pdf}
	if w.blocks == nil && w.thumbnail == nil { // OCR may read the document
		if err := r.failed.find(next.kind, data); err != nil {
			return a, "", err
		}
	}
	next.work = max(a.work, firstWork(limits, next.kind, s.Size))
	if next.work > a.work || next.kind == kindPDF && a.kind != kindPDF {
		return next, "", nil
	}
	working, stop := context.WithTimeoutCause(ctx, limits.Time, exceeded(LimitTime, limits.Time, "of work"))
	defer stop()
	out := w.page(limits)
	switch {
	case next.kind == kindOffice && w.thumbnail == nil:
		next.work, err = officeText(working, limits, data, a.work, granted, w.sheets, out)
		if next.work > a.work {
			return next, "", nil
		}
	case next.kind == kindOld && w.thumbnail == nil, next.kind == kindEmail && w.sheets == nil && w.thumbnail == nil:
		next, err = r.message(working, limits, next, granted, data, w.sheets, out)
		if next.work > a.work || next.pdf != a.pdf {
			return next, "", nil
		}
	case w.sheets != nil:
		return a, "", errNoWorkbook
	case next.kind == kindPDF:
		err = r.pdf.read(working, limits, data, granted, out, r.OCR)
	case w.thumbnail != nil:
		next.work, err = w.thumbnail.decode(limits, next.kind, data, a.work, granted)
		if next.work > a.work {
			return next, "", nil
		}
	case next.kind == kindFlatODF:
		err = flatODF(working, limits, data, granted, out)
	case next.kind == kindImage:
		err = imageBlocks(working, data, out, r.OCR)
	default:
		err = read(working, limits, next.kind, s.Name, data, out)
	}
	if err == nil {
		text, err = w.take(out)
	}
	switch {
	case err == nil:
		return a, text, nil
	case working.Err() != nil:
		err = context.Cause(working)
	case granted < a.work/4*3: // with nearly all of it, the document is too large
		err = hostBound(err, granted)
	case next.kind == kindPDF && a.work < int64(limits.Memory) && isLimit(err, LimitMemory):
		next.work = int64(limits.Memory)
		return next, "", nil
	}
	if ctx.Err() == nil && w.text() { // a document without sheets or with too many blocks may have text
		r.failed.add(next.kind, data, err)
	}
	return a, "", err
}

// turn waits for the semaphore of a format; done releases it. PDFs have a smaller one.
func (r *Reader) turn(ctx context.Context, pdf bool) (done func(), err error) {
	turns := r.otherTurns
	if pdf {
		turns = r.pdfTurns
		// Compile before the time limit of the document starts.
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

// read adds a document of one of the other formats to out.
func read(ctx context.Context, limits *Limits, kind kind, name string, data []byte, out *page) error {
	switch kind {
	case kindRTF:
		return rtfPage(ctx, limits, data, out)
	case kindHTML:
		source, err := decodeHTML(data)
		if err != nil {
			return err
		}
		return htmlPage(ctx, limits, source, out, true)
	}
	text, err := Decode(data, limits.Text)
	if err != nil {
		return err
	}
	if out.blocks != nil {
		return textBlocks(ctx, limits, name, text, out.blocks)
	}
	out.whole = text
	return nil
}

// Close closes the PDF reader. Reads in progress fail.
func (r *Reader) Close() error { return r.pdf.close() }

// load fills data from the start of the document.
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

// minMapped is the size from which a file is stored outside the heap.
const minMapped = 1 << 20

// bytes returns the content of a document, valid until unmap is called.
func (s *Source) bytes(ctx context.Context) (data []byte, unmap func(), err error) {
	if s.Size < minMapped {
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

// kind is a document format.
type kind int

const (
	kindText kind = iota
	kindHTML
	kindPDF
	kindOffice
	kindOld // Office before 2007, a message of Outlook, or an encrypted document of a later version
	kindRTF
	kindFlatODF
	kindEmail
	kindImage
)

// kindOf detects the format from the content; the name and the MIME type only distinguish text
// formats.
func kindOf(name, mimeType string, data []byte) kind {
	head := string(data[:min(len(data), 1024)])
	switch extension := strings.ToLower(path.Ext(name)); {
	case strings.HasPrefix(head, "PK\x03\x04"), strings.HasPrefix(head, "PK\x05\x06"):
		return kindOffice
	case strings.HasPrefix(head, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"):
		return kindOld
	case strings.HasPrefix(head, `{\rtf`):
		return kindRTF
	case isFlatODF(head):
		return kindFlatODF
	case strings.HasPrefix(http.DetectContentType(data[:min(len(data), 512)]), "image/"):
		return kindImage
	case strings.HasPrefix(head, "%PDF-"), extension == ".pdf" || mimeType == "application/pdf",
		strings.Contains(head, "%PDF-") && !isText(data):
		// PDF readers accept leading garbage.
		return kindPDF
	case extension == ".html", extension == ".htm", extension == ".xhtml",
		mimeType == "text/html", mimeType == "application/xhtml+xml", looksHTML(head):
		return kindHTML
	case extension == ".eml" || mimeType == "message/rfc822":
		if isText(data) || isText(headers(data)) {
			return kindEmail
		}
	case extension == ".docx", extension == ".xlsx", extension == ".pptx", extension == ".epub",
		extension == ".odt", extension == ".ods", extension == ".odp":
		if !isText(data) {
			return kindOffice
		}
	}
	return kindText
}

// headers returns a message up to its first empty line.
func headers(data []byte) []byte {
	data = data[:min(len(data), 64<<10)]
	for _, end := range []string{"\n\r\n", "\n\n"} {
		if at := bytes.Index(data, []byte(end)); at >= 0 {
			return data[:at]
		}
	}
	return data
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
