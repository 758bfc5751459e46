package walguard

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

// handles are open files of a database that all guards of a process share.
//
// SQLite locks the database file and NAME-shm with POSIX locks. Closing any descriptor of such a
// file releases all locks of the process on it, so these stay open until the last guard of the
// database is closed, which is after its connections.
type handles struct {
	guards int
	main   *os.File
	index  *os.File // NAME-shm; nil until it is needed
	head   *window  // of index
}

var (
	handlesMu sync.Mutex
	shared    = map[string]*handles{} // by path
)

func acquire(path string) (*handles, error) {
	handlesMu.Lock()
	defer handlesMu.Unlock()
	h := shared[path]
	if h == nil {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		h = &handles{main: f}
		shared[path] = h
	}
	h.guards++
	return h, nil
}

func release(path string) error {
	handlesMu.Lock()
	defer handlesMu.Unlock()
	h := shared[path]
	if h.guards--; h.guards > 0 {
		return nil
	}
	delete(shared, path)
	err := h.main.Close()
	if h.index != nil {
		err = errors.Join(err, h.head.Close(), h.index.Close())
	}
	return err
}

// openIndex opens NAME-shm, which exists as soon as a connection has read the database, and returns
// its head.
func (h *handles) openIndex(path string) (*window, error) {
	handlesMu.Lock()
	defer handlesMu.Unlock()
	if h.head != nil {
		return h.head, nil
	}
	f, err := os.Open(path + "-shm")
	if err != nil {
		return nil, err
	}
	head, err := openWindow(f, 2*indexHead, false)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	h.index, h.head = f, head
	return head, nil
}

// walState is the committed part of a WAL in use, which SQLite stores at the start of NAME-shm.
type walState struct {
	salts    salts
	frames   uint32
	sum      [2]uint32
	pageSize int
}

// indexHead is the size of the head of NAME-shm in bytes. There are two copies of it, of which
// SQLite writes the second first. Source: https://sqlite.org/walformat.html#the_wal_index_header.
const indexHead = 48

var errIndex = errors.New("the head of the shared memory of the WAL does not become consistent")

// stateTime bounds how long a writer may have written one copy of the head only: it may wait for
// the processor between the two.
const stateTime = 10 * time.Second

// readState reads the state of a WAL in use. Another connection may be writing it.
func readState(index io.ReaderAt) (s walState, err error) {
	var b [2 * indexHead]byte
	for begun := time.Now(); time.Since(begun) < stateTime; time.Sleep(time.Millisecond) {
		if _, err := index.ReadAt(b[:], 0); err != nil {
			return s, err
		}
		if [indexHead]byte(b[:indexHead]) == [indexHead]byte(b[indexHead:]) {
			return parseState(b[:indexHead]), nil
		}
	}
	return s, errIndex
}

// parseState reads a head. Its numbers have the byte order of the machine, the salts that of the
// WAL.
func parseState(b []byte) walState {
	native := binary.NativeEndian
	s := walState{
		pageSize: int(native.Uint16(b[14:])),
		frames:   native.Uint32(b[16:]),
		sum:      [2]uint32{native.Uint32(b[24:]), native.Uint32(b[28:])},
		salts:    saltsOf(b[32:]),
	}
	if s.pageSize == 1 {
		s.pageSize = mostPage
	}
	return s
}

// NAME-shm also has the page number of each frame, in blocks that also have a hash table of them.
const (
	indexBlock  = 32 << 10
	firstPages  = 4062 // page numbers in the first block, after 136 bytes
	firstOffset = 136
	blockPages  = 4096
)

// newestFrames returns the last frame of each page in the frames of a WAL in use that follow the
// first after frames.
func newestFrames(index *os.File, after uint32, s walState) (map[uint32]uint32, error) {
	newest := map[uint32]uint32{}
	b := make([]byte, blockPages*4)
	for frame := after + 1; frame <= s.frames; {
		offset, rest := int64(firstOffset)+int64(frame-1)*4, firstPages+1-int64(frame)
		if frame > firstPages {
			n := int64(frame) - firstPages - 1
			offset, rest = (n/blockPages+1)*indexBlock+n%blockPages*4, blockPages-n%blockPages
		}
		part := b[:4*min(rest, int64(s.frames-frame)+1)]
		if _, err := index.ReadAt(part, offset); err != nil {
			return nil, err
		}
		for ; len(part) > 0; part = part[4:] {
			newest[binary.NativeEndian.Uint32(part)] = frame
			frame++
		}
	}
	return newest, nil
}
