package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/easel-canvas/easel/host"
	"github.com/easel-canvas/easel/host/internal/disk"
)

// leastRoom is the free disk space that a host needs to start, in bytes.
const leastRoom = 1 << 20

// trouble adds to the error of a failed start the problems of its data directory, which the failed
// part may not know.
func (s *server) trouble(err error) error {
	dir := s.cfg.Dir
	if free := disk.Free(dir); free >= 0 && free < leastRoom {
		return fmt.Errorf("%w; the disk of --data %s is full: %d KiB left", err, dir, free>>10)
	}
	// The directory and the files that a start writes.
	for _, name := range []string{".", "runner.lock", "nats", "easel.db"} {
		if denied := usable(filepath.Join(dir, name)); errors.Is(denied, fs.ErrPermission) {
			return foreign(err, dir, denied)
		}
	}
	if denied := readable(filepath.Join(dir, "secret.key")); errors.Is(denied, fs.ErrPermission) {
		return foreign(err, dir, denied)
	}
	return err
}

func foreign(err error, dir string, denied error) error {
	return fmt.Errorf("%w; --data %s belongs to a different user than the one that runs easel: %w", err, dir, denied)
}

// usable reports why a file cannot be read and written, or a directory not be written to.
func usable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		f, err := os.CreateTemp(path, ".easel-*")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// warnOfSync warns that --sync always does not change an existing NATS. Only the system account of
// a NATS can read its setting.
func (s *server) warnOfSync() {
	if s.cfg.Sync == host.SyncAlways && len(s.cfg.NATS) > 0 {
		s.cfg.Log.Warn("sync always does not apply to the run log on NATS; set sync_interval: always in the " +
			"jetstream block of each server")
	}
}

// warnOfOpenKeys warns of key files that all users of the machine may read.
func (s *server) warnOfOpenKeys() {
	if runtime.GOOS == "windows" {
		return // Windows has no such permission bits
	}
	sealing := s.cfg.KeyFile
	if sealing == "" {
		sealing = filepath.Join(s.cfg.Dir, "secret.key")
	}
	for _, file := range []string{s.keyFile, sealing} {
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o004 != 0 {
			s.cfg.Log.Warn("all users of this machine can read a key file; run chmod 600 on it", "file", file)
		}
	}
}
