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

	"github.com/easel-canvas/easel/host/internal/blobs"
	"github.com/easel-canvas/easel/host/internal/broker"
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
	z := zip.NewWriter(w)
	for _, part := range []func(context.Context, *zip.Writer) error{s.head, s.key, s.records, s.files, s.plugins} {
		if err := part(ctx, z); err != nil {
			return fmt.Errorf("backup: %w", err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return nil
}

func (s Source) head(_ context.Context, z *zip.Writer) error {
	text, err := json.Marshal(head{"backup", format, time.Now().UTC().Truncate(time.Second), s.Version})
	if err != nil {
		return err
	}
	return put(z, headEntry, strings.NewReader(string(text)+"\n"))
}

func (s Source) key(_ context.Context, z *zip.Writer) error {
	if s.KeyFile == "" {
		return nil
	}
	f, err := os.Open(s.KeyFile)
	if err != nil {
		return err
	}
	defer f.Close()
	return put(z, keyEntry, f)
}

func (s Source) records(ctx context.Context, z *zip.Writer) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: recordsEntry, Method: zip.Deflate})
	if err != nil {
		return err
	}
	return s.Store.Dump(ctx, w)
}

func (s Source) files(ctx context.Context, z *zip.Writer) error {
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
		if err := errors.Join(put(z, filesFolder+f.Name, r), r.Close()); err != nil {
			return fmt.Errorf("file %s: %w", f.Name, err)
		}
	}
	return nil
}

// plugins copies the plugin folder. The list is read before the modules: a plugin installed
// meanwhile is not in it, and an update keeps the old module beside the new one.
func (s Source) plugins(ctx context.Context, z *zip.Writer) error {
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
		if err := errors.Join(put(z, pluginFolder+e.Name(), f), f.Close()); err != nil {
			return fmt.Errorf("plugin file %s: %w", e.Name(), err)
		}
	}
	return nil
}

func put(z *zip.Writer, name string, r io.Reader) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}
