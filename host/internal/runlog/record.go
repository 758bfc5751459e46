package runlog

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/host/internal/nats/broker"
)

// Record is one numbered entry of a run.
type Record struct {
	Seq  uint64 // 1, 2, 3 ... within the run; set by the lease
	At   uint64 // sequence of the stored message that holds it, 0 while it is not stored
	Kind string // chosen by the writer, at most 255 bytes
	Data []byte // JSON, or text that does not begin like it
	More bool   // for readers: another record follows at once
	// Known holds facts of the writer about Data, so that readers on its host need not parse it;
	// nil without facts, and for readers of the stream.
	Known any

	packed bool // Data is as it is stored, see blobs.go
}

// Pos is a position in a run: everything up to Seq has been read. The zero value is the beginning.
// At only makes resuming fast; any value is safe.
type Pos struct{ Seq, At uint64 }

// Pos returns the place after this record.
func (r Record) Pos() Pos { return Pos{r.Seq, r.At} }

// String returns the form for an SSE id: "12" or "12-3456".
func (p Pos) String() string {
	if p.At == 0 {
		return strconv.FormatUint(p.Seq, 10)
	}
	return strconv.FormatUint(p.Seq, 10) + "-" + strconv.FormatUint(p.At, 10)
}

// ParsePos reads what [Pos.String] wrote; "" is the beginning. Other texts are an error: they may
// be the id of another run.
func ParsePos(text string) (Pos, error) {
	if text == "" {
		return Pos{}, nil
	}
	seq, at, both := strings.Cut(text, "-")
	var p Pos
	var err error
	if p.Seq, err = strconv.ParseUint(seq, 10, 64); err == nil && both {
		p.At, err = strconv.ParseUint(at, 10, 64)
	}
	if err != nil {
		return Pos{}, fmt.Errorf("event id %.40q: not a position", text)
	}
	return p, nil
}

// bundle is the content of one stored message: consecutive records of one owner. A claim is a
// bundle without records.
type bundle struct {
	owner   string // unique per lease
	attempt uint64 // number of leases of the run, including this one
	first   uint64 // number of the first record, or of the next one when empty
	end     bool   // the run ends with it
	records []Record
}

const (
	bundleVersion = 2
	flagEnd       = 1
)

// next returns the number that the record after this bundle gets.
func (b *bundle) next() uint64 { return b.first + uint64(len(b.records)) }

func (b *bundle) encode() []byte {
	size := 64 + len(b.owner)
	for _, r := range b.records {
		size += len(r.Kind) + len(r.Data) + 8
	}
	out := make([]byte, 0, size)
	var flags byte
	if b.end {
		flags = flagEnd
	}
	out = append(out, bundleVersion, flags)
	out = appendText(out, b.owner)
	out = binary.AppendUvarint(out, b.attempt)
	out = binary.AppendUvarint(out, b.first)
	for _, r := range b.records {
		out = appendText(out, r.Kind)
		size := uint64(len(r.Data)) << 1
		if r.packed {
			size |= 1
		}
		out = binary.AppendUvarint(out, size)
		out = append(out, r.Data...)
	}
	return out
}

func appendText(out []byte, s string) []byte {
	out = binary.AppendUvarint(out, uint64(len(s)))
	return append(out, s...)
}

// decodeBundle reads a stored message; its records share the message's bytes.
func decodeBundle(data []byte, at uint64) (bundle, error) {
	d := decoder{data: data}
	var b bundle
	version, flags := d.byte(), d.byte()
	b.end = flags&flagEnd != 0
	b.owner = string(d.bytes())
	b.attempt, b.first = d.number(), d.number()
	for d.ok() && len(d.data) > 0 {
		r := Record{Seq: b.next(), At: at, Kind: string(d.bytes())}
		size := d.number()
		r.Data, r.packed = d.take(size>>1), size&1 == 1
		if d.ok() {
			b.records = append(b.records, r)
		}
	}
	if !d.ok() || version != bundleVersion || flags&^flagEnd != 0 {
		return bundle{}, fmt.Errorf("message %d of %d bytes: %w", at, len(data), broker.ErrDamaged)
	}
	return b, nil
}

// decoder reads forward and records a failure.
type decoder struct {
	data []byte
	bad  bool
}

func (d *decoder) ok() bool { return !d.bad }

func (d *decoder) byte() byte {
	if len(d.data) == 0 {
		d.bad = true
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return b
}

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.data)
	if size <= 0 {
		d.bad = true
		return 0
	}
	d.data = d.data[size:]
	return n
}

func (d *decoder) bytes() []byte { return d.take(d.number()) }

func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.data)) {
		d.bad = true
		return nil
	}
	b := d.data[:n:n]
	d.data = d.data[n:]
	return b
}
