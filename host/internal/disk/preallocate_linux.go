//go:build linux

package disk

import (
	"errors"
	"os"
	"syscall"
)

// preallocate allocates blocks of the disk to a file without writing them. Errors:
// [errors.ErrUnsupported] where the file system cannot.
func preallocate(f *os.File, size int64) error {
	for {
		err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EOPNOTSUPP), errors.Is(err, syscall.ENOSYS):
			return errors.ErrUnsupported
		}
		return err
	}
}
