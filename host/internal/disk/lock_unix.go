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
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
