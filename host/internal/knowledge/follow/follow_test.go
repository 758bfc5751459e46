package follow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// reader is a follower with what it was sent.
type reader struct {
	*Follower
	last   map[string]*Event // by document
	order  map[string]place  // of the last change of a document
	events int
	rested bool  // the last event was that no document is under way
	from   place // all changes up to it were before the reader
}

// newReader follows a dataset. The test calls the looks, so the loop does not run.
func newReader(w *Watch, id string) *reader {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := w.feeds[id]
	if d == nil {
		d = newFeed(w, id)
		w.feeds[id] = d
	}
	d.followers++
	f := &Follower{feed: d, sees: func(dataset.Head) bool { return true }, start: make(chan struct{})}
	d.join(f)
	return &reader{Follower: f, last: map[string]*Event{}, order: map[string]place{}}
}

// drain takes up to n events.
func (r *reader) drain(ctx context.Context, n int) error {
	if r.begun && r.from == (place{}) {
		r.from = r.seen
	}
	for range n {
		e, err := r.Next(ctx)
		if e == nil || err != nil {
			return err
		}
		r.events++
		if r.rested = e.Document == nil; r.rested {
			continue
		}
		if last := r.order[e.Document.ID]; e.at.before(last) {
			return fmt.Errorf("document %s: change %v after %v", e.Document.ID, e.at, last)
		}
		r.last[e.Document.ID], r.order[e.Document.ID] = e, e.at
	}
	return nil
}

// shop is a dataset whose documents are changed at random.
type shop struct {
	s   *store.Store
	rng *rand.Rand
	n   int
	tag string

	noPositions bool // are compared
}

func (c *shop) list(ctx context.Context) ([]store.Document, error) {
	list, _, err := c.s.Documents.List(ctx, store.DocumentFilter{Tenant: "t", Dataset: "1"}, store.Page{})
	return list, err
}

