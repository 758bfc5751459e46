package backup

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
)

var (
	// ErrNotEmpty means that the target has records; set [Target].Replace or choose another target.
	ErrNotEmpty = errors.New("the target is not empty")
	// ErrArchive means that a file is not a backup, or is corrupt.
	ErrArchive = errors.New("it is not a readable backup")
	// ErrCut means that a backup is truncated; use another copy.
	ErrCut = fmt.Errorf("%w: the backup ends early; it was cut off when it was written or copied", ErrArchive)
	// ErrKey means that the key does not open the secrets; provide the key file of the archived
	// host.
	ErrKey = errors.New("the key file does not belong to this backup")
)

// Target is the destination of a restore. Store configures records and key, NATS the uploaded
// files. Hosts that use them must be stopped; [ErrAtWork] reports those that can be detected.
type Target struct {
	Store   store.Config
	NATS    broker.Config
	Files   blobs.Bucket // where uploads go; the zero value is NATS
	Plugins string
	// Replace allows replacing existing records, files and plugins. The previous contents of the
	// data directory are moved to replaced-TIME inside it.
	Replace bool
	// Force skips the check for running hosts on a shared NATS or PostgreSQL server. Such hosts
	// continue with cached state and may write it back.
	Force bool
}

// Restored is the result of a restore.
type Restored struct {
	Created                    time.Time
	Files, Plugins, FailedRuns int
	// LeftOut lists skipped entries that are not part of a backup, such as compiled plugins.
	LeftOut []string
}

// Read restores an archive. The whole archive is checked before anything is changed.
//
// Errors: [ErrArchive], [ErrCut], [ErrNotEmpty], [ErrKey], [ErrAtWork], [broker.ErrLocked], those
// of the store.
func Read(ctx context.Context, archive io.ReaderAt, size int64, t Target) (Restored, error) {
	z, err := zip.NewReader(archive, size)
	switch {
	case err != nil && startsAsZip(archive):
		return Restored{}, fmt.Errorf("restore: %w, after %d bytes", ErrCut, size)
	case err != nil:
		return Restored{}, fmt.Errorf("restore: %w: %w", ErrArchive, err)
	}
	done, err := restore(ctx, z, &t)
	if err != nil {
		return done, fmt.Errorf("restore: %w", err)
	}
	return done, nil
}

// startsAsZip reports whether a file starts as a zip. The directory of a zip is at its end, so a
// truncated archive cannot be opened as one.
func startsAsZip(archive io.ReaderAt) bool {
	first := make([]byte, 4)
	_, err := archive.ReadAt(first, 0)
	return err == nil && string(first) == "PK\x03\x04"
}

func restore(ctx context.Context, z *zip.Reader, t *Target) (done Restored, err error) {
	c, err := check(ctx, z)
	if err != nil {
		return done, err
	}
	done.Created, done.LeftOut = c.Created, c.skipped
	if err := t.stopped(ctx); err != nil {
		return done, err
	}
	if err := t.makeRoom(ctx, c); err != nil {
		return done, err
	}
	s, err := store.Open(ctx, t.Store)
	if errors.Is(err, store.ErrWrongKey) {
		err = fmt.Errorf("%w: %w", ErrKey, err)
	}
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	conn, err := broker.Open(ctx, t.NATS, "easel restore")
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	uploads, err := blobs.Open(ctx, conn, t.Files)
	if err != nil {
		return done, err
	}
	// The records are loaded last: without them the target still counts as empty, and the restore
	// can be retried.
	if done.Files, err = putFiles(ctx, z, uploads); err != nil {
		return done, err
	}
	if done.Plugins, err = t.putPlugins(z); err != nil {
		return done, err
	}
	if err := load(ctx, z, s); err != nil {
		return done, err
	}
	if err := s.CheckIntegrity(ctx); err != nil {
		return done, err
	}
	done.FailedRuns, err = endRuns(ctx, s)
	return done, err
}

