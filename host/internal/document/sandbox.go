package document

import "github.com/tetratelabs/wazero/experimental"

// sandbox is the memory of a pdfium instance. Its address range is reserved as a whole and only
// touched pages use memory, so it never moves when it grows. It is unmapped after the document is
// read.
type sandbox struct {
	room []byte
	full bool // the instance requested more
}

// Allocate implements experimental.MemoryAllocator.
func (s *sandbox) Allocate(uint64, uint64) experimental.LinearMemory { return s }

// Reallocate implements experimental.LinearMemory.
func (s *sandbox) Reallocate(size uint64) []byte {
	if size > uint64(len(s.room)) {
		s.full = true
		return nil
	}
	return s.room[:size:size]
}

// Free implements experimental.LinearMemory. It does nothing because the runtime may call it while
// the instance is running.
func (s *sandbox) Free() {}
