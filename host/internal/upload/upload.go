// Package upload stores uploaded files: their content in the object store of the run log, their
// descriptors in the record store.
//
// A file belongs to a tenant, and of its visitors to the conversation in which it was uploaded or
// written, see [Party]. A canvas refers to it by the descriptor that [Box.Put] returned, of which
// only the id is used: size, type and owner are read from the store. Names are never used as paths.
package upload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/block"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/upload/files"
)

var (
	// ErrNotFound means that the tenant has no such file, or none that the party may read; upload
	// it first.
	ErrNotFound = document.ErrMissing
	// ErrTooLarge means that the file exceeds the size limit.
	ErrTooLarge = errors.New("file is too large")
)

const kind = "file"

// Box stores files. Store and Files are required.
type Box struct {
	Store *store.Store
	Files *blobs.Store
	Most  int64 // bytes of a file; 0 means 256 MiB
	// Documents reads formats other than plain text; nil creates a reader for each file, which is
	// slow for PDF.
	Documents *document.Reader
}

// Put stores a file and returns its descriptor: {id, name, size, extension, mime_type, created_by,
// created_at, preview_url}.
//
// Errors: [ErrTooLarge], those of r.
func (b *Box) Put(ctx context.Context, p Party, name string, r io.Reader) (engine.Value, error) {
	return b.put(ctx, p, store.NewID(), cleanName(name), r)
}

func (b *Box) put(ctx context.Context, p Party, id, name string, r io.Reader) (engine.Value, error) {
	maxBytes := b.Most
	if maxBytes == 0 {
		maxBytes = 256 << 20
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return engine.Null, fmt.Errorf("file %q: %w", name, err)
	}
	limited := &limit{r: io.MultiReader(bytes.NewReader(head[:n]), r), remaining: maxBytes}
	info, err := b.Files.Put(ctx, objectName(p.Tenant, id), limited)
	if err != nil {
		return engine.Null, fmt.Errorf("file %q: %w", name, err)
	}
	v := engine.Object("id", id, "name", name, "size", int64(info.Size),
		"extension", strings.TrimPrefix(strings.ToLower(path.Ext(name)), "."), "mime_type",
		files.MimeOf(name, head[:n]),
		"created_by", p.Tenant, "created_at", float64(time.Now().UnixMilli())/1000, "preview_url", engine.Null)
	f := found{
		item:       store.Item{Tenant: p.Tenant, Kind: kind, ID: id, Name: name},
		descriptor: v, origin: origin{p.By, p.Canvas, p.Session, p.Visitor},
	}
	if err := b.keep(ctx, &f); err != nil {
		return engine.Null, errors.Join(fmt.Errorf("file %q: %w", name, err),
			b.Files.Delete(ctx, objectName(p.Tenant, id)))
	}
	return v, nil
}

// Open opens a file that a party may read; the caller closes it. Errors: [ErrNotFound].
func (b *Box) Open(ctx context.Context, p Party, id string) (io.ReadCloser, engine.Value, error) {
	f, err := b.item(ctx, p, id)
	if err != nil {
		return nil, engine.Null, err
	}
	r, err := b.open(ctx, f.item)
	return r, f.public(), err
}

func (b *Box) open(ctx context.Context, item store.Item) (io.ReadCloser, error) {
	r, _, err := b.Files.Open(ctx, objectName(item.Tenant, item.ID))
	if errors.Is(err, broker.ErrNotFound) {
		err = missing(item.ID)
	}
	return r, err
}

// Of returns the files port of the engine for one party.
func (b *Box) Of(p Party) engine.Files { return reader{b, p} }

// ParserOf returns the parser port of the engine for one party.
func (b *Box) ParserOf(p Party) engine.Parser { return reader{b, p} }

type reader struct {
	box   *Box
	party Party
}

func (r reader) Read(ctx context.Context, file engine.Value) (text string, err error) {
	err = r.document(ctx, file, true, func(documents *document.Reader, s document.Source) error {
		text, err = files.Text(ctx, documents, s)
		return err
	})
	return text, err
}

// Parse returns the blocks of a file, see [document.Reader.Blocks].
func (r reader) Parse(ctx context.Context, file engine.Value, _ engine.ParseOptions) (list []block.Block, err error) {
	err = r.document(ctx, file, false, func(documents *document.Reader, s document.Source) error {
		list, err = documents.Blocks(ctx, s)
		return err
	})
	return list, err
}

// document calls read with a file. If remembers is set, a file that cannot be read is not read
// again; blocks are, because OCR may read it.
func (r reader) document(
	ctx context.Context, file engine.Value, remembers bool, read func(*document.Reader, document.Source) error,
) error {
	f, err := r.box.item(ctx, r.party, file.Get("id").Text())
	if err != nil {
		return err
	}
	v := f.descriptor
	if err := failedBefore(v); err != nil && remembers {
		return err
	}
	size, _ := v.Get("size").Int() // written by the host, so always a number
	if size > files.Largest {
		return fmt.Errorf("%w: %d bytes can be read", ErrTooLarge, files.Largest)
	}
	documents := r.box.Documents
	if documents == nil {
		documents = new(document.Reader)
		defer documents.Close()
	}
	err = read(documents, document.Source{
		Name: v.Get("name").Text(), MimeType: v.Get("mime_type").Text(), Size: size,
		Open: func(ctx context.Context) (io.ReadCloser, error) { return r.box.open(ctx, f.item) },
	})
	if failure, ok := document.FailureOf(err); ok && remembers {
		err = errors.Join(err, r.box.remember(ctx, f, failure))
	}
	return err
}

// unreadable is the key of a descriptor under which the error of an unreadable file is stored, see
// [document.Failure].
const unreadable = "unreadable"

// failedBefore returns the error of a file that could not be read earlier: its content never
// changes.
func failedBefore(v engine.Value) error {
	stored := v.Get(unreadable)
	if stored.IsNull() {
		return nil
	}
	var f document.Failure
	if err := json.Unmarshal(stored.AppendJSON(nil), &f); err != nil {
		return nil // written by another version: read the file again
	}
	return f.Err()
}

// remember stores the error of an unreadable file, so that later runs do not parse it again.
func (b *Box) remember(ctx context.Context, f found, failure document.Failure) error {
	text, err := json.Marshal(failure)
	if err != nil {
		return err
	}
	reason, err := engine.ParseJSON(text)
	if err != nil {
		return err
	}
	f.descriptor = f.descriptor.With(unreadable, reason)
	if err = b.keep(ctx, &f); errors.Is(err, store.ErrConflict) {
		return nil // another run stored the same failure
	}
	return err
}

// objectName returns the object key of a file. IDs are generated by the host, so no part of the key
// is user input.
func objectName(tenant, id string) string { return tenant + "/" + id }

// cleanName returns the last element of a path without characters that are special in file systems
// or headers.
func cleanName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '"' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if name == "" || name == "." || name == "/" || name == ".." {
		return "file"
	}
	if runes := []rune(name); len(runes) > 200 {
		name = string(runes[len(runes)-200:])
	}
	return name
}

// limit is a reader that fails after remaining bytes.
type limit struct {
	r         io.Reader
	remaining int64
}

func (l *limit) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.remaining -= int64(n); l.remaining < 0 {
		return n, ErrTooLarge
	}
	return n, err
}
