//go:build !unix

package disk

import "os"

// TryLock always succeeds on systems without flock; the operator must ensure that only one process
// uses a directory.
func TryLock(*os.File) (locked bool, err error) { return true, nil }

// Lock does nothing on systems without flock.
func Lock(*os.File) error { return nil }

// Unlock does nothing on systems without flock.
func Unlock(*os.File) error { return nil }
