package runner

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// FileInfo is what is known of a stored file.
type FileInfo struct {
	Name   string
	Size   uint64 // bytes
	Digest string // "SHA-256=" and base64
}

// chunkSize is how many bytes of a file are one message.
const chunkSize = 128 << 10

// PutFile stores what r gives under a name such as "tenant/file", and replaces what was there. A reader that fails
// leaves the old file in place.
//
// It writes what jetstream's ObjectStore.Put writes, which makes a message of every read and has 4,000 of them under way:
// small pieces of a form fail as too many, large ones are hundreds of megabytes in memory. Here the next piece is read
// when the one before is stored.
//
// Errors: [ErrFull], r's.
func (l *Log) PutFile(ctx context.Context, name string, r io.Reader) (FileInfo, error) {
	info, err := l.putFile(ctx, name, r)
	if err != nil {
		return FileInfo{}, fail(err, "put file %q", name)
	}
	return fileInfo(info), nil
}

// bucket is the object store of files.
func (l *Log) bucket() string { return l.cfg.Prefix + "_files" }

func (l *Log) putFile(ctx context.Context, name string, r io.Reader) (*jetstream.ObjectInfo, error) {
	old, err := l.files.GetInfo(ctx, name)
	if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, err
	}
	info := &jetstream.ObjectInfo{
		Bucket: l.bucket(), NUID: nuid.Next(),
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: chunkSize}},
	}
	if err := l.putChunks(ctx, info, r); err != nil {
		return nil, errors.Join(err, l.purgeChunks(context.WithoutCancel(ctx), info))
	}
	text, err := json.Marshal(info)
	if err != nil {
		return nil, err
	}
	meta := nats.NewMsg("$O." + info.Bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(name)))
	meta.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	meta.Data = text
	if _, err := l.patient.PublishMsg(ctx, meta); err != nil {
		return nil, errors.Join(err, l.purgeChunks(context.WithoutCancel(ctx), info))
	}
	if old != nil {
		// The new file is there; the pieces of the old one are only room that is lost.
		_ = l.purgeChunks(ctx, old)
	}
	return info, nil
}

// putChunks stores the pieces of a file and completes info.
func (l *Log) putChunks(ctx context.Context, info *jetstream.ObjectInfo, r io.Reader) error {
	chunk, hash := make([]byte, chunkSize), sha256.New()
	for {
		if err := l.room(chunkSize); err != nil {
			return err
		}
		n, err := readFull(r, chunk)
		if n > 0 {
			hash.Write(chunk[:n])
			m := nats.NewMsg(chunkSubject(info))
			m.Data = chunk[:n]
			if _, err := l.patient.PublishMsg(ctx, m); err != nil {
				return err
			}
			info.Size += uint64(n)
			info.Chunks++
		}
		switch {
		case errors.Is(err, io.EOF):
			info.Digest = jetstream.GetObjectDigestValue(hash)
			return nil
		case err != nil:
			return err
		}
	}
}

// readFull fills p, or reads to the end, which is io.EOF. Other than in io.ReadFull, io.ErrUnexpectedEOF is r's own.
func readFull(r io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		more, err = r.Read(p[n:])
		n += more
	}
	return n, err
}

func chunkSubject(info *jetstream.ObjectInfo) string { return "$O." + info.Bucket + ".C." + info.NUID }

// purgeChunks removes the pieces of a file.
func (l *Log) purgeChunks(ctx context.Context, info *jetstream.ObjectInfo) error {
	ctx, done := context.WithTimeout(ctx, wait)
	defer done()
	stream, err := l.patient.Stream(ctx, "OBJ_"+info.Bucket)
	if err != nil {
		return err
	}
	return stream.Purge(ctx, jetstream.WithPurgeSubject(chunkSubject(info)))
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
