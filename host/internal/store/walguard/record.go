package walguard

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"time"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record describes the last acknowledged commit.
type record struct {
	serial  uint64 // of this record; the newer of two counts
	commits uint64 // acknowledged since the first record
	at      int64  // time of the last one in Unix milliseconds

	// The WAL after the last acknowledged commit.
	salts    salts
	frames   uint32
	sum      [2]uint32
	pageSize uint32

	// Its generation: the commits before it, and the time of its first one.
	before uint64
	began  int64

	// The last finished checkpoint: the frames of this generation that easel.db has, the commits
	// that it has, and the time.
	copied        uint32
	copiedCommits uint64
	copiedAt      int64

	flags uint32
}

const (
	// durable means that the last commit was synced before it was acknowledged.
	durable = 1 << iota
	// opening means that a WAL with other salts may have been created since: the process has
	// acknowledged nothing yet.
	opening
	// unsummed means that a checkpoint was made without storing the checksums of its pages.
	unsummed
	// closed means that SQLite had deleted the WAL when the last guard was closed.
	closed
	// foreign means that another program has copied a WAL, so that pages may differ from their
	// checksums.
	foreign
	// unproven means that pages were changed without a guard, and the database was not checked
	// since.
	unproven
)

// complete reports that the database file has all acknowledged commits.
func (r *record) complete() bool { return r.copied == r.frames }

func (r *record) has(flag uint32) bool { return r.flags&flag != 0 }

func (r *record) set(flag uint32, on bool) {
	if r.flags &^= flag; on {
		r.flags |= flag
	}
}

func (r *record) time() time.Time { return time.UnixMilli(r.at).UTC() }

// Records are written to two slots in turn, so that one is intact whenever a process is killed or
// the power fails.
const (
	slotSize  = 512 // no disk tears a sector of this size
	slots     = 2
	sumsStart = 65 << 10
)

const recordMagic = "easelck2"

func (r *record) encode() []byte {
	b := make([]byte, 0, slotSize)
	b = append(b, recordMagic...)
	le := binary.LittleEndian
	for _, v := range []uint64{
		r.serial, r.commits, uint64(r.at), r.before, uint64(r.began), r.copiedCommits, uint64(r.copiedAt),
	} {
		b = le.AppendUint64(b, v)
	}
	for _, v := range []uint32{
		r.salts[0], r.salts[1], r.frames, r.sum[0], r.sum[1], r.pageSize, r.copied, r.flags,
	} {
		b = le.AppendUint32(b, v)
	}
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// recordSize is the number of bytes that encode returns.
const recordSize = len(recordMagic) + 7*8 + 8*4 + 4

func decodeRecord(b []byte) (r record, ok bool) {
	le := binary.LittleEndian
	end := recordSize - 4
	if string(b[:len(recordMagic)]) != recordMagic || le.Uint32(b[end:]) != crc32.Checksum(b[:end], castagnoli) {
		return r, false
	}
	b = b[len(recordMagic):]
	long := func() uint64 {
		v := le.Uint64(b)
		b = b[8:]
		return v
	}
	r.serial, r.commits, r.at, r.before = long(), long(), int64(long()), long()
	r.began, r.copiedCommits, r.copiedAt = int64(long()), long(), int64(long())
	short := func() uint32 {
		v := le.Uint32(b)
		b = b[4:]
		return v
	}
	r.salts, r.frames, r.sum = salts{short(), short()}, short(), [2]uint32{short(), short()}
	r.pageSize, r.copied, r.flags = short(), short(), short()
	return r, true
}

// readRecord returns the newer intact record of a check file.
func readRecord(f io.ReaderAt) (newest record, ok bool, err error) {
	var b [slots * slotSize]byte
	if _, err := f.ReadAt(b[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return newest, false, err
	}
	for i := range slots {
		if r, intact := decodeRecord(b[i*slotSize:]); intact && (!ok || r.serial > newest.serial) {
			newest, ok = r, true
		}
	}
	return newest, ok, nil
}

// writeRecord writes a record over the older one.
func writeRecord(f io.WriterAt, r *record) error {
	r.serial++
	_, err := f.WriteAt(r.encode(), int64(r.serial%slots)*slotSize)
	return err
}
