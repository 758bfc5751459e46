//go:build unix

package document

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// mapMemory maps size bytes outside the Go heap; only touched pages use memory. On the heap, a
// document of this size could double the heap before a collection. unmap releases the memory at
// once; it must not be used afterwards.
func mapMemory(size int64) (room []byte, unmap func(), err error) {
	if room, err = unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON); err != nil {
		return nil, nil, fmt.Errorf("reserve %d bytes of memory for a document: %w", size, err)
	}
	back := memlimit.Outside(size)
	return room, func() {
		_ = unix.Munmap(room) // fails only for memory that is not mapped
		back()
	}, nil
}
