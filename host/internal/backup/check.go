package backup

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/store"
)

// largestKey bounds the entries that are held in memory, in bytes.
const largestKey = 4 << 10

// contents are what is known of an archive that is whole.
type contents struct {
	head
	key     []byte // nil when it was left out
	records []byte // their beginning
	foreign []string
}

// check reads everything once, which compares the checksums, and looks at what each part holds.
// What is wrong with an archive is found here, before anything of the target is changed.
func check(ctx context.Context, z *zip.Reader) (c contents, err error) {
	names := map[string]bool{}
	for _, f := range z.File {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		if err := checkEntry(f); err != nil {
			return c, err
		}
		if names[f.Name] {
			return c, broken("%s is there twice", f.Name)
		}
		names[f.Name] = true
		if !kept(f.Name) {
			c.foreign = append(c.foreign, f.Name)
		}
		if err := c.take(f); err != nil {
			return c, broken("%s: %w", f.Name, err)
		}
	}
	switch {
	case c.Easel != "backup" || c.records == nil:
		return c, broken("it lacks %s or %s", headEntry, recordsEntry)
	case c.Format > format:
		return c, broken("it has format %d, and this program knows %d; use a newer one", c.Format, format)
	}
	return c, checkParts(ctx, z)
}

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrArchive, fmt.Errorf(format, args...))
}

// checkEntry refuses names that lead outside on any system, and everything but regular files.
func checkEntry(f *zip.File) error {
	if !fs.ValidPath(f.Name) || strings.ContainsAny(f.Name, `\:`) || strings.ContainsRune(f.Name, 0) {
		return broken("it has an entry %.80q", f.Name)
	}
	if !f.Mode().IsRegular() {
		return broken("%.80s is not a regular file but %s", f.Name, f.Mode().Type())
	}
	return nil
}

// kept reports whether an entry is part of a backup. Others are left out, compiled plugins above
// all: they are machine code that would run as it is.
func kept(name string) bool {
	if name == headEntry || name == keyEntry || name == recordsEntry {
		return true
	}
	if file, ok := strings.CutPrefix(name, filesFolder); ok {
		return path.Dir(file) != "."
	}
	file, ok := strings.CutPrefix(name, pluginFolder)
	return ok && plugin.Copied(file)
}

// take reads an entry to its end, and keeps what is needed of it.
func (c *contents) take(f *zip.File) error {
	start, size, err := readThrough(f)
	if err != nil {
		return err
	}
	switch f.Name {
	case headEntry:
		return json.Unmarshal(start, &c.head)
	case keyEntry:
		if c.key = start; size > largestKey {
			return fmt.Errorf("larger than %d bytes", largestKey)
		}
	case recordsEntry:
		c.records = start
	}
	return nil
}

// readThrough reads an entry to its end, and gives its beginning and its size.
func readThrough(f *zip.File) (start []byte, size int64, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	start, err = io.ReadAll(io.LimitReader(r, largestKey))
	if err != nil {
		return nil, 0, err
	}
	rest, err := io.Copy(io.Discard, r)
	return start, int64(len(start)) + rest, err
}

// checkParts looks at the records and the plugins.
func checkParts(ctx context.Context, z *zip.Reader) error {
	records, err := z.Open(recordsEntry)
	if err != nil {
		return broken("%s: %w", recordsEntry, err)
	}
	err = errors.Join(store.CheckDump(ctx, records), records.Close())
	if errors.Is(err, store.ErrNewer) {
		return err
	}
	if err != nil {
		return broken("%s: %w", recordsEntry, err)
	}
	plugins, err := fs.Sub(z, strings.TrimSuffix(pluginFolder, "/"))
	if err == nil {
		err = plugin.CheckCopy(plugins)
	}
	if err != nil {
		return broken("%s%w", pluginFolder, err)
	}
	return nil
}
