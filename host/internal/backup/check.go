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

// largestKey bounds the entries that are read into memory, in bytes.
const largestKey = 4 << 10

// contents describes a valid archive.
type contents struct {
	head
	key     []byte // nil if the archive has no key
	records []byte // the first bytes, at most largestKey
	skipped []string
}

// check reads all entries once, which verifies the checksums, and validates their contents. Invalid
// archives are rejected here, before the target is changed.
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
			return c, corrupt("%s is there twice", f.Name)
		}
		names[f.Name] = true
		if !accepted(f.Name) {
			c.skipped = append(c.skipped, f.Name)
		}
		if err := c.take(f); err != nil {
			return c, corrupt("%s: %w", f.Name, err)
		}
	}
	switch {
	case c.Easel != "backup" || c.records == nil:
		return c, corrupt("it lacks %s or %s", headEntry, recordsEntry)
	case c.Format > format:
		return c, corrupt("it has format %d, and this program knows %d; use a newer one", c.Format, format)
	}
	return c, checkParts(ctx, z)
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrArchive, fmt.Errorf(format, args...))
}

// checkEntry rejects names that leave the target directory on any system, and everything but
// regular files.
func checkEntry(f *zip.File) error {
	if !fs.ValidPath(f.Name) || strings.ContainsAny(f.Name, `\:`) || strings.ContainsRune(f.Name, 0) {
		return corrupt("it has an entry %.80q", f.Name)
	}
	if !f.Mode().IsRegular() {
		return corrupt("%.80s is not a regular file but %s", f.Name, f.Mode().Type())
	}
	return nil
}

// accepted reports whether an entry is restored. All others are skipped, in particular compiled
// plugins: they are machine code that would run unverified.
func accepted(name string) bool {
	if name == headEntry || name == keyEntry || name == recordsEntry {
		return true
	}
	if file, ok := strings.CutPrefix(name, filesFolder); ok {
		return path.Dir(file) != "."
	}
	file, ok := strings.CutPrefix(name, pluginFolder)
	return ok && plugin.Copied(file)
}

// take reads an entry to its end and stores what restore needs.
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

// readThrough reads an entry to its end and returns its first bytes and its size.
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

// checkParts validates the records and the plugins.
func checkParts(ctx context.Context, z *zip.Reader) error {
	records, err := z.Open(recordsEntry)
	if err != nil {
		return corrupt("%s: %w", recordsEntry, err)
	}
	err = errors.Join(store.CheckDump(ctx, records), records.Close())
	if errors.Is(err, store.ErrNewer) || errors.Is(err, store.ErrOlder) {
		return err
	}
	if err != nil {
		return corrupt("%s: %w", recordsEntry, err)
	}
	plugins, err := fs.Sub(z, strings.TrimSuffix(pluginFolder, "/"))
	if err == nil {
		err = plugin.CheckCopy(plugins)
	}
	if err != nil {
		return corrupt("%s%w", pluginFolder, err)
	}
	return nil
}