// change makes one random change.
func (c *shop) change(ctx context.Context) error {
	list, err := c.list(ctx)
	if err != nil {
		return err
	}
	c.n++
	id := fmt.Sprintf("%s%d", c.tag, c.n)
	if len(list) < 5 || c.rng.IntN(4) == 0 && len(list) < 60 {
		_, err := c.s.Documents.Create(ctx, store.Document{Tenant: "t", Document: dataset.Document{
			ID: id, Dataset: "1", Name: id, State: dataset.Unparsed,
		}}, 0)
		return err
	}
	v := list[c.rng.IntN(len(list))]
	queue := c.s.Ingestion
	switch c.rng.IntN(10) {
	case 0:
		_, err = c.s.Documents.Delete(ctx, "t", "1", v.ID)
	case 1:
		_, err = c.s.Documents.Edit(ctx, "t", "1", v.ID, func(v *store.Document) (store.Affects, error) {
			v.Meta = map[string]any{"n": float64(c.n)}
			return store.Metadata, nil
		})
	case 2:
		err = queue.Cancel(ctx, "t", "1", v.ID, "")
	case 3, 4, 5:
		err = queue.Queue(ctx, "t", "1", v.ID)
	default:
		err = c.work(ctx, v, id)
	}
	if errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// work claims a document, or reports progress of one that is running, ends or releases it.
func (c *shop) work(ctx context.Context, v store.Document, lease string) (err error) {
	if v.State != dataset.Running {
		_, err = c.s.Ingestion.Claim(ctx, store.Claim{
			Lease: lease, Until: time.Now().Add(time.Hour).UnixMilli(), Due: 1e15,
			File: func(*store.Document) string { return "c/" + lease },
		})
		return err
	}
	switch c.rng.IntN(5) {
	case 0:
		err = c.s.Ingestion.Release(ctx, &v)
	case 1, 2, 3:
		v.State, v.Progress = dataset.Done, 1
		_, err = c.s.Ingestion.Finish(ctx, store.Finished{Document: v})
	default:
		v.Progress = float64(c.rng.IntN(9)) / 10
		err = c.s.Ingestion.Renew(ctx, &v, time.Now().Add(time.Hour).UnixMilli())
	}
	return err
}

// requireKnown checks that a reader was sent the documents as they are, as far as they were under
// way when it joined or have changed since, and that none is under way.
func (c *shop) requireKnown(t *testing.T, r *reader) {
	t.Helper()
	list, err := c.list(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.s.Ingestion.CountAhead(t.Context(), list))
	active := false
	for _, v := range list {
		active = active || isUnderWay(v.State)
		e := r.last[v.ID]
		if e == nil {
			require.False(t, isUnderWay(v.State), "document %s is %s", v.ID, v.State)
			changes, err := c.s.Changes.These(t.Context(), "1", []string{v.ID})
			require.NoError(t, err)
			require.True(t, placeOf(&changes[0]).before(r.from), "document %s was changed", v.ID)
			continue
		}
		got, want := *e.Document, v.Document
		want.Messages, got.Messages = "", ""
		if c.noPositions {
			want.Queue = got.Queue
		}
		require.Equal(t, want, got)
	}
	require.Equal(t, !active, r.rested, "the last event is the end, if no document is under way")
}

func open(t *testing.T, engine string) (hosts []*store.Store) {
	cfg := store.Config{Dir: t.TempDir()}
	if engine == "postgres" {
		cfg.URL = servertest.NewSchema(t)
	}
	for range 2 {
		hosts = append(hosts, runstest.Records(t, cfg))
	}
	_, err := hosts[0].Datasets.Create(t.Context(), store.Dataset{Dataset: dataset.Dataset{
		ID: "1", Tenant: "t", Name: "shop", Method: "naive",
	}})
	require.NoError(t, err)
	return hosts
}

// Readers that join at any time and read at any pace, on any host, end with the documents as they
// are: they miss no change, go back to no older one, and get the end last.
func TestReadersMissNoChange(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			hosts := open(t, "sqlite")
			rng, now := rand.New(rand.NewPCG(seed, 1)), time.Now()
			c := &shop{s: hosts[0], rng: rng, tag: "d"}
			watches := []*Watch{}
			for _, s := range hosts {
				w := New(Config{Source: s.Changes, Logger: slog.New(slog.DiscardHandler)})
				w.most = 64 + rng.IntN(20)
				if c.noPositions = seed%2 == 0; c.noPositions {
					w.most = 1 + rng.IntN(20) // fewer than positions of one look
				}
				watches = append(watches, w)
			}
			var readers []*reader
			for range 300 {
				switch w := watches[rng.IntN(2)]; rng.IntN(6) {
				case 0:
					now = now.Add(time.Duration(rng.IntN(3)) * time.Second)
					require.NoError(t, w.look(t.Context(), now))
				case 1:
					if len(readers) < 12 && rng.IntN(4) == 0 {
						readers = append(readers, newReader(w, "1"))
					}
				case 2:
					if len(readers) > 0 {
						require.NoError(t, readers[rng.IntN(len(readers))].drain(t.Context(), 1+rng.IntN(10)))
					}
				default:
					require.NoError(t, c.change(t.Context()))
				}
			}
			require.NotEmpty(t, readers)
			settle(t, watches, readers, now)
			for i, r := range readers {
				t.Log("reader", i, "of", r.events, "events")
				c.requireKnown(t, r)
			}
		})
	}
}

// settle makes looks until the readers have all events, and once more after the time in which all
// positions are sent again.
func settle(t *testing.T, watches []*Watch, readers []*reader, now time.Time) {
	for range 4 {
		now = now.Add(2 * farEvery)
		for _, w := range watches {
			require.NoError(t, w.look(t.Context(), now))
		}
		for _, r := range readers {
			require.NoError(t, r.drain(t.Context(), 1<<20))
		}
	}
}

