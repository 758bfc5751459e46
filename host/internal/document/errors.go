package document

import (
	"errors"
	"fmt"
)

var (
	// ErrFormat means that a file is not in a format that can be read as text; convert it to one
	// that the message names.
	ErrFormat = errors.New("the file is neither text nor a document that can be read")
	// ErrEncrypted means that a document needs a password; save it without one.
	ErrEncrypted = errors.New("the document is protected by a password")
	// ErrDamaged means that a document is truncated or malformed; create it again.
	ErrDamaged = errors.New("the document is damaged")
	// ErrNoText means that a PDF has pages but no text on them; run text recognition on it first.
	ErrNoText = errors.New("the document holds no text, only pictures")
	// ErrLimit means that reading a document exceeds a limit; split it. The error is a
	// [*LimitError].
	ErrLimit = errors.New("the document is too large to read")
	// ErrBusy means that other documents held the host's memory for documents for too long; read
	// this one again later.
	ErrBusy = errors.New("too many documents are being read, try again later")
)

// Limit names a limit of [Limits]. Names do not change.
type Limit string

// The limits that a document may exceed.
const (
	LimitFile       Limit = "file"        // bytes of the file
	LimitText       Limit = "text"        // bytes of the text read from it
	LimitBlock      Limit = "block"       // bytes of one token, paragraph, row or page
	LimitAttributes Limit = "attributes"  // of one element
	LimitCells      Limit = "cells"       // of all tables
	LimitDepth      Limit = "depth"       // of nested elements
	LimitParts      Limit = "parts"       // files, sheets or slides of an Office document
	LimitUnpacked   Limit = "unpacked"    // bytes of an Office document after unpacking
	LimitPages      Limit = "pages"       // of a PDF
	LimitMemory     Limit = "memory"      // bytes held while reading
	LimitHost       Limit = "host_memory" // bytes that the host gives to documents
	LimitTime       Limit = "time"        // spent on one document
)

// LimitError is the limit that a document exceeded. It is [ErrLimit].
type LimitError struct {
	Limit Limit
	text  string
}

func (e *LimitError) Error() string { return ErrLimit.Error() + ": " + e.text }

// Is reports whether target is [ErrLimit].
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// exceeded is the error of a document that has more than most of something.
func exceeded(limit Limit, most any, what string) error {
	return &LimitError{limit, fmt.Sprintf("more than %v %s", most, what)}
}
