package app

import (
	"context"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/store"
)

// revisionAge is how old a revision of a followed canvas may be, and revisionWait bounds a read.
const (
	revisionAge  = 900 * time.Millisecond
	revisionWait = 10 * time.Second
)

// Revision is the revision of a canvas and its update time, Unix milliseconds.
type Revision = store.Revision

// Revisions reads the revisions of canvases that pages follow, which other hosts may change too:
// all of them at once, however many pages there are. It may be used concurrently.
type Revisions struct {
	read func(ctx context.Context, ids []string) (map[string]Revision, error)

	mu        sync.Mutex
	followers map[string]int
	known     map[string]Revision
	at        time.Time // of the last read
	err       error     // of the last read
}

// NewRevisions returns Revisions that reads with read, which leaves out canvases that do not exist.
func NewRevisions(read func(ctx context.Context, ids []string) (map[string]Revision, error)) *Revisions {
	return &Revisions{read: read, followers: map[string]int{}, known: map[string]Revision{}}
}

// Follow adds a follower of a canvas that has a revision now, until stop is called, which must be
// called once.
func (r *Revisions) Follow(canvas string, now Revision) (stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followers[canvas]++
	if now.Rev > r.known[canvas].Rev {
		r.known[canvas] = now
	}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.followers[canvas]--; r.followers[canvas] == 0 {
			delete(r.followers, canvas)
			delete(r.known, canvas)
		}
	}
}

// Of returns the revision of a followed canvas, at most a second old. Errors: [ErrNotFound] for one
// that was deleted.
func (r *Revisions) Of(ctx context.Context, canvas string) (Revision, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) >= revisionAge {
		r.refresh(ctx)
	}
	v, ok := r.known[canvas]
	switch {
	case r.err != nil:
		return Revision{}, r.err
	case !ok:
		return Revision{}, missing(ErrNotFound, "canvas")
	}
	return v, nil
}

// refresh reads for all followers; that of the caller may leave meanwhile.
func (r *Revisions) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), revisionWait)
	defer cancel()
	ids := make([]string, 0, len(r.followers))
	for id := range r.followers {
		ids = append(ids, id)
	}
	known, err := r.read(ctx, ids)
	if r.at, r.err = time.Now(), err; err == nil {
		r.known = known
	}
}
