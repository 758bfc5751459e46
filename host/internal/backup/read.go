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

	"github.com/easel-canvas/easel/host/internal/blobs"
	"github.com/easel-canvas/easel/host/internal/broker"
	"github.com/easel-canvas/easel/host/internal/store"
)

var (
	// ErrNotEmpty means that the target holds records; say that they may be replaced, or choose
	// another one.
	ErrNotEmpty = errors.New("the target is not empty")
	// ErrArchive means that a file is no backup, or a broken one.
	ErrArchive = errors.New("it is no backup that can be read")
	// ErrCut means that a file is only the beginning of a backup; take another copy.
	ErrCut = fmt.Errorf("%w: the backup ends early; it was cut off when it was written or copied", ErrArchive)
	// ErrKey means that the secrets cannot be opened; give the key file that belongs to the
	// archive.
	ErrKey = errors.New("the key file does not belong to this backup")
)

// Target is where an archive is read into. Store says where the records and the key are, Log where
// the files are. Hosts that use them must be stopped; those that can be seen are an [ErrAtWork].
type Target struct {
	Store   store.Config
	NATS    broker.Config
	Plugins string
	// Replace lets records, files and plugins that are there be replaced. What was in the data
	// directory is kept in a folder replaced-TIME inside it.
	Replace bool
	// Force does not look for hosts at work on a shared NATS or PostgreSQL. They go on with what
	// they have read, and may write it again.
	Force bool
}

// Restored is what an archive held.
type Restored struct {
	Created                    time.Time
	Files, Plugins, FailedRuns int
	// LeftOut are names of entries that are not part of a backup, such as compiled plugins.
	LeftOut []string
}

// Read reads an archive. It is checked as a whole before anything is changed.
//
// Errors: [ErrArchive], [ErrCut], [ErrNotEmpty], [ErrKey], [ErrAtWork], [broker.ErrLocked], those
// of the store.
func Read(ctx context.Context, archive io.ReaderAt, size int64, t Target) (Restored, error) {
	z, err := zip.NewReader(archive, size)
	switch {
	case err != nil && begins(archive):
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

// begins says that a file has the first bytes of a zip. What tells where everything is stands at
// its end.
func begins(archive io.ReaderAt) bool {
	first := make([]byte, 4)
	_, err := archive.ReadAt(first, 0)
	return err == nil && string(first) == "PK\x03\x04"
}

func restore(ctx context.Context, z *zip.Reader, t *Target) (done Restored, err error) {
	c, err := check(ctx, z)
	if err != nil {
		return done, err
	}
	done.Created, done.LeftOut = c.Created, c.foreign
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
	uploads, err := blobs.New(ctx, conn)
	if err != nil {
		return done, err
	}
	// The records come last: without them the target still counts as empty, and the restore can be
	// tried again.
	if done.Files, err = putFiles(ctx, z, uploads); err != nil {
		return done, err
	}
	if done.Plugins, err = t.putPlugins(z); err != nil {
		return done, err
	}
	if err := load(ctx, z, s); err != nil {
		return done, err
	}
	if err := store.CheckIntegrity(ctx, s); err != nil {
		return done, err
	}
	done.FailedRuns, err = endRuns(ctx, s)
	return done, err
}

// makeRoom sees to it that the target is empty, and holds the archive's key.
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
		key = old // the operator has brought it
	}
	if err := store.KeyOpens(key, c.records); err != nil {
		return fmt.Errorf("%w: %w", ErrKey, err)
	}
	if same := bytes.Equal(bytes.TrimSpace(old), bytes.TrimSpace(key)); old != nil && !same && !t.Replace {
		return fmt.Errorf("%w: %s holds another key; --replace puts the backup's in its place", ErrNotEmpty, t.keyFile())
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

// writeKey writes a key for the host's user alone, whatever the mode of a file that is there.
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

// used says whether the target holds records, and that no host uses its directory.
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
	return store.Used(ctx, t.Store)
}

// setAside moves what is in a data directory into a folder inside it. The directory itself may be a
// mount, which cannot be moved.
func setAside(dir, keyFile string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	old := filepath.Join(dir, asidePrefix+time.Now().UTC().Format("20060102-150405"))
	if err := os.Mkdir(old, 0o700); err != nil {
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

// putPlugins puts the plugins into their folder. Files are created again, never written through
// what is there.
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

// each calls f with the entries of a folder that are part of a backup, named inside it.
func each(z *zip.Reader, folder string, f func(name string, r io.Reader) error) (n int, err error) {
	for _, e := range z.File {
		name, ok := strings.CutPrefix(e.Name, folder)
		if !ok || !kept(e.Name) {
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

// endRuns ends the runs that were under way, since nothing of them is known but their beginning.
func endRuns(ctx context.Context, s *store.Store) (int, error) {
	list, err := s.ActiveRuns(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range list {
		end := store.RunEnd{
			ID: r.ID, Tenant: r.Tenant, Session: r.Session, Status: store.RunFailed,
			Error: "the host was restored from a backup",
		}
		if _, err := s.EndRun(ctx, end, nil); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}
