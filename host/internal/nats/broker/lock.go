package broker

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/easel-canvas/easel/host/internal/disk"
)

// dirLock keeps a second process out of a data directory; two servers on the same files would
// corrupt them.
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
	held, err := disk.TryLock(f)
	if err == nil && !held {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &dirLock{f}, nil
}

func (d *dirLock) release() error {
	if d == nil {
		return nil
	}
	return d.file.Close()
}