// The same while hosts change documents, look and read at the same time.
func TestReadersMissNoChangeConcurrently(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			hosts := open(t, engine)
			watches, readers := []*Watch{}, []*reader{}
			c := &shop{s: hosts[0]}
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var looking, changing, reading sync.WaitGroup
			failures := make(chan error, 100)
			for i, s := range hosts {
				w := New(Config{Source: s.Changes, Logger: slog.New(slog.DiscardHandler)})
				w.most = 64
				watches = append(watches, w)
				for range 3 {
					readers = append(readers, newReader(w, "1"))
				}
				looking.Go(func() {
					for n := time.Duration(0); ctx.Err() == nil; n++ {
						if err := w.look(t.Context(), time.Now().Add(n*time.Second)); err != nil {
							failures <- err
							return
						}
					}
				})
				changing.Go(func() {
					c := &shop{s: s, rng: rand.New(rand.NewPCG(uint64(i), 7)), tag: fmt.Sprint("h", i, "-")}
					for range 80 {
						if err := c.change(t.Context()); err != nil {
							failures <- err
							return
						}
					}
				})
			}
			for i, r := range readers {
				reading.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(i), 9))
					for ctx.Err() == nil {
						changed := r.Changed()
						if err := r.drain(t.Context(), 1+rng.IntN(30)); err != nil {
							failures <- err
							return
						}
						if rng.IntN(2) == 0 {
							select {
							case <-changed:
							case <-ctx.Done():
							}
						}
					}
				})
			}
			changing.Wait()
			stop()
			looking.Wait()
			reading.Wait()
			close(failures)
			for err := range failures {
				require.NoError(t, err)
			}
			settle(t, watches, readers, time.Now().Add(time.Hour))
			for _, r := range readers {
				c.requireKnown(t, r)
			}
		})
	}
}

// countedSource has datasets without documents, and counts what is read.
type countedSource struct {
	mu     sync.Mutex
	heads  map[string]dataset.Head
	err    error
	reads  int // of heads
	others int
}

func (s *countedSource) Heads(_ context.Context, ids []string) (map[string]dataset.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	out := map[string]dataset.Head{}
	for _, id := range ids {
		if h, ok := s.heads[id]; ok {
			out[id] = h
		}
	}
	return out, s.err
}

func (s *countedSource) After(context.Context, string, int64, string, int) ([]dataset.Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.others++
	return nil, s.err
}

func (s *countedSource) UnderWay(context.Context, string, int64, string, int) ([]dataset.Change, error) {
	return s.After(context.Background(), "", 0, "", 0)
}

func (s *countedSource) Dataset(_ context.Context, id string) (dataset.Dataset, error) {
	_, err := s.After(context.Background(), "", 0, "", 0)
	return dataset.Dataset{ID: id}, err
}

func (s *countedSource) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// What is read does not depend on the number of followers, and nothing is read without any.
// Followers outlive a source that fails for a while.
func TestReadsOfIdleFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &countedSource{heads: map[string]dataset.Head{"a": {ID: "a"}, "b": {ID: "b"}}}
		w := New(Config{Source: s, Logger: slog.New(slog.DiscardHandler)})
		everybody := func(dataset.Head) bool { return true }
		var all []*Follower
		for range 500 {
			all = append(all, w.Follow("a", everybody), w.Follow("b", everybody))
		}
		time.Sleep(1500 * time.Millisecond)
		for _, f := range all {
			requireEvents(t, f, 1)
		}
		s.change(func() { s.reads, s.others, s.err = 0, 0, errors.New("no database") })
		time.Sleep(10 * time.Second)
		s.change(func() { s.err = nil })
		time.Sleep(50 * time.Second)
		s.change(func() { require.Equal(t, []int{60, 0}, []int{s.reads, s.others}) })
		for _, f := range all {
			requireEvents(t, f, 0)
		}
		changed := all[0].Changed()
		s.change(func() { delete(s.heads, "a") })
		time.Sleep(time.Second)
		<-changed
		for i, f := range all {
			_, err := f.Next(t.Context())
			require.Equal(t, i%2 == 0, errors.Is(err, ErrGone))
			f.Close()
		}
		s.change(func() { s.reads = 0 })
		time.Sleep(time.Minute)
		s.change(func() { require.Zero(t, s.reads) })
	})
}

func requireEvents(t *testing.T, f *Follower, n int) {
	t.Helper()
	for range n {
		e, err := f.Next(t.Context())
		require.NoError(t, err)
		require.NotNil(t, e)
	}
	e, err := f.Next(t.Context())
	require.NoError(t, err)
	require.Nil(t, e)
}
