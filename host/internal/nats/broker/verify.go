package broker

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/minio/highwayhash"
)

// Damage is a position in a file of messages of the embedded server at which they differ from the
// written ones. The server leaves out the damaged message, or after an unclean stop all that follow
// it in the file, without an error.
type Damage struct {
	Stream string
	File   string
	Offset int64 // of the damaged message
	Bytes  int64 // from there to the end of the file
}

// verifyFirst is the number of bytes that are verified before the server starts, newest first,
// since it truncates damaged files after an unclean stop. The others are verified while it runs.
const verifyFirst = 512 << 20

// verifier compares the messages of the embedded server with their checksums.
type verifier struct {
	log *slog.Logger

	mu     sync.Mutex
	damage []Damage
}

// Damage lists the damaged files of the embedded server that were found since the start.
func (c *Conn) Damage() []Damage {
	c.verifier.mu.Lock()
	defer c.verifier.mu.Unlock()
	return slices.Clone(c.verifier.damage)
}

// blockFile is a file of messages.
type blockFile struct {
	stream, path string
	index        int
	size         int64
	newest       bool // of its stream: the server writes to it
}

// streamFiles returns patterns of the files of streams in a data directory.
func streamFiles(dir string, parts ...string) ([]string, error) {
	parts = append([]string{storeDir(dir), "jetstream", "*", "streams", "*"}, parts...)
	return filepath.Glob(filepath.Join(parts...))
}

// blockFiles lists the files of messages of a data directory, newest first in each stream.
func blockFiles(dir string) ([]blockFile, error) {
	paths, err := streamFiles(dir, "msgs", "*.blk")
	if err != nil {
		return nil, err
	}
	var files []blockFile
	for _, path := range paths {
		index, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".blk"))
		if err != nil {
			continue // not a file of the server
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		stream := filepath.Base(filepath.Dir(filepath.Dir(path)))
		files = append(files, blockFile{stream: stream, path: path, index: index, size: info.Size()})
	}
	slices.SortFunc(files, func(a, b blockFile) int {
		return cmp.Or(cmp.Compare(a.stream, b.stream), -cmp.Compare(a.index, b.index))
	})
	for i := range files {
		files[i].newest = i == 0 || files[i-1].stream != files[i].stream
	}
	return files, nil
}

// verify reads the newest files of a data directory and returns the older ones.
func (v *verifier) verify(ctx context.Context, dir string) (later []blockFile, err error) {
	files, err := blockFiles(dir)
	if err == nil {
		err = v.verifyStreams(dir, files)
	}
	if err != nil {
		return nil, err
	}
	rest := int64(verifyFirst)
	for _, f := range files {
		if rest -= f.size; rest < 0 && !f.newest {
			later = append(later, f)
			continue
		}
		if err := v.verifyFile(ctx, f); err != nil {
			return nil, err
		}
	}
	return later, nil
}

// verifyStreams reports streams without any file of messages: each has one, also when it is empty,
// and the server creates it again silently.
func (v *verifier) verifyStreams(dir string, files []blockFile) error {
	settings, err := streamFiles(dir, "meta.inf")
	if err != nil {
		return err
	}
	for _, path := range settings {
		dir := filepath.Dir(path)
		stream := filepath.Base(dir)
		ofStream := func(f blockFile) bool { return f.stream == stream }
		if !slices.ContainsFunc(files, ofStream) {
			v.report(Damage{Stream: stream, File: filepath.Join(dir, "msgs")}, errors.New("no file of messages"))
		}
	}
	return nil
}

// report logs damage and keeps it for [Conn.Damage].
func (v *verifier) report(d Damage, err error) {
	v.log.Error("a file of the run log is damaged: messages are lost. Check the disk, and restore a backup if runs "+
		"or uploaded files are missing",
		"stream", d.Stream, "file", d.File, "offset", d.Offset, "bytes", d.Bytes, "err", err)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.damage = append(v.damage, d)
}

// verifyLater verifies files while the server runs, which may remove and rewrite them.
func (v *verifier) verifyLater(ctx context.Context, files []blockFile) {
	for _, f := range files {
		err := v.verifyFile(ctx, f)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			v.log.Warn("a file of the run log cannot be verified", "file", f.path, "err", err)
		}
	}
}

// verifyFile verifies one file and reports damage.
func (v *verifier) verifyFile(ctx context.Context, f blockFile) error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := newBlockReader(file, f)
	if err != nil {
		return err
	}
	for err == nil && ctx.Err() == nil {
		err = r.next()
	}
	var damaged *badMessageError
	switch {
	case errors.Is(err, io.EOF) || ctx.Err() != nil:
		return nil
	case !errors.As(err, &damaged):
		return fmt.Errorf("%s: %w", f.path, err)
	case damaged.torn && f.newest:
		// The remainder of an unacknowledged message after a kill or a power loss; the server
		// removes it.
		return nil
	}
	v.report(Damage{Stream: f.stream, File: f.path, Offset: r.at, Bytes: f.size - r.at}, damaged)
	return nil
}

