// Package follow sends the changes of documents to those who follow a dataset.
//
// A [Watch] reads for all followers of this host: each second the number of the last change of
// every followed dataset, in one query, and then only the documents that have changed. Their events
// are encoded once and shared. A [Follower] first gets the documents under way, then each change of
// a document, and an event when no document is under way any more.
//
// Memory is bounded by datasets, not by followers: a dataset keeps its last events, and a follower
// has a position in them. One that is too slow for them reads the missed changes itself, in small
// pages; a document that has changed several times since is then sent once, in its present state.
package follow

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/easel-canvas/easel/host/internal/poll"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Source has datasets and the numbered changes of their documents.
type Source interface {
	// Heads returns the heads of datasets by their ids; those that do not exist are left out. A
	// number is there only after the changes with lower ones.
	Heads(ctx context.Context, ids []string) (map[string]dataset.Head, error)
	// After returns documents by their last changes, in order, behind that of a document with a
	// number.
	After(ctx context.Context, id string, seq int64, document string, limit int) ([]dataset.Change, error)
	// UnderWay returns documents that are queued or running, the newest first, behind the one with
	// a creation time and an id; 0 means from the newest.
	UnderWay(ctx context.Context, id string, created int64, document string, limit int) ([]dataset.Change, error)
	// Dataset returns a dataset.
	Dataset(ctx context.Context, id string) (dataset.Dataset, error)
}

// Queue is optional for a Source: its documents have a position in the queue, which is sent too.
type Queue interface {
	// First returns the documents at the front of the queue of all datasets.
	First(ctx context.Context) ([]dataset.Waiting, error)
	// These returns documents of a dataset by their ids, as far as they exist.
	These(ctx context.Context, id string, documents []string) ([]dataset.Change, error)
}

// ErrGone means that the dataset was deleted, or that the follower does not see it any more.
var ErrGone = errors.New("the dataset is gone")

// Config configures a Watch. Source and Logger are required.
type Config struct {
	Source Source
	// Every is the time between two reads; 0 means 1 s.
	Every  time.Duration
	Logger *slog.Logger
}

// readers bounds the followers that read missed changes at the same time.
const readers = 2

// Watch reads the changes of followed datasets. It is safe for concurrent use. It reads only while
// there are followers.
type Watch struct {
	source Source
	queue  Queue // nil without one
	loop   poll.Loop
	reads  chan struct{} // slots of followers that read
	most   int           // events that a dataset keeps; tests lower it

	mu    sync.Mutex
	feeds map[string]*feed // by dataset
}

// New returns a Watch without followers.
func New(cfg Config) *Watch {
	w := &Watch{
		source: cfg.Source, reads: make(chan struct{}, readers), most: mostEvents, feeds: map[string]*feed{},
	}
	w.queue, _ = cfg.Source.(Queue)
	w.loop = poll.Loop{
		Every: cmp.Or(cfg.Every, time.Second), Logger: cfg.Logger, Name: "datasets",
		Look: func(ctx context.Context) error { return w.look(ctx, time.Now()) },
	}
	return w
}

// Follow returns a follower of a dataset, which the caller closes. sees is called with its head
// before events are returned.
func (w *Watch) Follow(id string, sees func(dataset.Head) bool) *Follower {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.feeds[id]
	if d == nil {
		d = newFeed(w, id)
		w.feeds[id] = d
	}
	d.followers++
	f := &Follower{feed: d, sees: sees, start: make(chan struct{})}
	d.join(f)
	w.loop.Enter()
	w.loop.Again()
	return f
}

// leave removes a follower of a dataset.
func (w *Watch) leave(d *feed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d.followers--; d.followers == 0 {
		delete(w.feeds, d.id)
	}
	w.loop.Leave()
}

// look reads the changes and passes them to the followers.
func (w *Watch) look(ctx context.Context, now time.Time) error {
	w.mu.Lock()
	feeds, ids := make([]*feed, 0, len(w.feeds)), make([]string, 0, len(w.feeds))
	for id, d := range w.feeds {
		feeds, ids = append(feeds, d), append(ids, id)
		d.admit()
	}
	w.mu.Unlock()
	heads, err := w.source.Heads(ctx, ids)
	if err != nil {
		return err
	}
	l := &look{w: w, ctx: ctx, now: now}
	var failed []error
	for _, d := range feeds {
		head, there := heads[d.id]
		if !there {
			d.end()
			continue
		}
		failed = append(failed, d.advance(l, head))
	}
	return errors.Join(failed...)
}

// look is one read for all followed datasets.
type look struct {
	w     *Watch
	ctx   context.Context
	now   time.Time
	read  bool             // the queue has been read
	ahead map[string]queue // by dataset
	most  int              // documents of the queue
}

// positions returns the positions of the documents of a dataset in the queue.
func (l *look) positions(id string) (queue, error) {
	if l.w.queue == nil {
		return queue{}, nil
	}
	if !l.read {
		list, err := l.w.queue.First(l.ctx)
		if err != nil {
			return queue{}, err
		}
		l.read, l.ahead, l.most = true, map[string]queue{}, len(list)
		for i, v := range list {
			q, known := l.ahead[v.Dataset]
			if !known {
				q = queue{map[string]int{}, l.most}
				l.ahead[v.Dataset] = q
			}
			q.ahead[v.Document] = i
		}
	}
	if q, known := l.ahead[id]; known {
		return q, nil
	}
	return queue{map[string]int{}, l.most}, nil
}
