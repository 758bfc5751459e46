//go:build unix

package disk

import (
	"errors"
	"os"
	"syscall"
)

// TryLock takes the lock of an open file, or says that another process has it.
// It ends when the file is closed, or its process dies.
func TryLock(f *os.File) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
