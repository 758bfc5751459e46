package document

import "github.com/tetratelabs/wazero/experimental"

// sandbox is the memory of an instance of pdfium. It is reserved as a whole and takes what is used
// of it: it does not move when it grows, and it is given back to the system when its document is
// read.
type sandbox struct {
	room []byte
	full bool // the instance asked for more
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

// Free implements experimental.LinearMemory. It does nothing: the runtime may call it while the
// instance still runs.
func (s *sandbox) Free() {}
