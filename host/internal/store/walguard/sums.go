package walguard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
)

// Checksums of pages are in sectors of 127 numbers and their own checksum. 0 means unknown.
const (
	sectorSize = 512
	perSector  = sectorSize/4 - 1
)

// pageSum returns the checksum of a page, which is not 0.
func pageSum(page []byte) uint32 { return max(crc32.Checksum(page, castagnoli), 1) }

// sector holds the checksums of neighbouring pages.
type sector struct {
	sums    [perSector]uint32
	damaged bool // its own checksum did not match; its numbers are unknown
}

// sectorOf returns the sector of a page and the place in it. Pages count from 1.
func sectorOf(page uint32) (number int64, at int) {
	return int64(page-1) / perSector, int(page-1) % perSector
}

// readSector reads a sector. What the file does not have is unknown.
func readSector(f *os.File, number int64) (s sector, err error) {
	var b [sectorSize]byte
	if n, err := f.ReadAt(b[:], sumsStart+number*sectorSize); err != nil && !errors.Is(err, io.EOF) {
		return s, err
	} else if n < sectorSize {
		clear(b[:])
	}
	if b == [sectorSize]byte{} {
		return s, nil
	}
	end := perSector * 4
	if binary.LittleEndian.Uint32(b[end:]) != crc32.Checksum(b[:end], castagnoli) {
		s.damaged = true
		return s, nil
	}
	for i := range s.sums {
		s.sums[i] = binary.LittleEndian.Uint32(b[i*4:])
	}
	return s, nil
}

func writeSector(f *os.File, number int64, s *sector) error {
	b := make([]byte, 0, sectorSize)
	for _, sum := range s.sums {
		b = binary.LittleEndian.AppendUint32(b, sum)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	_, err := f.WriteAt(b, sumsStart+number*sectorSize)
	return err
}

// storeSums writes the checksums of pages and returns the previous ones.
func storeSums(f *os.File, of map[uint32]uint32) (before map[uint32]uint32, err error) {
	before = make(map[uint32]uint32, len(of))
	pages := slices.Sorted(maps.Keys(of))
	for len(pages) > 0 {
		number, _ := sectorOf(pages[0])
		s, err := readSector(f, number)
		if err != nil {
			return nil, err
		}
		for len(pages) > 0 {
			n, at := sectorOf(pages[0])
			if n != number {
				break
			}
			before[pages[0]], s.sums[at] = s.sums[at], of[pages[0]]
			pages = pages[1:]
		}
		if err := writeSector(f, number, &s); err != nil {
			return nil, err
		}
	}
	return before, nil
}

// forgetSums removes all checksums of pages.
func forgetSums(f *os.File) error { return f.Truncate(sumsStart) }

// frameSums returns the checksums of the newest version of each page in the frames of a WAL in use
// that follow the first after frames. Frames that the journal lacks are read.
func frameSums(path string, index *os.File, after uint32, s walState, j *frameJournal) (map[uint32]uint32, error) {
	newest, err := newestFrames(index, after, s)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	frame := make([]byte, frameHead+s.pageSize)
	for page, n := range newest {
		if p, sum, ok := j.frame(s.salts, n); ok && p == page {
			newest[page] = sum
			continue
		}
		if _, err := f.ReadAt(frame, walHeader+int64(n-1)*int64(len(frame))); err != nil {
			return nil, fmt.Errorf("frame %d of %s: %w", n, path, err)
		}
		if binary.BigEndian.Uint32(frame) != page || saltsOf(frame[8:]) != s.salts {
			return nil, fmt.Errorf("frame %d of %s: %w", n, path, errIndex)
		}
		newest[page] = pageSum(frame[frameHead:])
	}
	return newest, nil
}

// framePages returns the numbers of all pages in a WAL in use, those of rolled back transactions
// included.
func framePages(path string) (map[uint32]struct{}, error) {
	of := map[uint32]struct{}{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return of, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head [walHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var w wal
	if _, ok := w.parseHeader(head[:]); !ok {
		return of, nil // empty, or being started again: the database file has all pages
	}
	for n := uint32(0); ; n++ {
		switch _, err := f.ReadAt(head[:frameHead], w.end(n)); {
		case errors.Is(err, io.EOF):
			return of, nil
		case err != nil:
			return nil, err
		case saltsOf(head[8:]) != w.salts:
			return of, nil
		}
		of[binary.BigEndian.Uint32(head[:])] = struct{}{}
	}
}
