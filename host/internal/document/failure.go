package document

import (
	"crypto/sha256"
	"errors"
	"sync"
)

// Version identifies how documents are read. It changes when a document that failed may now be
// read.
const Version = 1

// Failure is why a document cannot be read, in a form that can be stored. Reading the same bytes
// again with the same Version fails again.
type Failure struct {
	Version int    `json:"version"`
	Code    string `json:"code"` // format, encrypted, damaged, no_text, limit
	Limit   Limit  `json:"limit,omitempty"`
	Message string `json:"message"`
}

// causes are the errors of documents by the code of their failure.
var causes = map[string]error{
	"format": ErrFormat, "encrypted": ErrEncrypted, "damaged": ErrDamaged, "no_text": ErrNoText, "limit": ErrLimit,
}

// FailureOf is the failure behind an error of [Reader.Read]. ok is false when reading the document
// again may succeed: the host was busy or too small, the caller left, or the bytes could not be
// loaded.
func FailureOf(err error) (f Failure, ok bool) {
	f = Failure{Version: Version}
	var over *LimitError
	if errors.As(err, &over) {
		f.Limit = over.Limit
	}
	for code, cause := range causes {
		if errors.Is(err, cause) {
			f.Code, f.Message = code, err.Error()
			return f, f.Limit != LimitHost
		}
	}
	return Failure{}, false
}

// Err is the error that the failure was made of, or nil when this version reads documents
// differently.
func (f Failure) Err() error {
	if cause := causes[f.Code]; cause != nil && f.Version == Version {
		return &failedBefore{f, cause}
	}
	return nil
}

// failedBefore is the error of a document that failed earlier.
type failedBefore struct {
	failure Failure
	cause   error
}

func (e *failedBefore) Error() string { return e.failure.Message }
func (e *failedBefore) Unwrap() error { return e.cause }

// As gives the limit that was exceeded.
func (e *failedBefore) As(target any) bool {
	over, ok := target.(**LimitError)
	if ok && e.cause == ErrLimit {
		*over = &LimitError{e.failure.Limit, e.failure.Message}
	}
	return ok && e.cause == ErrLimit
}

// mostFailures is how many failed documents a reader remembers.
const mostFailures = 1000

// failures are the documents that failed, by the hash of what decides about it. The zero value is
// empty.
type failures struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]Failure
}

// contentHash is the hash of a document. How it is read depends on its kind too, which its name may
// decide.
func contentHash(kind kind, data []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte{byte(kind)})
	h.Write(data)
	return [sha256.Size]byte(h.Sum(nil))
}

// find is the error of a document that failed before. Nothing is hashed while nothing has failed.
func (f *failures) find(kind kind, data []byte) error {
	f.mu.Lock()
	empty := len(f.known) == 0
	f.mu.Unlock()
	if empty {
		return nil
	}
	key := contentHash(kind, data)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.known[key].Err()
}

// add remembers a document if reading it again must fail again.
func (f *failures) add(kind kind, data []byte, err error) {
	failure, ok := FailureOf(err)
	if !ok {
		return
	}
	key := contentHash(kind, data)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[[sha256.Size]byte]Failure{}
	}
	if len(f.known) >= mostFailures {
		for old := range f.known { // any of them: the order of a map is random
			delete(f.known, old)
			break
		}
	}
	f.known[key] = failure
}
