package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// ErrFull means that the disk has no space for ordinary writes; free space, or delete what is not
// needed.
var ErrFull = errors.New("disk is full")

// reserveName is a file in a data directory that only occupies space.
const reserveName = "reserve"

// A full disk also refuses writes that free space, such as deletions, and those of a login. They
// need some pages of the database, its log until the next checkpoint, and messages of NATS that
// mark files as deleted: less than 1 MiB each, and together 8 MiB until files have been deleted.
const (
	reserveSize  = 16 << 20
	reserveShare = 8       // of the free space of a small disk
	reserveLeast = 1 << 20 // a smaller one would not help
	roomAtStart  = 8 << 20 // below it, a start takes the reserve
	roomAfter    = 8 << 20 // that must be left when the reserve is made again
	refillEvery  = time.Second
)

// Reserve is space of the disk of a data directory for writes that must succeed on a full disk. It
// is a file: such a write deletes it when it has failed, and is repeated. Until there is space to
// make the file again, ordinary writes are refused, so that they do not use what was freed.
//
// A nil *Reserve has no space. A Reserve is safe for concurrent use.
type Reserve struct {
	dir string

	mu      sync.Mutex
	opened  bool
	started bool
	size    int64     // of the file; 0 if it is not there
	free    int64     // size of the file that was deleted; 0 if none was
	tried   time.Time // when it was last tried to make the file
}

// NewReserve returns the reserve of a data directory, which is opened later.
func NewReserve(dir string) *Reserve { return &Reserve{dir: dir} }

// Open finds the file. On a full disk it deletes the file: the start of a host has to write, too.
// Calls after the first do nothing.
func (r *Reserve) Open() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opened {
		return
	}
	r.opened = true
	if info, err := os.Stat(r.path()); err == nil && info.Size() >= reserveLeast {
		r.size = info.Size()
	}
	if room := Free(r.dir); room >= 0 && room < roomAtStart {
		r.release()
	}
}

// Started ends the start, in which all writes are accepted, and makes the file if it is missing and
// there is space for it.
func (r *Reserve) Started() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started = true; r.size == 0 {
		r.make()
	}
}

// Release frees the space for a write that must succeed, and reports whether there was any.
func (r *Reserve) Release() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.release()
}

func (r *Reserve) release() bool {
	if r.size == 0 {
		return false
	}
	// A file system that copies on write may be too full to remove a file, but not to empty it.
	if emptied := os.Truncate(r.path(), 0); os.Remove(r.path()) != nil && emptied != nil {
		return false
	}
	r.free, r.size, r.tried = r.size, 0, time.Now()
	return true
}

// Refill makes the file again when there is space for it.
func (r *Reserve) Refill() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refill()
}

func (r *Reserve) refill() {
	if _, err := os.Stat(r.path()); errors.Is(err, fs.ErrNotExist) {
		r.size = 0 // another process has used it
	}
	if r.started && r.size == 0 && time.Since(r.tried) >= refillEvery {
		r.make()
	}
}

// make makes the file. The caller holds mu.
func (r *Reserve) make() {
	r.tried = time.Now()
	room := Free(r.dir)
	size := min(reserveSize, max(r.free, room/reserveShare))
	if size < reserveLeast || room-size < min(roomAfter, (reserveShare-1)*size) {
		return
	}
	if allocate(r.path(), size) != nil {
		_ = os.Remove(r.path()) // the next call tries again
		return
	}
	r.size, r.free = size, 0
}

// Full refuses an ordinary write while the space of the reserve is in use. Errors: [ErrFull].
func (r *Reserve) Full() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.free == 0 || !r.started {
		return nil
	}
	if r.refill(); r.free == 0 {
		return nil
	}
	return fmt.Errorf("%w: %d MiB left on the disk of %s, which are kept for deletions and logins", ErrFull,
		Free(r.dir)>>20, r.dir)
}

// Room returns the free bytes on the disk of the directory that ordinary writes may take; -1 if
// unknown.
func (r *Reserve) Room(dir string) int64 {
	room := Free(dir)
	if r == nil || room < 0 {
		return room
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.started {
		return room
	}
	return max(0, room-r.free)
}

func (r *Reserve) path() string { return filepath.Join(r.dir, reserveName) }

// fill makes a file of bytes that no file system compresses.
func fill(f *os.File, size int64) error {
	block, state := make([]byte, 1<<20), uint64(0x9e3779b97f4a7c15)
	for size > 0 {
		for i := range block {
			state ^= state << 13
			state ^= state >> 7
			state ^= state << 17
			block[i] = byte(state)
		}
		n, err := f.Write(block[:min(int64(len(block)), size)])
		if err != nil {
			return err
		}
		size -= int64(n)
	}
	return nil
}

// allocate makes a file that occupies its size on the disk.
func allocate(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = preallocate(f, size)
	if errors.Is(err, errors.ErrUnsupported) {
		err = fill(f, size)
	}
	return errors.Join(err, f.Close())
}