// badMessageError is a message that differs from the written one.
type badMessageError struct {
	what string
	torn bool // the file ends within it, or holds nothing from there on
}

func (e *badMessageError) Error() string { return e.what }

// The format of messages in the files of NATS:
//
//	length uint32, whose highest bit says that there are headers; sequence uint64; time int64;
//	length of the subject uint16; subject; with headers their length uint32; headers and body;
//	the checksum of all but the two lengths, in 8 bytes
//
// Numbers are little-endian. Source: server/filestore.go of nats-server 2.15.
const (
	messageHead    = 22
	messageHash    = 8
	headersBit     = 1 << 31
	longestMessage = 32 << 20
	sequenceMarks  = 3 << 62 // of erased messages and of deletions

	// mostSkipped is the number of sequences that may be missing in the search for a message after
	// a damaged one: without a bound any bytes might be one, and their checksums would cost too
	// much.
	mostSkipped = 1 << 24
)

// blockReader reads the messages of a file.
type blockReader struct {
	r    *bufio.Reader
	hash hash.Hash64
	buf  []byte
	at   int64  // where the next message begins
	last uint64 // sequence of the last message
}

func newBlockReader(r io.Reader, f blockFile) (*blockReader, error) {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", f.stream, f.index))
	h, err := highwayhash.New64(key[:])
	if err != nil {
		return nil, err
	}
	return &blockReader{r: bufio.NewReaderSize(io.LimitReader(r, f.size), 256<<10), hash: h}, nil
}

// messageSize checks the lengths in the head of a message.
func messageSize(head []byte) (size, subject int, headers, ok bool) {
	length := binary.LittleEndian.Uint32(head)
	headers = length&headersBit != 0
	length &^= headersBit
	subject = int(binary.LittleEndian.Uint16(head[20:]))
	fixed := messageHead + subject + messageHash
	if headers {
		fixed += 4
	}
	return int(length), subject, headers, length <= longestMessage && int(length) >= fixed
}

// intact compares a message with its checksum.
func (b *blockReader) intact(message []byte, subject int, headers bool) bool {
	end := len(message) - messageHash
	body := messageHead + subject
	if headers {
		body += 4
	}
	b.hash.Reset()
	for _, part := range [][]byte{message[4:20], message[messageHead : messageHead+subject], message[body:end]} {
		_, _ = b.hash.Write(part) // a hash never fails
	}
	return binary.LittleEndian.Uint64(message[end:]) == b.hash.Sum64()
}

// next verifies a message. Errors: [io.EOF] after the last one, a badMessageError, those of the
// file.
func (b *blockReader) next() error {
	b.buf = slices.Grow(b.buf[:0], messageHead)[:messageHead]
	if n, err := io.ReadFull(b.r, b.buf); err != nil {
		if n == 0 {
			return err
		}
		return b.cut(n, err)
	}
	size, subject, headers, ok := messageSize(b.buf)
	if size == 0 && b.zeros() {
		return &badMessageError{what: "zeros", torn: true}
	}
	if !ok {
		return &badMessageError{what: fmt.Sprintf("message length %d", size)}
	}
	b.buf = slices.Grow(b.buf, size-messageHead)[:size]
	if n, err := io.ReadFull(b.r, b.buf[messageHead:]); err != nil {
		return b.cut(messageHead+n, err)
	}
	if !b.intact(b.buf, subject, headers) {
		return &badMessageError{what: "checksum does not match"}
	}
	b.at += int64(size)
	b.last = sequence(b.buf)
	return nil
}

// sequence returns the sequence number of a message, without the marks of erased messages.
func sequence(message []byte) uint64 { return binary.LittleEndian.Uint64(message[4:]) &^ sequenceMarks }

// cut returns the error of a message that exceeds the file: it was torn, or its length is damaged.
// b.buf holds its first n bytes, which are all that is left of the file.
func (b *blockReader) cut(n int, err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	rest := b.buf[:n]
	for i := range rest {
		if b.begins(rest[i:], i == 0) {
			return &badMessageError{what: "message length"}
		}
	}
	return &badMessageError{what: "message is cut off", torn: true}
}

// begins reports whether bytes begin with an intact message that follows the last one; whole means
// that the message is all of the bytes, whatever length its header has.
func (b *blockReader) begins(bytes []byte, whole bool) bool {
	if len(bytes) < messageHead+messageHash {
		return false
	}
	size, subject, headers, ok := messageSize(bytes)
	if whole {
		size, ok = len(bytes), messageHead+subject+messageHash+4 <= len(bytes)
	}
	if !ok || size > len(bytes) || sequence(bytes)-b.last-1 > mostSkipped {
		return false
	}
	return b.intact(bytes[:size], subject, headers)
}

// zeros reports whether b.buf and all bytes after it are zero, as a power loss leaves the end of a
// file that was not synced.
func (b *blockReader) zeros() bool {
	for _, c := range b.buf {
		if c != 0 {
			return false
		}
	}
	for {
		c, err := b.r.ReadByte()
		if err != nil || c != 0 {
			return errors.Is(err, io.EOF)
		}
	}
}
