package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// Bucket is the location of files in an S3-compatible service.
type Bucket struct {
	// URL is s3://BUCKET[/PREFIX]?endpoint=https://HOST[&region=REGION]; "" is none.
	URL string
	// Key and Secret are the credentials; without them those of the AWS credentials file or of the
	// machine's role are used.
	Key, Secret string
}

// ErrBucket means that the address of a bucket is not one.
var ErrBucket = errors.New("address of a bucket is not s3://BUCKET/PREFIX?endpoint=https://HOST")

// parse takes the address apart.
func (b Bucket) parse() (endpoint *url.URL, bucket, prefix, region string, err error) {
	u, err := url.Parse(b.URL)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, "", "", "", ErrBucket
	}
	for name := range u.Query() {
		if name != "endpoint" && name != "region" {
			return nil, "", "", "", fmt.Errorf("%w: unknown parameter %q (one of endpoint, region)", ErrBucket, name)
		}
	}
	endpoint, err = url.Parse(u.Query().Get("endpoint"))
	if err != nil || endpoint.Scheme != "http" && endpoint.Scheme != "https" || endpoint.Host == "" ||
		strings.Trim(endpoint.Path, "/") != "" {
		return nil, "", "", "", fmt.Errorf("%w: the endpoint is not a URL", ErrBucket)
	}
	if prefix = strings.Trim(u.Path, "/"); prefix != "" {
		prefix += "/"
	}
	return endpoint, u.Host, prefix, u.Query().Get("region"), nil
}

// Check reports an address that cannot be used.
func (b Bucket) Check() error {
	if b.URL == "" {
		return nil
	}
	_, _, _, _, err := b.parse()
	return err
}

// s3Files are files in a bucket.
type s3Files struct {
	client         *minio.Client
	bucket, prefix string
}

// openS3 checks that the bucket exists.
func openS3(ctx context.Context, b Bucket) (*s3Files, error) {
	endpoint, bucket, prefix, region, err := b.parse()
	if err != nil {
		return nil, err
	}
	keys := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second}},
	})
	if b.Key != "" {
		keys = credentials.NewStaticV4(b.Key, b.Secret, "")
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds: keys, Secure: endpoint.Scheme == "https", Region: region,
	})
	if err != nil {
		return nil, fmt.Errorf("bucket %q: %w", bucket, err)
	}
	there, err := client.BucketExists(ctx, bucket)
	if err != nil {
		return nil, fmt.Errorf("bucket %q: %w", bucket, err)
	}
	if !there {
		return nil, fmt.Errorf("bucket %q does not exist; create it first", bucket)
	}
	return &s3Files{client, bucket, prefix}, nil
}

// fail adds the failed operation, and the sentinel errors for callers.
func (s *s3Files) fail(err error, what, name string) error {
	if err == nil {
		return nil
	}
	switch response := minio.ToErrorResponse(err); {
	case response.Code == minio.NoSuchKey || response.StatusCode == http.StatusNotFound:
		err = broker.ErrNotFound
	case response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests:
		err = fmt.Errorf("%w: %w", broker.ErrUnavailable, err)
	case response.StatusCode == http.StatusInsufficientStorage:
		err = fmt.Errorf("%w: %w", broker.ErrFull, err)
	}
	return fmt.Errorf("%s file %q in bucket %q: %w", what, name, s.bucket, err)
}

// partSize is the number of bytes of a file that are buffered while it is stored. A file has at
// most 10,000 parts.
const partSize = 16 << 20

// Put implements backend.
func (s *s3Files) Put(ctx context.Context, name string, r io.Reader) (Info, error) {
	hash := sha256.New()
	source := &source{r: io.TeeReader(r, hash)}
	info, err := s.client.PutObject(ctx, s.bucket, s.prefix+name, source, -1, minio.PutObjectOptions{
		ContentType: "application/octet-stream", PartSize: partSize,
	})
	if source.err != nil {
		return Info{}, fmt.Errorf("store file %q: %w", name, source.err)
	}
	if err != nil {
		return Info{}, s.fail(err, "store", name)
	}
	digest := "SHA-256=" + base64.URLEncoding.EncodeToString(hash.Sum(nil))
	return Info{Name: name, Size: uint64(info.Size), Digest: digest}, nil
}

// source keeps the error of a reader, which the client would wrap or treat as the end.
type source struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
		err = errSource // io.ErrUnexpectedEOF would be the end of the file
	}
	return n, err
}

var errSource = errors.New("reader failed")

// Open implements backend.
func (s *s3Files) Open(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	object, err := s.client.GetObject(ctx, s.bucket, s.prefix+name, minio.GetObjectOptions{})
	if err != nil {
		return nil, Info{}, s.fail(err, "open", name)
	}
	info, err := object.Stat()
	if err != nil {
		_ = object.Close() // nothing was read
		return nil, Info{}, s.fail(err, "open", name)
	}
	return object, Info{Name: name, Size: uint64(info.Size)}, nil
}

// Stat implements backend.
func (s *s3Files) Stat(ctx context.Context, name string) (Info, error) {
	info, err := s.client.StatObject(ctx, s.bucket, s.prefix+name, minio.StatObjectOptions{})
	return Info{Name: name, Size: uint64(info.Size)}, s.fail(err, "find", name)
}

// Delete implements backend. The service does not report whether the file existed.
func (s *s3Files) Delete(ctx context.Context, name string) error {
	if _, err := s.Stat(ctx, name); err != nil {
		return err
	}
	return s.fail(s.client.RemoveObject(ctx, s.bucket, s.prefix+name, minio.RemoveObjectOptions{}), "delete", name)
}

// List implements backend.
func (s *s3Files) List(ctx context.Context) ([]Info, error) {
	var out []Info
	options := minio.ListObjectsOptions{Prefix: s.prefix, Recursive: true}
	for object := range s.client.ListObjectsIter(ctx, s.bucket, options) {
		if object.Err != nil {
			return nil, s.fail(object.Err, "list", s.prefix)
		}
		name := strings.TrimPrefix(object.Key, s.prefix)
		if strings.HasPrefix(name, folderPrefix) {
			continue
		}
		out = append(out, Info{Name: name, Size: uint64(object.Size)})
	}
	return out, nil
}
