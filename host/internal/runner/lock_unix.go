//go:build unix

package runner

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// dirLock keeps a second process out of a data directory; two servers on the
// same files would destroy them. The system drops it when the process dies.
type dirLock struct{ file *os.File }

func lockDir(dir string) (*dirLock, error) {
	if dir == "" {
		return nil, errors.New("neither a data directory nor a NATS address is set")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "runner.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(ErrLocked, f.Close())
	}
	return &dirLock{f}, nil
}

func (d *dirLock) release() error {
	if d == nil {
		return nil
	}
	return d.file.Close()
}
