package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/poll"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Revision is the revision of a canvas and its update time, Unix milliseconds.
type Revision = store.Revision

// Revisions reads the revisions of canvases that pages follow, which other hosts may change too:
// all of them once a second, however many pages there are. It may be used concurrently.
type Revisions struct {
	read     func(ctx context.Context, ids []string) (map[string]Revision, error)
	presence *Presence
	loop     poll.Loop

	mu       sync.Mutex
	canvases map[string]*followedCanvas
}

// followedCanvas is a canvas that pages follow.
type followedCanvas struct {
	followers int
	known     Revision
	gone      bool
	people    int           // number of the change of its visitors that pages know of
	changed   chan struct{} // closed at the next change
}

// NewRevisions returns Revisions that reads with read, which leaves out canvases that do not exist.
// Pages are also woken when the visitors of their canvas change.
func NewRevisions(
	read func(ctx context.Context, ids []string) (map[string]Revision, error), presence *Presence, logger *slog.Logger,
) *Revisions {
	r := &Revisions{read: read, presence: presence, canvases: map[string]*followedCanvas{}}
	r.loop = poll.Loop{Every: time.Second, Look: r.look, Logger: logger, Name: "canvases"}
	return r
}

// CanvasFollower is a page that follows a canvas.
type CanvasFollower struct {
	r  *Revisions
	id string
	c  *followedCanvas
}

// Follow adds a follower of a canvas that has a revision now. The caller closes it.
func (r *Revisions) Follow(canvas string, now Revision) *CanvasFollower {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.canvases[canvas]
	if c == nil {
		c = &followedCanvas{changed: make(chan struct{})}
		r.canvases[canvas] = c
	}
	if c.followers++; now.Rev > c.known.Rev {
		c.known = now
	}
	r.loop.Enter()
	return &CanvasFollower{r, canvas, c}
}

// Close ends the follower.
func (f *CanvasFollower) Close() {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	if f.c.followers--; f.c.followers == 0 {
		delete(f.r.canvases, f.id)
	}
	f.r.loop.Leave()
}

// Changed returns a channel that is closed when the revision or the visitors have changed since
// the call.
func (f *CanvasFollower) Changed() <-chan struct{} {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	return f.c.changed
}

// Revision returns the revision of the canvas, about a second old. Errors: [ErrNotFound] if the
// canvas was deleted.
func (f *CanvasFollower) Revision() (Revision, error) {
	f.r.mu.Lock()
	defer f.r.mu.Unlock()
	if f.c.gone {
		return Revision{}, missing(ErrNotFound, "canvas")
	}
	return f.c.known, nil
}

// look reads the revisions for all followers, and wakes those whose canvas has changed.
func (r *Revisions) look(ctx context.Context) error {
	r.mu.Lock()
	ids, asked := make([]string, 0, len(r.canvases)), make(map[string]*followedCanvas, len(r.canvases))
	for id, c := range r.canvases {
		ids, asked[id] = append(ids, id), c
	}
	r.mu.Unlock()
	known, err := r.read(ctx, ids)
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, c := range asked {
		now, there := known[id]
		people := r.presence.changes(id)
		if people == c.people && (err != nil || there == !c.gone && now == c.known) {
			continue
		}
		if c.people = people; err == nil {
			c.known, c.gone = now, !there
		}
		close(c.changed)
		c.changed = make(chan struct{})
	}
	return err
}
