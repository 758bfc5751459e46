package document

import (
	"errors"
	"fmt"
)

// formats lists the supported formats, for people.
const formats = "txt, md, html, csv, json, eml, msg, epub, pdf, rtf, docx, doc, xlsx, xls, pptx, ppt, " +
	"odt, ods and odp"

// Extensions lists the files that are read as documents: texts and all formats but images.
// Other texts, such as source code, can be read too.
var Extensions = []string{
	".md", ".markdown", ".mdx", ".txt", ".text", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".html", ".htm",
	".xhtml", ".pdf", ".docx", ".xlsx", ".pptx", ".doc", ".xls", ".ppt", ".rtf", ".odt", ".ods", ".odp", ".fodt",
	".fods", ".fodp", ".eml", ".msg", ".epub",
}

var (
	// ErrMissing means that no file has this id, for this tenant or in this run; upload it first.
	ErrMissing = errors.New("file not found")
	// ErrFormat means that the file is not in a supported format; convert it to one that the
	// message names.
	ErrFormat = errors.New("the file is neither text nor a document that can be read")
	// ErrEncrypted means that a document needs a password; save it without one.
	ErrEncrypted = errors.New("the document is protected by a password")
	// ErrDamaged means that a document is truncated or malformed; export it again.
	ErrDamaged = errors.New("the document is damaged")
	// ErrNoText means that a PDF has pages without text, or that a file is an image; set
	// [Reader.OCR] or run OCR on it first.
	ErrNoText = errors.New("the document has no readable text, only pictures")
	// ErrLimit means that reading a document exceeds a limit; split it. The error is a
	// [*LimitError].
	ErrLimit = errors.New("the document is too large to read")
	// ErrBusy means that other documents occupied the memory for documents for too long; retry
	// later.
	ErrBusy = errors.New("too many documents are being read, try again later")
)

// Limit names a limit of [Limits]. The names are stable.
type Limit string

// The limits that a document may exceed.
const (
	LimitFile       Limit = "file"        // bytes of the file
	LimitText       Limit = "text"        // bytes of the text read from it
	LimitBlocks     Limit = "blocks"      // bytes of the blocks read from it
	LimitBlock      Limit = "block"       // bytes of one token, paragraph, row or page
	LimitAttributes Limit = "attributes"  // of one element
	LimitCells      Limit = "cells"       // of all tables
	LimitDepth      Limit = "depth"       // of nested elements
	LimitParts      Limit = "parts"       // files, sheets or slides of an Office document
	LimitUnpacked   Limit = "unpacked"    // bytes of an Office document after unpacking
	LimitPages      Limit = "pages"       // of a PDF
	LimitMemory     Limit = "memory"      // bytes of memory for reading
	LimitHost       Limit = "host_memory" // bytes that the host reserves for documents
	LimitTime       Limit = "time"        // spent on one document
)

// LimitError reports which limit a document exceeded. It matches [ErrLimit].
type LimitError struct {
	Limit Limit
	text  string
}

func (e *LimitError) Error() string { return ErrLimit.Error() + ": " + e.text }

// Is reports whether target is [ErrLimit].
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// exceeded returns the error of a document that has more than bound of what.
func exceeded(limit Limit, bound any, what string) error {
	return &LimitError{limit, fmt.Sprintf("more than %v %s", bound, what)}
}
