//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// TryLock locks an open file. It reports false if another process has the lock. The lock is
// released when the file is closed or the process exits.
func TryLock(f *os.File) (locked bool, err error) {
	err = flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// Lock waits until it has locked an open file.
func Lock(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// Unlock releases the lock of an open file.
func Unlock(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
