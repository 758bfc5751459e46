package walguard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

// The journal has the page number and the checksum of each acknowledged frame that the database
// file may lack, in a ring. Without the WAL, it shows which version of a page the database file
// has.
const (
	journalStart = slots * slotSize
	journalEntry = 16 // the second salt of the generation, the frame, the page, its checksum
	// journalFrames is twice the number of frames between checkpoints. A reader or a large
	// transaction may let the WAL grow further; the last frames remain.
	journalFrames = (sumsStart - journalStart) / journalEntry
)

// journalChunk is the number of frames that are read together.
const journalChunk = 16

// addFrames adds to the journal the frames of a WAL in use that follow the first after frames. If
// another program has copied them and started the WAL again since s was read, it returns false.
func (g *Guard) addFrames(s walState, after uint32) (there bool, err error) {
	if s.frames > journalFrames {
		after = max(after, s.frames-journalFrames)
	}
	if after >= s.frames {
		return true, nil
	}
	if g.wal == nil {
		f, err := os.Open(g.path + "-wal")
		if err != nil {
			return false, err
		}
		g.wal = f
	}
	size := frameHead + s.pageSize
	if len(g.chunk) < journalChunk*size {
		g.chunk = make([]byte, journalChunk*size)
	}
	var entries [journalChunk * journalEntry]byte
	for first := after + 1; first <= s.frames; {
		at := (first - 1) % journalFrames
		count := min(journalChunk, s.frames-first+1, journalFrames-at)
		frames := g.chunk[:int(count)*size]
		if _, err := g.wal.ReadAt(frames, walHeader+int64(first-1)*int64(size)); err != nil {
			if errors.Is(err, io.EOF) {
				return false, nil
			}
			return false, err
		}
		b := entries[:0]
		for n := first; n < first+count; n++ {
			frame := frames[:size]
			frames = frames[size:]
			if saltsOf(frame[8:]) != s.salts {
				return false, nil
			}
			b = binary.LittleEndian.AppendUint32(b, s.salts[1])
			b = binary.LittleEndian.AppendUint32(b, n)
			b = binary.LittleEndian.AppendUint32(b, binary.BigEndian.Uint32(frame))
			b = binary.LittleEndian.AppendUint32(b, pageSum(frame[frameHead:]))
		}
		if _, err := g.slots.WriteAt(b, journalStart+int64(at)*journalEntry); err != nil {
			return false, err
		}
		first += count
	}
	return true, nil
}

// pageVersions are the checksums of the versions of a page in the order of their frames.
type pageVersions struct {
	sums   []uint32
	newest uint32 // the last frame
}

func (v *pageVersions) sum() uint32 { return v.sums[len(v.sums)-1] }

// readJournal returns the pages of the acknowledged frames that follow the last checkpoint, or of
// all frames of the generation after a complete one, and whether all these frames are known that
// the journal has room for.
func readJournal(f io.ReaderAt, r *record) (of map[uint32]*pageVersions, complete bool, err error) {
	after := r.copied
	if r.complete() {
		after = 0
	}
	if r.frames > journalFrames {
		after = max(after, r.frames-journalFrames)
	}
	j, err := loadJournal(f)
	if err != nil {
		return nil, false, err
	}
	of, complete = map[uint32]*pageVersions{}, true
	for n := after + 1; n <= r.frames; n++ {
		page, sum, ok := j.frame(r.salts, n)
		if !ok {
			complete = false
			continue
		}
		v := of[page]
		if v == nil {
			v = &pageVersions{}
			of[page] = v
		}
		v.sums, v.newest = append(v.sums, sum), n
	}
	return of, complete, nil
}

// frameJournal is the content of a journal.
type frameJournal [journalFrames * journalEntry]byte

func loadJournal(f io.ReaderAt) (*frameJournal, error) {
	var j frameJournal
	if _, err := f.ReadAt(j[:], journalStart); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return &j, nil
}

// frame returns the page of a frame and its checksum, if the journal has the frame.
func (j *frameJournal) frame(s salts, n uint32) (page, sum uint32, ok bool) {
	e := j[(n-1)%journalFrames*journalEntry:][:journalEntry]
	le := binary.LittleEndian
	page = le.Uint32(e[8:])
	return page, le.Uint32(e[12:]), page > 0 && le.Uint32(e) == s[1] && le.Uint32(e[4:]) == n
}

// copiedWAL distinguishes database files with and without the acknowledged frames.
type copiedWAL int

const (
	notCopied copiedWAL = iota
	maybeCopied
	isCopied
)

// compareJournal reports whether the database file has all acknowledged frames, which are not in
// the WAL, and returns the checksums of the pages that it has of them.
//
// SQLite copies pages in the order of their numbers, and none whose newest frame a reader excludes.
// So a page at an older version shows that frames are missing, unless a page with a higher number
// and a later frame was copied: then a later commit, which was not recorded, has restored the page.
// A page at none of the versions was changed by such a commit, or is damaged. A new page of zeros
// is a hole, which SQLite leaves for a page that it may not copy yet: a commit that empties a page
// changes page 1 too.
func compareJournal(main, check *os.File, r *record) (copiedWAL, map[uint32]uint32, error) {
	pages, complete, err := readJournal(check, r)
	if err != nil || !complete || r.pageSize == 0 {
		return maybeCopied, nil, err
	}
	pageSize, size, err := readMainHead(main)
	if err != nil {
		return maybeCopied, nil, err
	}
	info, err := main.Stat()
	if err != nil {
		return maybeCopied, nil, err
	}
	if info.Size() < int64(size)*int64(pageSize) {
		return notCopied, nil, nil // SQLite sets the size after it has copied all pages
	}
	content, zeros := make([]byte, r.pageSize), make([]byte, r.pageSize)
	sums := map[uint32]uint32{}
	if pages[1] == nil {
		pages[1] = &pageVersions{}
	}
	latest := uint32(0) // the last frame of the copied pages with higher numbers
	hole := false
	for _, page := range slices.Backward(slices.Sorted(maps.Keys(pages))) {
		v := pages[page]
		_, err := main.ReadAt(content, int64(page-1)*int64(r.pageSize))
		if errors.Is(err, io.EOF) {
			continue // removed by the last commit; an older size of the database is in page 1
		}
		if err != nil {
			return maybeCopied, nil, fmt.Errorf("page %d of %s: %w", page, main.Name(), err)
		}
		number, at := sectorOf(page)
		before, err := readSector(check, number)
		if err != nil {
			return maybeCopied, nil, err
		}
		versions := append([]uint32{before.sums[at]}, v.sums...)
		if r.complete() && len(v.sums) > 0 {
			versions = v.sums // the newest version has the stored checksum
		}
		older, newest := versions[:len(versions)-1], versions[len(versions)-1]
		switch sum := pageSum(content); {
		case sum == newest:
			sums[page] = sum
			if !slices.Contains(older, sum) {
				latest = max(latest, v.newest)
			}
		case slices.Contains(older, sum):
			if latest < v.newest {
				return notCopied, nil, nil
			}
		case page == 1:
			hole = false
		case before.sums[at] == 0 && latest < v.newest:
			hole = hole || bytes.Equal(content, zeros)
		}
	}
	if hole {
		return notCopied, nil, nil
	}
	if latest == 0 {
		return maybeCopied, nil, nil
	}
	return isCopied, sums, nil
}
