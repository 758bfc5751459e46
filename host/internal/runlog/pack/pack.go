// Package pack stores large values of a run log once.
//
// The records of a run repeat values: an output of 1 MB is in the node's result, in its event, in
// the next checkpoint and in every snapshot. The run log packs each record with Pack, stores the
// blobs it returns before the record, and reads the record back with Unpack.
package pack

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// Limit is the size in bytes from which a value of a record is stored as a blob.
const Limit = 64 << 10

// ErrDamaged means that a stored record or blob differs from the written one.
var ErrDamaged = errors.New("damaged")

// Packer packs the records of one log. The zero value is ready; it is not safe for concurrent use.
//
// A packed record begins with '!', which no JSON text does; all others are stored as they are.
// Inside it an extracted value is written {"$blob":"<sha256 of its JSON>"}; an object whose first
// name is $blob, $$blob, ... gets one $ more.
type Packer struct {
	Limit int // smallest value that is stored as a blob; 0 means Limit
	known map[string]bool
}

// Blob is one large value, as JSON.
type Blob struct {
	ID   string // sha256 in hex
	JSON []byte
}

// packedMark is the first byte of a packed record.
const packedMark = '!'

const (
	blobKey  = "$blob"
	blobOpen = `{"$blob":"`
)

// Pack returns a record as it is stored, and the blobs that no earlier record of this log had. They
// must be stored before it. A record without large values comes back unchanged and nothing is
// allocated. The record must be JSON as the engine writes it; an invalid one is not changed.
func (p *Packer) Pack(record []byte) (stored []byte, blobs []Blob) {
	limit := p.Limit
	if limit <= 0 {
		limit = Limit
	}
	if len(record) < limit || len(record) == 0 {
		return record, nil
	}
	w := packing{scan: scan{text: record}, packer: p, limit: limit, out: []byte{packedMark}}
	if !w.value(0) || w.at != len(record) || !w.took {
		return record, nil
	}
	for _, b := range w.blobs {
		p.remember(b.ID)
	}
	return w.out, w.blobs
}

func (p *Packer) remember(id string) {
	if p.known == nil {
		p.known = map[string]bool{}
	}
	p.known[id] = true
}

// Unpack returns the original record. read finds a blob by its id; its error is returned.
func Unpack(stored []byte, read func(id string) ([]byte, error)) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packedMark {
		return stored, nil
	}
	u := unpacking{scan: scan{text: stored[1:]}, read: read}
	if !u.value(0) && u.err == nil {
		u.err = fmt.Errorf("a packed record is %w at byte %d", ErrDamaged, u.at+1)
	}
	return u.out, u.err
}

// packing copies a record and extracts large values, the inner ones first.
type packing struct {
	scan
	packer *Packer
	limit  int
	out    []byte
	blobs  []Blob
	took   bool
}

func (w *packing) value(depth int) bool {
	from := len(w.out)
	if !w.copy(&w.out, depth, w.value, func(key []byte) []byte { return escapeBlobKey(key, 1) }) {
		return false
	}
	// A value that holds references is large still only when its small parts are many; the record
	// itself stays.
	if depth == 0 || len(w.out)-from < w.limit {
		return true
	}
	body := w.out[from:]
	sum := sha256.Sum256(body)
	id := hex.EncodeToString(sum[:])
	if !w.packer.known[id] && !w.has(id) {
		w.blobs = append(w.blobs, Blob{ID: id, JSON: bytes.Clone(body)})
	}
	w.out = append(w.out[:from], blobOpen...)
	w.out = append(append(w.out, id...), `"}`...)
	w.took = true
	return true
}

func (w *packing) has(id string) bool {
	for i := range w.blobs {
		if w.blobs[i].ID == id {
			return true
		}
	}
	return false
}

// unpacking copies a packed record and puts the blobs back. Blobs may hold references themselves.
type unpacking struct {
	scan
	read func(id string) ([]byte, error)
	out  []byte
	err  error
}

func (u *unpacking) value(depth int) bool {
	if id, ok := u.reference(); ok {
		blob, err := u.read(id)
		if err != nil {
			u.err = fmt.Errorf("blob %s of a record: %w", id, err)
			return false
		}
		if sum := sha256.Sum256(blob); hex.EncodeToString(sum[:]) != id {
			u.err = fmt.Errorf("blob %s is %w", id, ErrDamaged)
			return false
		}
		inner := unpacking{scan: scan{text: blob}, read: u.read}
		if !inner.value(depth + 1) {
			u.err = inner.err
			return false
		}
		u.out = append(u.out, inner.out...)
		return true
	}
	return u.copy(&u.out, depth, u.value, func(key []byte) []byte { return escapeBlobKey(key, -1) })
}

// reference reads {"$blob":"<id>"}.
func (u *unpacking) reference() (id string, ok bool) {
	const hexLength = 2 * sha256.Size
	rest := u.text[u.at:]
	end := len(blobOpen) + hexLength
	if !bytes.HasPrefix(rest, []byte(blobOpen)) || len(rest) < end+2 || string(rest[end:end+2]) != `"}` {
		return "", false
	}
	u.at += end + 2
	return string(rest[len(blobOpen):end]), true
}

// escapeBlobKey adds a $ to the quoted names $blob, $$blob, ..., or takes one away from all but the
// first of them.
func escapeBlobKey(key []byte, by int) []byte {
	inner := bytes.TrimLeft(key[1:len(key)-1], "$")
	dollars := len(key) - 2 - len(inner)
	if dollars == 0 || string(inner) != blobKey[1:] {
		return key
	}
	return append(append([]byte{'"'}, bytes.Repeat([]byte{'$'}, max(dollars+by, 1))...), `blob"`...)
}
