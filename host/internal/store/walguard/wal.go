package walguard

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
)

// The format of a WAL: a header, then frames of a head and a page. All numbers are big-endian.
//
//	header: magic, version, page size, checkpoint number, salts (2), checksum of these (2)
//	head: page number, pages of the database after a commit or 0, salts (2), running checksum (2)
//
// Source: https://sqlite.org/fileformat2.html#walformat and walIndexRecover in wal.c.
const (
	walHeader = 32
	frameHead = 24
	walMagic  = 0x377f0682 // the lowest bit selects big-endian checksums

	leastPage = 512
	mostPage  = 64 << 10
)

// salts mark the frames of one generation of a WAL. SQLite adds 1 to the first and chooses another
// second when it starts the WAL again from its first frame.
type salts [2]uint32

// wal is the content of a WAL as SQLite recovers it.
type wal struct {
	size     int64
	header   bool // the header is intact; without it, SQLite ignores the file
	salts    salts
	pageSize int
	frames   uint32 // up to the last commit of the intact frames
	sum      [2]uint32
	commits  uint64              // in these frames
	pages    uint32              // of the database after them
	of       map[uint32]struct{} // the numbers of the pages in them
	sumAt    [2]uint32           // the running checksum after the frame that the reader asked for
	// lost is the number of commits of the same generation that follow the first damaged frame.
	lost uint64
}

// empty reports that the file is missing or has no frames.
func (w *wal) empty() bool { return w.size <= walHeader }

// frameSize returns the size of a frame in bytes.
func (w *wal) frameSize() int64 { return frameHead + int64(w.pageSize) }

// end returns the position after a number of frames.
func (w *wal) end(frames uint32) int64 { return walHeader + int64(frames)*w.frameSize() }

// readWAL reads a WAL, and the running checksum after one of its frames. A missing file is an empty
// one.
func readWAL(path string, at uint32) (*wal, error) {
	w := &wal{of: map[uint32]struct{}{}}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	w.size = info.Size()
	if w.empty() {
		return w, nil
	}
	return w, w.read(bufio.NewReaderSize(io.LimitReader(f, w.size), 1<<20), at)
}

func (w *wal) read(r io.Reader, at uint32) error {
	var head [walHeader]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	chain, ok := w.parseHeader(head[:])
	if !ok {
		return nil
	}
	w.header = true
	frame := make([]byte, w.frameSize())
	open := map[uint32]struct{}{} // pages since the last commit
	intact := true
	for n := uint32(1); w.end(n) <= w.size; n++ {
		if _, err := io.ReadFull(r, frame); err != nil {
			return err
		}
		page, pages, ok := chain.frame(frame, w.salts, intact)
		intact = intact && ok
		if intact && n == at {
			w.sumAt = chain.sum
		}
		switch {
		case !intact:
			if pages > 0 && page > 0 && saltsOf(frame[8:]) == w.salts {
				w.lost++
			}
			continue
		case pages == 0:
			open[page] = struct{}{}
			continue
		}
		open[page] = struct{}{}
		for p := range open {
			w.of[p] = struct{}{}
		}
		clear(open)
		w.frames, w.sum, w.pages = n, chain.sum, pages
		w.commits++
	}
	return nil
}

// parseHeader returns the checksum that the first frame continues.
func (w *wal) parseHeader(head []byte) (c chain, ok bool) {
	magic := binary.BigEndian.Uint32(head)
	size := int(binary.BigEndian.Uint32(head[8:]))
	if magic&^1 != walMagic || size < leastPage || size > mostPage || size&(size-1) != 0 {
		return c, false
	}
	c.big = magic&1 == 1
	c.add(head[:24])
	w.pageSize, w.salts = size, saltsOf(head[16:])
	return c, c.sum == sumsOf(head[24:])
}

func saltsOf(b []byte) salts { return salts(sumsOf(b)) }

func sumsOf(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// chain is the running checksum of a WAL.
type chain struct {
	big bool
	sum [2]uint32
}

// frame reads the head of a frame and, if verify is set, reports whether the frame is intact and
// continues the chain.
func (c *chain) frame(frame []byte, s salts, verify bool) (page, pages uint32, ok bool) {
	page, pages = binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:])
	if !verify || page == 0 || saltsOf(frame[8:]) != s {
		return page, pages, false
	}
	c.add(frame[:8])
	c.add(frame[frameHead:])
	return page, pages, c.sum == sumsOf(frame[16:])
}

// add continues the checksum with bytes, whose number is a multiple of 8.
func (c *chain) add(b []byte) {
	s0, s1 := c.sum[0], c.sum[1]
	if c.big {
		for ; len(b) >= 8; b = b[8:] {
			s0 += binary.BigEndian.Uint32(b) + s1
			s1 += binary.BigEndian.Uint32(b[4:]) + s0
		}
	} else {
		for ; len(b) >= 8; b = b[8:] {
			s0 += binary.LittleEndian.Uint32(b) + s1
			s1 += binary.LittleEndian.Uint32(b[4:]) + s0
		}
	}
	c.sum = [2]uint32{s0, s1}
}
