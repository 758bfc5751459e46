//go:build !linux

package disk

import "os"

// Erase overwrites a part of a file with zeros.
func Erase(f *os.File, at, size int64) error { return zero(f, at, size) }