// makeRoom empties the target if allowed and writes the key.
func (t *Target) makeRoom(ctx context.Context, c contents) error {
	dir := t.Store.Dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	used, err := t.used(ctx)
	if err != nil {
		return err
	}
	if used && !t.Replace {
		return fmt.Errorf("%w: %s holds records; --replace puts the backup in their place", ErrNotEmpty, where(t.Store))
	}
	old, err := os.ReadFile(t.keyFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	key := c.key
	if key == nil {
		key = old // the key file was provided by the operator
	}
	if err := store.KeyOpens(key, c.records); err != nil {
		return fmt.Errorf("%w: %w", ErrKey, err)
	}
	if same := bytes.Equal(bytes.TrimSpace(old), bytes.TrimSpace(key)); old != nil && !same && !t.Replace {
		return fmt.Errorf("%w: %s holds another key; --replace puts the backup's in its place", ErrNotEmpty,
			t.keyFile())
	}
	if used && t.Store.URL != "" {
		if err := store.Wipe(ctx, t.Store); err != nil {
			return err
		}
	}
	if used {
		if err := setAside(dir, t.keyFile()); err != nil {
			return err
		}
	}
	return writeKey(t.keyFile(), key)
}

// writeKey writes a key readable only by its owner, for any mode of an existing file.
func writeKey(file string, key []byte) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = f.Chmod(0o600)
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.Write(key)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

func (t *Target) keyFile() string {
	if t.Store.KeyFile != "" {
		return t.Store.KeyFile
	}
	return filepath.Join(t.Store.Dir, "secret.key")
}

func where(c store.Config) string {
	if c.URL != "" {
		return "the database"
	}
	return c.Dir
}

// used reports whether the target has records. It fails if a host uses the data directory.
func (t *Target) used(ctx context.Context) (bool, error) {
	if t.NATS.Dir != "" {
		conn, err := broker.Open(ctx, t.NATS, "easel restore")
		if err != nil {
			return false, err
		}
		if err := conn.Close(); err != nil {
			return false, err
		}
	}
	if t.Store.URL == "" {
		if _, err := os.Stat(filepath.Join(t.Store.Dir, "easel.db")); errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
	}
	used, err := store.Used(ctx, t.Store)
	if errors.Is(err, store.ErrLost) || errors.Is(err, store.ErrCorrupt) {
		return true, nil // it has records, which the restore replaces
	}
	return used, err
}

// setAside moves the contents of a data directory into a folder inside it. The directory itself may
// be a mount point, which cannot be moved.
func setAside(dir, keyFile string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	old, err := disk.MkdirAside(filepath.Join(dir, asidePrefix), time.Now())
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), asidePrefix) {
			continue
		}
		if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(old, e.Name())); err != nil {
			return err
		}
	}
	if filepath.Dir(keyFile) == filepath.Clean(dir) {
		return nil
	}
	err = os.Rename(keyFile, keyFile+".replaced")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

const asidePrefix = "replaced-"

func putFiles(ctx context.Context, z *zip.Reader, uploads *blobs.Store) (n int, err error) {
	return each(z, filesFolder, func(name string, r io.Reader) error {
		_, err := uploads.Put(ctx, name, r)
		return err
	})
}

// putPlugins writes the plugins to their folder. Files are always recreated, never written through
// existing links.
func (t *Target) putPlugins(z *zip.Reader) (int, error) {
	if t.Plugins == "" {
		return 0, nil
	}
	if err := os.MkdirAll(t.Plugins, 0o755); err != nil {
		return 0, err
	}
	root, err := os.OpenRoot(t.Plugins)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	return each(z, pluginFolder, func(name string, r io.Reader) error {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return errors.Join(err, f.Sync(), f.Close())
	})
}

// each calls f with the entries of a folder that belong to a backup, named relative to the folder.
func each(z *zip.Reader, folder string, f func(name string, r io.Reader) error) (n int, err error) {
	for _, e := range z.File {
		name, ok := strings.CutPrefix(e.Name, folder)
		if !ok || !accepted(e.Name) {
			continue
		}
		r, err := e.Open()
		if err != nil {
			return n, err
		}
		if err := errors.Join(f(name, r), r.Close()); err != nil {
			return n, fmt.Errorf("%s: %w", e.Name, err)
		}
		n++
	}
	return n, nil
}

func load(ctx context.Context, z *zip.Reader, s *store.Store) error {
	r, err := z.Open(recordsEntry)
	if err != nil {
		return err
	}
	err = errors.Join(s.Load(ctx, r), r.Close())
	switch {
	case errors.Is(err, store.ErrWrongKey):
		return fmt.Errorf("%w: %w", ErrKey, err)
	case errors.Is(err, store.ErrExists):
		return fmt.Errorf("%w: %w", ErrNotEmpty, err)
	}
	return err
}

// endRuns marks unfinished runs as failed, since an archive has only their request.
func endRuns(ctx context.Context, s *store.Store) (int, error) {
	list, err := s.Runs.Active(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		end := store.RunEnd{
			ID: r.ID, Tenant: r.Tenant, Session: r.Session, Status: store.RunFailed,
			Error: "the host was restored from a backup",
		}
		if _, err := s.Runs.End(ctx, end, nil); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}
