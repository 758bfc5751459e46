package index

import (
	"errors"
	"fmt"
)

// ErrNoDataset means that a dataset does not exist; create it first.
var ErrNoDataset = errors.New("unknown dataset")

// ErrNoDocument means that a dataset has no such document.
var ErrNoDocument = errors.New("unknown document")

// ErrFull means that the storage of the index is full or read-only; the index can be searched.
var ErrFull = errors.New("storage of the index is full or read-only")

// ErrGated means that an index or a source cannot leave out the documents that a reader may not
// read. It refuses such a search rather than to find too much.
var ErrGated = errors.New("this index has no access by document, so it refuses a reader who may not read all")

// DatasetError adds a dataset to an error of an adapter; nil stays nil.
func DatasetError(dataset string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("index: dataset %q: %w", dataset, err)
}

// UnknownDocument returns [ErrNoDocument] with the id of the document.
func UnknownDocument(id string) error { return fmt.Errorf("%w %q", ErrNoDocument, id) }

// CheckVector compares the vector of a query with those of a dataset, whose dimensions are 0 when
// it has none.
func (q *Query) CheckVector(dataset string, dims int) error {
	if q.Vector == nil || dims == 0 || dims == len(q.Vector) {
		return nil
	}
	return fmt.Errorf("query has a vector of %d dimensions, those of dataset %q have %d", len(q.Vector), dataset, dims)
}
