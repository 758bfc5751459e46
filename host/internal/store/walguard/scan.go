package walguard

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// scanChunk is the number of pages that are compared under one lock of the check file.
const scanChunk = 64

// mainHead is the part of the head of a database file that is read. Source:
// https://sqlite.org/fileformat2.html#the_database_header.
const (
	mainHead  = 100
	mainMagic = "SQLite format 3\x00"
)

// readMainHead returns the page size of a database file and its number of pages; zeros if it is
// empty or not a database, which SQLite reports itself.
func readMainHead(f *os.File) (pageSize int, pages uint32, err error) {
	var b [mainHead]byte
	if _, err := f.ReadAt(b[:], 0); errors.Is(err, io.EOF) {
		return 0, 0, nil
	} else if err != nil {
		return 0, 0, err
	}
	pageSize = int(binary.BigEndian.Uint16(b[16:]))
	if pageSize == 1 {
		pageSize = mostPage
	}
	if string(b[:len(mainMagic)]) != mainMagic || pageSize < leastPage {
		return 0, 0, nil
	}
	return pageSize, binary.BigEndian.Uint32(b[28:]), nil
}

// scan compares pages of the database file with their checksums and adds missing ones.
type scan struct {
	main, check *os.File
	pageSize    int
	next, last  uint32 // pages
	// live reports pages that the WAL replaces; what the database file has of them is not used.
	live func(page uint32) (bool, error)

	damaged []uint32
	added   bool // checksums were missing or replaced
	sectors int  // damaged sectors of checksums
}

// step compares the next pages. The caller has the check file locked.
func (s *scan) step() error {
	first := s.next
	count := min(scanChunk, int64(s.last)-int64(first)+1)
	if count <= 0 {
		return nil
	}
	b := make([]byte, count*int64(s.pageSize))
	n, err := s.main.ReadAt(b, int64(first-1)*int64(s.pageSize))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	number := int64(-1)
	var current sector
	changed := false
	flush := func() error {
		if !changed {
			return nil
		}
		changed, s.added = false, true
		return writeSector(s.check, number, &current)
	}
	for i := range int(count) {
		page := first + uint32(i)
		in, at := sectorOf(page)
		if in != number {
			if err := flush(); err != nil {
				return err
			}
			number = in
			if current, err = readSector(s.check, number); err != nil {
				return err
			}
			if current.damaged {
				s.sectors++
			}
		}
		var content []byte // nil behind the end of the file
		if end := (i + 1) * s.pageSize; end <= n {
			content = b[end-s.pageSize : end]
		}
		sum, err := s.compare(page, content, current.sums[at])
		if err != nil {
			return err
		}
		if sum != current.sums[at] {
			current.sums[at], changed = sum, true
		}
	}
	s.next = first + uint32(count)
	return flush()
}

// compare returns the checksum that is to be stored for a page.
func (s *scan) compare(page uint32, content []byte, stored uint32) (uint32, error) {
	if content == nil && stored == 0 {
		return 0, nil // never written
	}
	var sum uint32
	if content != nil {
		sum = pageSum(content)
	}
	if sum == stored {
		return stored, nil
	}
	live, err := s.live(page)
	if err != nil || live {
		return stored, err
	}
	if stored == 0 {
		return sum, nil
	}
	s.damaged = append(s.damaged, page)
	return stored, nil
}

// bytes returns the position up to which pages were compared.
func (s *scan) bytes() int64 { return int64(s.next-1) * int64(s.pageSize) }

// acceptAll replaces the checksums of damaged pages by those of their contents.
func (s *scan) acceptAll() error {
	of := map[uint32]uint32{}
	page := make([]byte, s.pageSize)
	for _, p := range s.damaged {
		_, err := s.main.ReadAt(page, int64(p-1)*int64(s.pageSize))
		switch {
		case errors.Is(err, io.EOF):
			of[p] = 0
		case err != nil:
			return err
		default:
			of[p] = pageSum(page)
		}
	}
	_, err := storeSums(s.check, of)
	return err
}

// done reports that all pages were compared.
func (s *scan) done() bool { return s.next > s.last }
