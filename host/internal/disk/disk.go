// Package disk reports the state of the disk of a data directory: free space, whether it is
// writable, and whether another process uses it.
package disk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// probeName is an empty file in a data directory that is opened to check whether the disk is
// writable. No other file may be used: closing it would release the POSIX locks that a database in
// this process has on it.
const probeName = ".writable"

// ReadOnly reports whether the disk of a directory rejects writes because it is mounted read-only
// or because the system remounted it after an error.
func ReadOnly(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, probeName), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		// A disk that was shut down returns I/O errors.
		return errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EIO)
	}
	_ = f.Close() // nothing was written
	return false
}
