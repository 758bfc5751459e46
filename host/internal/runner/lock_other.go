//go:build !unix

package runner

import (
	"errors"
	"os"
)

// dirLock does nothing where flock is missing; the operator must see to it
// that one process uses a data directory.
type dirLock struct{}

func lockDir(dir string) (*dirLock, error) {
	if dir == "" {
		return nil, errors.New("neither a data directory nor a NATS address is set")
	}
	return nil, os.MkdirAll(dir, 0o700)
}

func (d *dirLock) release() error { return nil }
