package document

import "errors"

var (
	// ErrFormat means that a file is nothing that can be read as text; convert it to one of the formats the
	// message names.
	ErrFormat = errors.New("the file is neither text nor a document that can be read")
	// ErrEncrypted means that a document needs a password; save it without one.
	ErrEncrypted = errors.New("the document is protected by a password")
	// ErrDamaged means that a document is cut off or broken; make it again.
	ErrDamaged = errors.New("the document is damaged")
	// ErrNoText means that a PDF has pages but no text on them; run a text recognition on it first.
	ErrNoText = errors.New("the document holds no text, only pictures")
	// ErrLimit means that reading a document would take more than is allowed; split it.
	ErrLimit = errors.New("the document is too large to read")
)
