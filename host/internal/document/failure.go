package document

import (
	"crypto/sha256"
	"errors"
	"sync"
)

// Version identifies the behavior of the readers. It changes when a document that failed may now be
// readable.
const Version = 3

// Failure is the storable reason why a document cannot be read. Reading the same bytes with the
// same Version fails again.
type Failure struct {
	Version int    `json:"version"`
	Code    string `json:"code"` // format, encrypted, damaged, no_text, limit
	Limit   Limit  `json:"limit,omitempty"`
	Message string `json:"message"`
}

// causes maps failure codes to errors.
var causes = map[string]error{
	"format": ErrFormat, "encrypted": ErrEncrypted, "damaged": ErrDamaged, "no_text": ErrNoText, "limit": ErrLimit,
}

// FailureOf returns the failure behind an error of [Reader.Read]. ok is false if a retry may
// succeed: the host was busy or has too little memory, the caller canceled, or the bytes could not
// be loaded.
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

// Err returns the error that the failure was made from, or nil if it is of another Version.
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

// As sets target to the limit that was exceeded.
func (e *failedBefore) As(target any) bool {
	over, ok := target.(**LimitError)
	if ok && e.cause == ErrLimit {
		*over = &LimitError{e.failure.Limit, e.failure.Message}
	}
	return ok && e.cause == ErrLimit
}

// maxFailures bounds how many failed documents a reader remembers.
const maxFailures = 1000

// failures are the documents that failed, by [contentHash]. The zero value is empty.
type failures struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]Failure
}

// contentHash hashes a document and its kind: the kind may depend on the name, and the same bytes
// read as another kind may succeed.
func contentHash(kind kind, data []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte{byte(kind)})
	h.Write(data)
	return [sha256.Size]byte(h.Sum(nil))
}

// find returns the error of a document that failed before. It hashes nothing until a document has
// failed.
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

// add remembers a document whose failure is permanent.
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
	if len(f.known) >= maxFailures {
		for old := range f.known { // evicts a random one: map order
			delete(f.known, old)
			break
		}
	}
	f.known[key] = failure
}
