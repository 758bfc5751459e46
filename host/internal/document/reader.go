package document

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"
)

// Reader reads documents. The zero value works. It is safe for concurrent use.
type Reader struct {
	// CacheDir keeps the compiled PDF reader, 14 MB, between processes: the first PDF of a process then waits 60 ms
	// instead of some seconds. Nobody else may write there. "" compiles in memory.
	CacheDir string
	// Limits bound the work on one document.
	Limits Limits

	begin      sync.Once
	slow, fast chan struct{} // turns of PDF, and of all else
	pdf        pdfReader
}

// Text is the text of a document. name and mimeType only help where the content leaves a doubt.
//
// Errors: [ErrFormat], [ErrEncrypted], [ErrDamaged], [ErrNoText], [ErrLimit], ctx's.
func (r *Reader) Text(ctx context.Context, name, mimeType string, data []byte) (string, error) {
	limits := r.Limits.orDefaults()
	if len(data) > limits.File {
		return "", tooMuch("bytes", limits.File)
	}
	r.begin.Do(func() { r.slow, r.fast = make(chan struct{}, limits.PDFs), make(chan struct{}, limits.Others) })
	kind, turns := kindOf(name, mimeType, data), r.fast
	if kind == kindPDF {
		turns = r.slow
		// Before the time of the document begins, as the first one waits for the compiler.
		if err := r.pdf.open(&limits, r.CacheDir); err != nil {
			return "", err
		}
	}
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	working, stop := context.WithTimeoutCause(ctx, limits.Time, tooMuch("of work", limits.Time))
	defer stop()
	text, err := r.read(working, &limits, kind, data)
	if err != nil && working.Err() != nil {
		return "", context.Cause(working)
	}
	return text, err
}

func (r *Reader) read(ctx context.Context, limits *Limits, kind kind, data []byte) (string, error) {
	switch kind {
	case kindPDF:
		return r.pdf.text(ctx, limits, data)
	case kindOffice:
		return officeText(ctx, limits, data)
	case kindOld:
		return "", oldOffice(data)
	case kindRTF:
		return "", fmt.Errorf("%w: it is RTF; save it as docx", ErrFormat)
	case kindHTML:
		text, err := decodeHTML(data)
		if err != nil {
			return "", err
		}
		return htmlText(ctx, limits, text)
	}
	text, err := Decode(data)
	if err == nil && len(text) > limits.Text {
		return "", tooMuch("bytes of text", limits.Text)
	}
	return text, err
}

// Close ends the PDF reader. Documents that are being read fail.
func (r *Reader) Close() error { return r.pdf.close() }

// kind is how a document is read.
type kind int

const (
	kindText kind = iota
	kindHTML
	kindPDF
	kindOffice
	kindOld // Office before 2007, or an encrypted one of today
	kindRTF
)

// kindOf trusts the content; only what looks like text is told from HTML by its name as well.
func kindOf(name, mimeType string, data []byte) kind {
	head := string(data[:min(len(data), 1024)])
	switch extension := strings.ToLower(path.Ext(name)); {
	case strings.HasPrefix(head, "PK\x03\x04"), strings.HasPrefix(head, "PK\x05\x06"):
		return kindOffice
	case strings.HasPrefix(head, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"):
		return kindOld
	case strings.HasPrefix(head, `{\rtf`):
		return kindRTF
	case strings.HasPrefix(head, "%PDF-"), extension == ".pdf" || mimeType == "application/pdf", strings.Contains(head, "%PDF-") && !isText(data):
		// Readers of PDF accept some foreign bytes before the mark.
		return kindPDF
	case extension == ".html", extension == ".htm", extension == ".xhtml", mimeType == "text/html", mimeType == "application/xhtml+xml", looksHTML(head):
		return kindHTML
	case extension == ".docx", extension == ".xlsx", extension == ".pptx":
		if !isText(data) {
			return kindOffice
		}
	}
	return kindText
}

func isText(data []byte) bool {
	_, err := Decode(data[:min(len(data), 64<<10)])
	return err == nil
}

func looksHTML(head string) bool {
	head = strings.ToLower(strings.TrimLeft(strings.TrimPrefix(head, "\uFEFF"), " \t\r\n"))
	return strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html")
}
