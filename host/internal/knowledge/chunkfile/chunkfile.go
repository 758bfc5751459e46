// Package chunkfile stores the chunks of a document as a file in the object store, with their
// vectors. Indexes are made from the file: on this host, on others, and after a restore.
//
// A file is a header line and records. A record is the length of its fields, the fields in the
// encoding of protocol buffers, the number of dimensions and as many little-endian float32; lengths
// are unsigned varints.
package chunkfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Chunk is a stored chunk.
type Chunk struct {
	ID        string
	Content   string
	Text      string // searched instead of Content, unless empty
	Keywords  []string
	Questions []string
	Tags      []string
	Image     string
	Kind      string
	Positions [][]float64
	Parent    string
	Hidden    bool // not found by searches
	Tokens    int
	Created   int64 // Unix milliseconds
	Vector    []float32
}

// ID returns the id of a chunk with a content in a document: equal pieces of one document are one
// chunk.
func ID(content, document string) string { return fmt.Sprintf("%016x", Hash(content, document)) }

// Hash is [ID] as a number.
func Hash(content, document string) uint64 {
	var d xxhash.Digest
	d.Reset()
	_, _ = d.WriteString(content)  // never fails
	_, _ = d.WriteString(document) // never fails
	return d.Sum64()
}

// Dataset returns a chunk as callers see it.
func (c *Chunk) Dataset() dataset.Chunk {
	return dataset.Chunk{
		ID: c.ID, Content: c.Content, Keywords: c.Keywords, Questions: c.Questions, Tags: c.Tags, Image: c.Image,
		Kind: c.Kind, Positions: c.Positions, Parent: c.Parent, Created: c.Created,
	}
}

const (
	header = "easel chunks 2\n"
	// largestRecord bounds the memory of a reader for one chunk, in bytes.
	largestRecord = 256 << 20
	mostDims      = 1 << 16
)

// bufferSize of writers and readers, in bytes.
const bufferSize = 128 << 10

// Buffers are reused: for a small file, new ones would cost more than the file.
var (
	writers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, bufferSize) }}
	readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, bufferSize) }}
)

// Writer writes a file.
type Writer struct {
	out         *bufio.Writer
	record, buf []byte
	err         error
}

// NewWriter begins a file. The caller closes the Writer.
func NewWriter(w io.Writer) *Writer {
	out := &Writer{out: writers.Get().(*bufio.Writer)} // the pool has nothing else
	out.out.Reset(w)
	_, out.err = out.out.WriteString(header)
	return out
}

// Write adds a chunk.
func (w *Writer) Write(c *Chunk) error {
	if w.err != nil {
		return w.err
	}
	w.record = appendRecord(w.record[:0], c)
	w.buf = binary.AppendUvarint(w.buf[:0], uint64(len(w.record)))
	w.buf = append(w.buf, w.record...)
	w.buf = binary.AppendUvarint(w.buf, uint64(len(c.Vector)))
	w.buf = AppendVector(w.buf, c.Vector)
	_, w.err = w.out.Write(w.buf)
	return w.err
}

// Close flushes the buffer. The Writer is not used afterwards.
func (w *Writer) Close() error {
	if w.out == nil {
		return w.err
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	w.out.Reset(nil)
	writers.Put(w.out)
	w.out = nil
	return w.err
}

// ErrDamaged means that a file differs from the one written; parse the document again.
var ErrDamaged = errors.New("chunk file is damaged")

// Read yields the chunks of a file; it ends after an error.
func Read(r io.Reader) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		in := readers.Get().(*bufio.Reader) // the pool has nothing else
		in.Reset(r)
		defer func() {
			in.Reset(nil)
			readers.Put(in)
		}()
		head := make([]byte, len(header))
		if _, err := io.ReadFull(in, head); err != nil || string(head) != header {
			yield(Chunk{}, errors.Join(ErrDamaged, err))
			return
		}
		var buf []byte
		for {
			var c Chunk
			var err error
			buf, err = readChunk(in, buf, &c)
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// readChunk reads a record. io.EOF is the end of the file.
func readChunk(in *bufio.Reader, buf []byte, c *Chunk) ([]byte, error) {
	n, err := binary.ReadUvarint(in)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return buf, io.EOF
		}
		return buf, damaged(err)
	}
	if buf, err = readBytes(in, buf, n); err != nil {
		return buf, err
	}
	if err := readRecord(buf, c); err != nil {
		return buf, err
	}
	dims, err := binary.ReadUvarint(in)
	if err != nil || dims > mostDims {
		return buf, damaged(err)
	}
	if dims == 0 {
		return buf, nil
	}
	if buf, err = readBytes(in, buf, 4*dims); err != nil {
		return buf, err
	}
	c.Vector = Vector(buf)
	return buf, nil
}

func readBytes(in *bufio.Reader, buf []byte, n uint64) ([]byte, error) {
	if n > largestRecord {
		return buf, damaged(nil)
	}
	if uint64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	_, err := io.ReadFull(in, buf)
	if err != nil {
		err = damaged(err)
	}
	return buf, err
}

// damaged hides io.EOF, which would read as the end of the file; other errors come from the source.
func damaged(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrDamaged
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// AppendVector appends a vector as bytes.
func AppendVector(b []byte, v []float32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// Vector reads what [AppendVector] wrote; none for no bytes.
func Vector(b []byte) []float32 {
	if len(b) < 4 {
		return nil
	}
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
