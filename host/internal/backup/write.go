package backup

import (
	"archive/zip"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/store"
)

// format is the version of the archive format.
const format = 1

// head is the content of easel.json.
type head struct {
	Easel   string    `json:"easel"`
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
	Version string    `json:"version,omitempty"`
}

// Names of entries.
const (
	headEntry    = "easel.json"
	keyEntry     = "secret.key"
	recordsEntry = "records.jsonl"
	filesFolder  = "files/"
	pluginFolder = "plugins/"
)

// Source is the state to archive. Store and Files are required.
type Source struct {
	Store   *store.Store
	Files   *blobs.Store // uploads
	KeyFile string       // "" omits the key
	Plugins string       // folder of installed plugins; omitted if "" or missing
	Version string
}

// Write writes an archive.
func Write(ctx context.Context, w io.Writer, s Source) error {
	theHeap.begin()
	defer theHeap.end()
	a := &archive{zip.NewWriter(w)}
	for _, part := range []func(context.Context, *archive) error{s.head, s.key, s.records, s.files, s.plugins} {
		if err := part(ctx, a); err != nil {
			return fmt.Errorf("backup: %w", err)
		}
	}
	if err := a.zip.Close(); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

func (s Source) head(_ context.Context, a *archive) error {
	text, err := json.Marshal(head{"backup", format, time.Now().UTC().Truncate(time.Second), s.Version})
	if err != nil {
		return err
	}
	return a.put(headEntry, strings.NewReader(string(text)+"\n"))
}

func (s Source) key(_ context.Context, a *archive) error {
	if s.KeyFile == "" {
		return nil
	}
	f, err := os.Open(s.KeyFile)
	if err != nil {
		return err
	}
	defer f.Close()
	return a.put(keyEntry, f)
}

func (s Source) records(ctx context.Context, a *archive) error {
	w, err := a.entry(recordsEntry)
	if err != nil {
		return err
	}
	return s.Store.Dump(ctx, w)
}

func (s Source) files(ctx context.Context, a *archive) error {
	list, err := s.Files.List(ctx)
	if err != nil {
		return err
	}
	for _, f := range list {
		if !fs.ValidPath(f.Name) {
			continue // not an uploaded file
		}
		r, _, err := s.Files.Open(ctx, f.Name)
		if errors.Is(err, broker.ErrNotFound) {
			continue // deleted concurrently
		}
		if err != nil {
			return err
		}
		if err := errors.Join(a.put(filesFolder+f.Name, r), r.Close()); err != nil {
			return fmt.Errorf("file %s: %w", f.Name, err)
		}
	}
	return nil
}

// plugins copies the plugin folder. The list is read before the modules: a plugin installed in
// between is not in it, and an update keeps the old module in addition to the new one.
func (s Source) plugins(ctx context.Context, a *archive) error {
	if s.Plugins == "" {
		return nil
	}
	root, err := os.OpenRoot(s.Plugins)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int {
		return cmp.Compare(path.Ext(a.Name()), path.Ext(b.Name())) // .json, .wasm
	})
	for _, e := range entries {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !e.Type().IsRegular() || !plugin.Copied(e.Name()) {
			continue
		}
		f, err := root.Open(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed concurrently
		}
		if err != nil {
			return err
		}
		if err := errors.Join(a.put(pluginFolder+e.Name(), f), f.Close()); err != nil {
			return fmt.Errorf("plugin file %s: %w", e.Name(), err)
		}
	}
	return nil
}

// archive is an archive that is written.
type archive struct{ zip *zip.Writer }

// entry begins an entry.
func (a *archive) entry(name string) (io.Writer, error) {
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	return counting{w}, err
}

func (a *archive) put(name string, r io.Reader) error {
	w, err := a.entry(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}
