package disk

import (
	"errors"
	"os"
	"syscall"
)

// Modes of fallocate.
const (
	keepSize  = 0x1
	punchHole = 0x2
)

// Erase overwrites a part of a file with zeros, and returns its space to the disk where the file
// system can.
func Erase(f *os.File, at, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), keepSize|punchHole, at, size)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return zero(f, at, size)
	}
	return err
}
