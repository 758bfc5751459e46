package store

import (
	"context"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/disk"
)

// room decides whether ordinary writes are accepted while the reserve of a full disk is in use. The
// zero value accepts all.
type room struct {
	reserve *disk.Reserve
	read    querier

	mu     sync.Mutex
	looked time.Time
	free   int64 // unused pages of the database then
}

// With this many unused pages of the database (4 MiB, of deleted records), ordinary writes are
// accepted although the disk is full. They are counted every countEvery.
const (
	leastPages = 1024
	countEvery = time.Second
)

// check refuses an ordinary write. Errors: [disk.ErrFull].
func (r *room) check(ctx context.Context) error {
	full := r.reserve.Full()
	if full == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.looked) >= countEvery {
		r.looked, r.free = time.Now(), 0
		if err := r.read.QueryRowContext(ctx, `PRAGMA freelist_count`).Scan(&r.free); err != nil {
			return err
		}
	}
	if r.free >= leastPages {
		return nil
	}
	return full
}

// Full refuses writes to other files of the data directory while the reserve of a full disk is in
// use. Errors: [ErrFull].
func (s *Store) Full(ctx context.Context) error { return fail(s.room.check(ctx), "write") }

// MakeRoom frees space of a full disk for a deletion in another file of the data directory, and
// reports whether there was any.
func (s *Store) MakeRoom() bool { return s.room.reserve.Release() }
