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

// leastRoom is what a host needs to start on a disk, in bytes.
const leastRoom = 1 << 20

// trouble adds to the error of a host that did not start what is wrong with its data directory,
// which the part that failed may not know.
func (s *server) trouble(err error) error {
	dir := s.cfg.Dir
	if free := disk.Free(dir); free >= 0 && free < leastRoom {
		return fmt.Errorf("%w; the disk of --data %s is full: %d KiB are left", err, dir, free>>10)
	}
	// The directory, and what a start writes.
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
	return fmt.Errorf("%w; --data %s belongs to another user than the one that runs easel: %w", err, dir, denied)
}

// usable says why a file cannot be read and written, or nothing be put into a directory.
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

// warnOfSync tells an operator who wants everything on the disk that this is not all there is to
// say. Only the system account of a NATS can read how it syncs.
func (s *server) warnOfSync() {
	if s.cfg.Sync == host.SyncAlways && len(s.cfg.NATS) > 0 {
		s.cfg.Log.Warn("sync always does not reach the run log on NATS; set sync_interval: always in the jetstream block of each server")
	}
}

// warnOfOpenKeys tells of key files that everybody on the machine may read.
func (s *server) warnOfOpenKeys() {
	if runtime.GOOS == "windows" {
		return // others have no bits there
	}
	sealing := s.cfg.KeyFile
	if sealing == "" {
		sealing = filepath.Join(s.cfg.Dir, "secret.key")
	}
	for _, file := range []string{s.keyFile, sealing} {
		if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o004 != 0 {
			s.cfg.Log.Warn("everybody on this machine can read a key; chmod 600 keeps it from them", "file", file)
		}
	}
}
