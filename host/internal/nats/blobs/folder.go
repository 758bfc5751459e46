package blobs

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/minio/minio-go/v7"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// folderPrefix is below that of the bucket. Names of files begin with their tenant.
const folderPrefix = "traces/"

// Folder is the part of a bucket for objects that are not files: a [Store] does not list them, so
// that they are in no backup.
type Folder struct{ files *s3Files }

// OpenFolder opens the folder of a bucket, which has to exist.
func OpenFolder(ctx context.Context, b Bucket) (*Folder, error) {
	files, err := openS3(ctx, b)
	if err != nil {
		return nil, err
	}
	files.prefix += folderPrefix
	return &Folder{files}, nil
}

// Put stores an object, which survives from its return on.
func (f *Folder) Put(ctx context.Context, name string, body []byte) error {
	_, err := f.files.client.PutObject(ctx, f.files.bucket, f.files.prefix+name, bytes.NewReader(body),
		int64(len(body)), minio.PutObjectOptions{ContentType: "application/octet-stream"})
	return f.files.fail(err, "store", name)
}

// Get returns an object of a size. Errors: [broker.ErrNotFound], also for a smaller one.
func (f *Folder) Get(ctx context.Context, name string, size int64) ([]byte, error) {
	r, _, err := f.files.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	body := make([]byte, size)
	_, err = io.ReadFull(r, body)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = broker.ErrNotFound
	}
	return body, f.files.fail(errors.Join(err, r.Close()), "read", name)
}

// Delete deletes an object; one that is missing is not an error.
func (f *Folder) Delete(ctx context.Context, name string) error {
	err := f.files.client.RemoveObject(ctx, f.files.bucket, f.files.prefix+name, minio.RemoveObjectOptions{})
	return f.files.fail(err, "delete", name)
}

// DeleteAll deletes the objects whose names begin with a prefix.
func (f *Folder) DeleteAll(ctx context.Context, prefix string) error {
	part := *f.files
	part.prefix += prefix
	list, err := part.List(ctx)
	for _, info := range list {
		if err == nil {
			err = f.Delete(ctx, prefix+info.Name)
		}
	}
	return err
}
