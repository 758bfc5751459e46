package app

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/chunking"
	"github.com/easel-canvas/easel/host/internal/knowledge/ingest"
	"github.com/easel-canvas/easel/host/internal/nats/blobs"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Upload is a file for a dataset.
type Upload struct {
	Name   string
	Size   int64 // as announced; negative when unknown
	Body   io.Reader
	Source string // "" means local
	// Sole refuses a file that the dataset has already, with CodeExists.
	Sole bool
	// Readable refuses a file in a format that is not read.
	Readable bool
}

// sniff refuses a file by its beginning, which stays in the body.
func (u *Upload) sniff() error {
	if !u.Readable || u.Body == nil {
		return nil
	}
	body := bufio.NewReaderSize(u.Body, document.SniffBytes)
	u.Body = body
	head, err := body.Peek(document.SniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if err := document.Sniff(u.Name, head); err != nil {
		return &Error{CodeBadArgument, err.Error(), "file"}
	}
	return nil
}

// longestFileName bounds the name of a document, in bytes.
const longestFileName = 255

// uploadTime is the age at which an interrupted upload is removed.
const uploadTime = 24 * time.Hour

// Upload adds a document to a dataset. A name that is taken becomes "name(1).ext". Errors:
// [ErrNotFound], [ErrFileTooLarge], [ErrQuota], those of [Error] and of the body.
func (d *Datasets) Upload(ctx context.Context, p Principal, id string, u Upload) (dataset.Document, error) {
	ds, err := d.get(ctx, p, id)
	if err != nil {
		return dataset.Document{}, err
	}
	if err := checkUpload(ctx, d, p, &u, 0); err != nil {
		return dataset.Document{}, err
	}
	if err := u.sniff(); err != nil {
		return dataset.Document{}, err
	}
	v := store.Document{Tenant: p.Tenant, Document: dataset.Document{
		Dataset: id, Name: u.Name, Kind: kindOf(u.Name), Source: u.Source, Method: methodOf(u.Name, ds.Method),
		Config: ds.Config, Pipeline: ds.Pipeline, PipelineBy: ds.PipelineBy, CreatedBy: p.User, State: dataset.Unparsed,
	}, Sole: u.Sole}
	if v.Source == "" {
		v.Source = "local"
	}
	v.ID = store.NewDocumentID()
	v.File = ingest.File(p.Tenant, id, v.ID)
	info, err := d.putOriginal(ctx, &v, u.Body)
	if err != nil {
		return dataset.Document{}, fmt.Errorf("document %q: %w", u.Name, err)
	}
	v.Size = int64(info.Size)
	if v.Hash, err = hexDigest(info.Digest); err != nil {
		return dataset.Document{}, errors.Join(err, d.dropFile(ctx, v.File))
	}
	v, err = d.store.Documents.Create(ctx, v, d.limits.Bytes)
	var same *store.Copy
	if errors.As(err, &same) {
		if _, hidden := d.document(ctx, p, id, same.ID); hidden != nil {
			same.Name = "another document"
		}
		err = &Error{CodeExists, same.Error(), "file"}
	}
	if err != nil {
		return dataset.Document{}, errors.Join(err, d.dropFile(ctx, v.File))
	}
	return v.Document, nil
}

// checkUpload refuses a file by what is announced of it; freed is the size of the file that it
// replaces.
func checkUpload(ctx context.Context, d *Datasets, p Principal, u *Upload, freed int64) error {
	if u.Name == "" || len(u.Name) > longestFileName {
		return &Error{CodeBadArgument, fmt.Sprintf("File name must be %d bytes or less.",
			longestFileName), "name"}
	}
	if most := d.limits.File; most > 0 && u.Size > most {
		return fmt.Errorf("document %q: %w: %d bytes, at most %d", u.Name, ErrFileTooLarge,
			u.Size, most)
	}
	if most := d.limits.Bytes; most > 0 {
		use, err := d.store.Datasets.Use(ctx, p.Tenant)
		if err != nil {
			return err
		}
		if use.Bytes-freed+max(0, u.Size) > most {
			return fmt.Errorf("document %q: %w: documents have %d of %d bytes", u.Name, ErrQuota,
				use.Bytes, most)
		}
	}
	return nil
}

// hexDigest is a digest of the object store as hexadecimal digits.
func hexDigest(digest string) (string, error) {
	sum, err := base64.URLEncoding.DecodeString(strings.TrimPrefix(digest, "SHA-256="))
	if err != nil {
		return "", fmt.Errorf("digest %q: %w", digest, err)
	}
	return hex.EncodeToString(sum), nil
}

// putOriginal stores the bytes of a document, noted as a file without a record.
func (d *Datasets) putOriginal(ctx context.Context, v *store.Document, body io.Reader) (blobs.Info, error) {
	loose := store.LooseFile{Name: v.File, Tenant: v.Tenant}
	if err := d.store.LooseFiles.Add(ctx, loose, time.Now().Add(uploadTime).UnixMilli()); err != nil {
		return blobs.Info{}, err
	}
	if body == nil {
		body = strings.NewReader("")
	}
	if d.limits.File > 0 {
		body = &bounded{r: body, left: d.limits.File}
	}
	info, err := d.files.Put(ctx, v.File, body)
	if err != nil {
		return info, errors.Join(err, d.dropFile(ctx, v.File))
	}
	return info, nil
}

// dropFile removes a file that got no record.
func (d *Datasets) dropFile(ctx context.Context, name string) error {
	ctx = context.WithoutCancel(ctx)
	if err := d.files.Delete(ctx, name); err != nil && !errors.Is(err, broker.ErrNotFound) {
		return nil // it is noted, and removed later
	}
	return d.store.LooseFiles.Forget(ctx, name)
}

// bounded fails with ErrFileTooLarge after a number of bytes.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrFileTooLarge
	}
	return n, err
}

var (
	visual = []string{
		"png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "svg", "ico", "apng", "avif", "heic",
		"mp4", "avi", "mkv", "mov",
	}
	aural = []string{
		"wav", "flac", "ape", "alac", "mp3", "aac", "ogg", "wma", "aiff", "au", "midi", "realaudio",
		"vqf", "oggvorbis",
	}
)

func suffixOf(name string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) }

// kindOf is the kind of a document by its name.
func kindOf(name string) string {
	switch suffix := suffixOf(name); {
	case suffix == "pdf":
		return "pdf"
	case slices.Contains(visual, suffix):
		return "visual"
	case slices.Contains(aural, suffix):
		return "aural"
	}
	return "doc"
}

// methodOf is the method for a document of a dataset: pictures, sound, slides and mails have their
// own ones among those of the original.
func methodOf(name, method string) string {
	if method == "" || slices.Contains([]string{chunking.Structure, "one"}, method) {
		return method
	}
	switch suffix := suffixOf(name); {
	case kindOf(name) == "visual":
		return "picture"
	case kindOf(name) == "aural":
		return "audio"
	case slices.Contains([]string{"ppt", "pptx", "pages"}, suffix):
		return "presentation"
	case slices.Contains([]string{"eml", "msg"}, suffix):
		return "email"
	}
	return method
}
