// Package blobs stores files, such as uploads and the originals of datasets: in an object store on
// NATS JetStream, or in a bucket of an S3-compatible service. Files are streamed both ways and are
// shared by all hosts.
package blobs

import (
	"context"
	"errors"
	"io"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// Store has the files of one installation. It is safe for concurrent use.
type Store struct {
	files backend
	// earlier has the files that were stored before a bucket was configured; nil without one.
	earlier backend
}

// Info describes a stored file.
type Info struct {
	Name   string
	Size   uint64 // bytes
	Digest string // "SHA-256=" and base64; a bucket has it from Put alone
}

// backend stores files. It returns the errors of package broker.
type backend interface {
	Put(ctx context.Context, name string, r io.Reader) (Info, error)
	Open(ctx context.Context, name string) (io.ReadCloser, Info, error)
	Stat(ctx context.Context, name string) (Info, error)
	Delete(ctx context.Context, name string) error
	List(ctx context.Context) ([]Info, error)
}

// New opens the store on NATS, and creates it at the first use.
//
// Errors: [broker.ErrUnavailable], [broker.ErrFull].
func New(ctx context.Context, conn *broker.Conn) (*Store, error) {
	return Open(ctx, conn, Bucket{})
}

// Open opens the store in a bucket; without one it is New. Files that are on NATS already are read
// from there.
func Open(ctx context.Context, conn *broker.Conn, b Bucket) (*Store, error) {
	onNATS, err := openNATS(ctx, conn)
	if err != nil || b.URL == "" {
		return &Store{files: onNATS}, err
	}
	files, err := openS3(ctx, b)
	if err != nil {
		return nil, err
	}
	return &Store{files: files, earlier: onNATS}, nil
}

// Put stores the content of r under a name such as "tenant/file", and replaces an existing file. If
// reading fails, the old file stays.
//
// Errors: [broker.ErrFull], r's.
func (s *Store) Put(ctx context.Context, name string, r io.Reader) (Info, error) {
	return s.files.Put(ctx, name, r)
}

// Open reads a file; the caller closes it. A damaged file fails with the last read. Errors:
// [broker.ErrNotFound].
func (s *Store) Open(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	r, info, err := s.files.Open(ctx, name)
	if s.earlier != nil && errors.Is(err, broker.ErrNotFound) {
		return s.earlier.Open(ctx, name)
	}
	return r, info, err
}

// Stat describes a file. Errors: [broker.ErrNotFound].
func (s *Store) Stat(ctx context.Context, name string) (Info, error) {
	info, err := s.files.Stat(ctx, name)
	if s.earlier != nil && errors.Is(err, broker.ErrNotFound) {
		return s.earlier.Stat(ctx, name)
	}
	return info, err
}

// Delete removes a file. Errors: [broker.ErrNotFound].
func (s *Store) Delete(ctx context.Context, name string) error {
	err := s.files.Delete(ctx, name)
	if s.earlier == nil || err != nil && !errors.Is(err, broker.ErrNotFound) {
		return err
	}
	earlier := s.earlier.Delete(ctx, name)
	if errors.Is(earlier, broker.ErrNotFound) {
		return err
	}
	return earlier
}

// List lists all stored files, in no order.
func (s *Store) List(ctx context.Context) ([]Info, error) {
	out, err := s.files.List(ctx)
	if err != nil || s.earlier == nil {
		return out, err
	}
	known := map[string]bool{}
	for _, info := range out {
		known[info.Name] = true
	}
	earlier, err := s.earlier.List(ctx)
	for _, info := range earlier {
		if !known[info.Name] {
			out = append(out, info)
		}
	}
	return out, err
}
