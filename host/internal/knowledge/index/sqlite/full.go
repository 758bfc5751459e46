package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"

	"github.com/easel-canvas/easel/host/internal/knowledge/index"
)

// Result codes of SQLite on a full or read-only disk. The memory that connections share is a file,
// too.
const (
	codeReadOnly  = 8
	codeFull      = 13
	codeShareSize = 10 | 19<<8
)

// isFull reports whether err comes from a full or read-only disk.
func isFull(err error) bool {
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return false
	}
	primary := lite.Code() & 0xff
	return primary == codeFull || primary == codeReadOnly || lite.Code() == codeShareSize
}

// datasetError is [index.DatasetError] that recognizes a full disk.
func datasetError(key string, err error) error {
	if isFull(err) && !errors.Is(err, index.ErrFull) {
		err = fmt.Errorf("%w: %w", index.ErrFull, err)
	}
	return index.DatasetError(key, err)
}
