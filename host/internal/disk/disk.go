// Package disk answers what a host asks about the disk of its data directory:
// how much room there is, whether anything can be written at all, and whether
// another process uses it.
package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// probeName is an empty file in a data directory, which is opened to see whether
// the disk takes writes. No other file may be opened for that: closing it would
// drop the locks that a database in this process holds on it.
const probeName = ".writable"

// ReadOnly says whether the disk of a directory takes no writes: because it is
// mounted read-only, or because the system has made it so after an error.
func ReadOnly(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, probeName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		// A disk that was shut down answers with an I/O error.
		return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EIO)
	}
	_ = f.Close() // nothing was written
	return false
}
