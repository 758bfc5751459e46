package runner

import (
	"context"
	"io"

	"github.com/nats-io/nats.go/jetstream"
)

// FileInfo is what is known of a stored file.
type FileInfo struct {
	Name   string
	Size   uint64 // bytes
	Digest string // "SHA-256=" and base64
}

// PutFile stores what r gives under a name such as "tenant/file", over what
// was there. A reader that fails leaves the old file in place.
//
// Errors: [ErrFull], r's.
func (l *Log) PutFile(ctx context.Context, name string, r io.Reader) (FileInfo, error) {
	info, err := l.files.Put(ctx, jetstream.ObjectMeta{Name: name}, &roomyReader{l, r})
	if err != nil {
		return FileInfo{}, fail(err, "put file %q", name)
	}
	return fileInfo(info), nil
}

// roomyReader ends the file when the disk has no room for more of it.
type roomyReader struct {
	log *Log
	r   io.Reader
}

func (r *roomyReader) Read(p []byte) (int, error) {
	if err := r.log.room(len(p)); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// OpenFile reads a file; the caller closes it. A damaged file fails with the
// last read. Errors: [ErrNotFound].
func (l *Log) OpenFile(ctx context.Context, name string) (io.ReadCloser, FileInfo, error) {
	result, err := l.files.Get(ctx, name)
	if err != nil {
		return nil, FileInfo{}, fail(err, "open file %q", name)
	}
	info, err := result.Info()
	if err != nil {
		return nil, FileInfo{}, fail(err, "open file %q", name)
	}
	return result, fileInfo(info), nil
}

// FileInfo reads what is known of a file. Errors: [ErrNotFound].
func (l *Log) FileInfo(ctx context.Context, name string) (FileInfo, error) {
	info, err := l.files.GetInfo(ctx, name)
	if err != nil {
		return FileInfo{}, fail(err, "file %q", name)
	}
	return fileInfo(info), nil
}

// DeleteFile removes a file. Errors: [ErrNotFound].
func (l *Log) DeleteFile(ctx context.Context, name string) error {
	return fail(l.files.Delete(ctx, name), "delete file %q", name)
}

func fileInfo(info *jetstream.ObjectInfo) FileInfo {
	return FileInfo{Name: info.Name, Size: info.Size, Digest: info.Digest}
}
