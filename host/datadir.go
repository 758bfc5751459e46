package host

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/tools/sql"
)

// ErrRecordsMissing means that a data directory has a run log and no records: bring easel.db back,
// restore a backup, or move the run log away to begin with an empty host.
var ErrRecordsMissing = errors.New("the records are missing")

// checkDataDir refuses a data directory that has lost its records or that canvases would read as a
// folder of SQLite files, and closes its files to other users.
func checkDataDir(cfg *Config) error {
	if cfg.Dir == "" {
		return nil
	}
	if cfg.Postgres == "" && len(cfg.NATS) == 0 {
		if err := checkRecords(cfg.Dir); err != nil {
			return err
		}
	}
	if err := protect(cfg.Dir, cfg.Log); err != nil {
		return err
	}
	return sql.CheckFolder(cfg.SQLiteDir, cfg.Dir)
}

func checkRecords(dir string) error {
	_, err := os.Stat(filepath.Join(dir, "easel.db"))
	if !errors.Is(err, fs.ErrNotExist) {
		return nil // what cannot be read is reported when it is opened
	}
	holds, err := broker.Holds(dir)
	if err != nil || !holds {
		return err
	}
	return fmt.Errorf("data directory %s: %w: there is no easel.db, but runs or uploaded files in nats; "+
		"put easel.db back or restore a backup with easel restore, or move %s away to start with nothing",
		dir, ErrRecordsMissing, filepath.Join(dir, "nats"))
}

// private are files of a data directory that hold secrets, tokens and texts of users.
var private = []string{
	"easel.db", "easel.db-wal", "easel.db-shm", "easel.db-check",
	"secret.key", "api.key", "redis.password", "sign-in.url",
	"index.db", "index.db-wal", "index.db-shm",
	"knowledge.db", "knowledge.db-wal", "knowledge.db-shm",
	"knowledge-index.db", "knowledge-index.db-wal", "knowledge-index.db-shm",
}

// protect removes the permissions of other users from files, which a manually created directory may
// grant. Permissions of groups stay, since volumes of containers are shared by one.
func protect(dir string, log *slog.Logger) error {
	if runtime.GOOS == "windows" {
		return nil // others have no bits there
	}
	for _, name := range private {
		file := filepath.Join(dir, name)
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o007 == 0 {
			continue // missing, or copied from elsewhere; an unreadable file is reported when it is opened
		}
		if err := os.Chmod(file, info.Mode().Perm()&^0o007); err != nil {
			return fmt.Errorf("every user of this machine can open %s (mode %v): %w; run chmod o-rwx on it",
				file, info.Mode().Perm(), err)
		}
		log.Warn("every user of this machine could open a file of the data directory; its mode was changed", "file",
			file,
			"was", info.Mode().Perm().String())
	}
	return nil
}
