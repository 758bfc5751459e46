package traces

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Place is where the bytes of a block are.
type Place struct {
	Tenant string
	Day    string // such as 2026-11-28
	Name   string // within the day
	At     int64  // offset within Name
	Size   int64
}

// ErrNoBytes means that the bytes of a block are missing.
var ErrNoBytes = errors.New("bytes of a trace are missing")

// Bytes stores blocks. Implementations are safe for concurrent use.
type Bytes interface {
	// Append stores a block, which survives a power loss from its return on.
	Append(ctx context.Context, tenant, day string, block []byte) (Place, error)
	// Read returns a block. Errors: [ErrNoBytes].
	Read(ctx context.Context, p Place) ([]byte, error)
	// Delete deletes a block for good; one that is missing is not an error.
	Delete(ctx context.Context, p Place) error
	// DeleteDay deletes all blocks of a day of a tenant, or with an empty day those of all days.
	DeleteDay(ctx context.Context, tenant, day string) error
}

// fileSize is the size from which a file gets no more blocks.
const fileSize = 64 << 20

// Directory stores blocks in files TENANT/DAY/HOST-N.blk of a directory.
type Directory struct {
	root string
	host string

	mu    sync.Mutex
	files map[string]*dayFile // by folder
}

// dayFile is the file to which a host appends the blocks of a day.
type dayFile struct {
	number int
	size   int64
}

// NewDirectory returns a store in a directory, which is created at the first use. Two of them,
// also in two processes, write no common file.
func NewDirectory(root string) *Directory {
	return &Directory{root: root, host: rand.Text()[:12], files: map[string]*dayFile{}}
}

func (d *Directory) folder(tenant, day string) string {
	return filepath.Join(d.root, broker.Token(tenant), broker.Token(day))
}

// Append implements [Bytes].
func (d *Directory) Append(_ context.Context, tenant, day string, block []byte) (Place, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	folder := d.folder(tenant, day)
	file := d.files[folder]
	if file == nil {
		file = &dayFile{}
		d.files[folder] = file
	}
	if file.size >= fileSize {
		file.number, file.size = file.number+1, 0
	}
	p := Place{tenant, day, fmt.Sprintf("%s-%d.blk", d.host, file.number), file.size, int64(len(block))}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return p, err
	}
	f, err := os.OpenFile(filepath.Join(folder, p.Name), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return p, err
	}
	_, err = f.WriteAt(block, p.At)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		file.size += p.Size
	}
	if err == nil && p.At == 0 {
		err = errors.Join(syncFolder(folder), syncFolder(filepath.Dir(folder)), syncFolder(d.root))
	}
	return p, err
}

// syncFolder makes new names of a folder durable.
func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d *Directory) file(p Place) (string, error) {
	if filepath.Base(p.Name) != p.Name || !filepath.IsLocal(p.Name) {
		return "", fmt.Errorf("place %q: %w", p.Name, ErrNoBytes)
	}
	return filepath.Join(d.folder(p.Tenant, p.Day), p.Name), nil
}

// Read implements [Bytes].
func (d *Directory) Read(_ context.Context, p Place) ([]byte, error) {
	name, err := d.file(p)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", p.Name, ErrNoBytes)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := make([]byte, p.Size)
	if _, err := f.ReadAt(out, p.At); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s is shorter than the block at %d: %w", p.Name, p.At, ErrNoBytes)
	} else if err != nil {
		return nil, err
	}
	return out, nil
}

// Delete implements [Bytes]: it erases the block within its file, which has others.
func (d *Directory) Delete(_ context.Context, p Place) error {
	name, err := d.file(p)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(disk.Erase(f, p.At, p.Size), f.Sync(), f.Close())
}

// DeleteDay implements [Bytes].
func (d *Directory) DeleteDay(_ context.Context, tenant, day string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	folder := filepath.Join(d.root, broker.Token(tenant))
	if day != "" {
		folder = d.folder(tenant, day)
	}
	maps.DeleteFunc(d.files, func(of string, _ *dayFile) bool {
		return of == folder || filepath.Dir(of) == folder
	})
	return os.RemoveAll(folder)
}

// Bucket stores blocks in a bucket of an S3-compatible service, as TENANT/DAY/ID.blk below traces/.
type Bucket struct{ Folder *blobs.Folder }

func objectName(p Place) string {
	return broker.Token(p.Tenant) + "/" + broker.Token(p.Day) + "/" + broker.Token(p.Name) + ".blk"
}

// Append implements [Bytes].
func (b Bucket) Append(ctx context.Context, tenant, day string, block []byte) (Place, error) {
	p := Place{Tenant: tenant, Day: day, Name: store.NewID(), Size: int64(len(block))}
	return p, b.Folder.Put(ctx, objectName(p), block)
}

// Read implements [Bytes].
func (b Bucket) Read(ctx context.Context, p Place) ([]byte, error) {
	body, err := b.Folder.Get(ctx, objectName(p), p.Size)
	if errors.Is(err, broker.ErrNotFound) {
		err = fmt.Errorf("%w: %w", ErrNoBytes, err)
	}
	return body, err
}

// Delete implements [Bytes].
func (b Bucket) Delete(ctx context.Context, p Place) error {
	return b.Folder.Delete(ctx, objectName(p))
}

// DeleteDay implements [Bytes].
func (b Bucket) DeleteDay(ctx context.Context, tenant, day string) error {
	prefix := broker.Token(tenant) + "/"
	if day != "" {
		prefix += broker.Token(day) + "/"
	}
	return b.Folder.DeleteAll(ctx, prefix)
}

// Moved stores blocks in a place, and has those that were stored in an earlier one.
type Moved struct {
	Bytes
	Earlier Bytes
}

// Read implements [Bytes].
func (m Moved) Read(ctx context.Context, p Place) ([]byte, error) {
	body, err := m.Bytes.Read(ctx, p)
	if !errors.Is(err, ErrNoBytes) {
		return body, err
	}
	return m.Earlier.Read(ctx, p)
}

// Delete implements [Bytes].
func (m Moved) Delete(ctx context.Context, p Place) error {
	return errors.Join(m.Bytes.Delete(ctx, p), m.Earlier.Delete(ctx, p))
}

// DeleteDay implements [Bytes].
func (m Moved) DeleteDay(ctx context.Context, tenant, day string) error {
	return errors.Join(m.Bytes.DeleteDay(ctx, tenant, day), m.Earlier.DeleteDay(ctx, tenant, day))
}

// Table stores blocks in the database of the records, for hosts that share no directory.
type Table struct{ Store *store.Store }

// Append implements [Bytes].
func (t Table) Append(ctx context.Context, tenant, day string, block []byte) (Place, error) {
	p := Place{Tenant: tenant, Day: day, Name: store.NewID(), Size: int64(len(block))}
	return p, t.Store.Traces.AppendBytes(ctx, tenant, day, p.Name, block)
}

// Read implements [Bytes].
func (t Table) Read(ctx context.Context, p Place) ([]byte, error) {
	body, err := t.Store.Traces.Bytes(ctx, p.Tenant, p.Day, p.Name)
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: %w", ErrNoBytes, err)
	}
	return body, err
}

// Delete implements [Bytes].
func (t Table) Delete(ctx context.Context, p Place) error {
	return t.Store.Traces.DeleteBytes(ctx, p.Tenant, p.Day, p.Name)
}

// DeleteDay implements [Bytes].
func (t Table) DeleteDay(ctx context.Context, tenant, day string) error {
	return t.Store.Traces.DeleteBytes(ctx, tenant, day, "")
}
