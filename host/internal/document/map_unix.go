//go:build unix

package document

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// mapMemory is memory outside the heap, which takes what is used of it and is given back at once by unmapMemory. The
// collector would let the heap grow to twice of it.
func mapMemory(size int64) ([]byte, error) {
	room, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of memory for a document: %w", size, err)
	}
	return room, nil
}

// unmapMemory gives memory back. Nothing may use it afterwards.
func unmapMemory(room []byte) { _ = unix.Munmap(room) } // fails only for memory that is not mapped
