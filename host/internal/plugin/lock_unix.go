//go:build unix

package plugin

import (
	"errors"
	"os"
	"syscall"
)

// tryLock takes the lock of a file, or says that another process has it. It ends with the file.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}
