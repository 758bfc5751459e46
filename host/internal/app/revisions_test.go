package app_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// isClosed reports whether a follower was woken.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// revisionStore has the revisions of canvases.
type revisionStore struct {
	mu     sync.Mutex
	stored map[string]app.Revision
	err    error
	reads  int
	asked  []string // of the last read
}

func (s *revisionStore) read(_ context.Context, ids []string) (map[string]app.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	s.asked = ids
	out := map[string]app.Revision{}
	for _, id := range ids {
		if v, ok := s.stored[id]; ok {
			out[id] = v
		}
	}
	return out, s.err
}

func (s *revisionStore) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func TestRevisionsAreReadOnceForAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := map[string]app.Revision{"a": {Rev: 1}, "b": {Rev: 1}, "c": {Rev: 1}}
		s := &revisionStore{stored: stored}
		r := app.NewRevisions(s.read, app.NewPresence(), runstest.Quiet)
		r.Follow("c", app.Revision{Rev: 1}).Close()
		var pages []*app.CanvasFollower
		for range 100 {
			pages = append(pages, r.Follow("a", stored["a"]), r.Follow("b", stored["b"]))
		}
		time.Sleep(time.Second / 2)
		var before int
		s.change(func() { before = s.reads })
		for second := range 60 {
			changed := pages[0].Changed()
			same := pages[1].Changed()
			s.change(func() { stored["a"] = app.Revision{Rev: int64(second + 2)} })
			time.Sleep(time.Second)
			require.True(t, isClosed(changed))
			require.False(t, isClosed(same), "pages of a canvas without changes sleep")
			for i, f := range pages {
				v, err := f.Revision()
				require.NoError(t, err)
				require.Equal(t, stored[[]string{"a", "b"}[i%2]], v)
			}
		}
		s.change(func() {
			require.Equal(t, 60, s.reads-before)
			require.ElementsMatch(t, []string{"a", "b"}, s.asked, "canvases without a page are not read")
		})
		for _, f := range pages {
			f.Close()
		}
		time.Sleep(time.Minute)
		s.change(func() { require.Equal(t, 60, s.reads-before, "without pages nothing is read") })
	})
}

func TestRevisionsOfDeletedCanvasesAndFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &revisionStore{stored: map[string]app.Revision{"a": {Rev: 2}}}
		r := app.NewRevisions(s.read, app.NewPresence(), runstest.Quiet)
		f := r.Follow("a", app.Revision{Rev: 2})
		defer f.Close()
		require.Equal(t, int64(2), revision(t, f).Rev)

		s.change(func() { s.err = errors.New("no database") })
		time.Sleep(3 * time.Second)
		require.Equal(t, int64(2), revision(t, f).Rev, "pages keep what they know")
		s.change(func() { s.err, s.stored["a"] = nil, app.Revision{Rev: 3} })
		time.Sleep(2 * time.Second)
		require.Equal(t, int64(3), revision(t, f).Rev, "the next read succeeds")

		s.change(func() { delete(s.stored, "a") })
		changed := f.Changed()
		time.Sleep(2 * time.Second)
		require.True(t, isClosed(changed))
		_, err := f.Revision()
		require.ErrorIs(t, err, app.ErrNotFound)
	})
}

func revision(t *testing.T, f *app.CanvasFollower) app.Revision {
	v, err := f.Revision()
	require.NoError(t, err)
	return v
}

// Pages are woken by visitors of their canvas, at most once a second.
func TestPagesAreWokenByTheirVisitors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		presence := app.NewPresence()
		s := &revisionStore{stored: map[string]app.Revision{"a": {Rev: 1}, "b": {Rev: 1}}}
		r := app.NewRevisions(s.read, presence, runstest.Quiet)
		a, b := r.Follow("a", app.Revision{Rev: 1}), r.Follow("b", app.Revision{Rev: 1})
		defer a.Close()
		defer b.Close()
		time.Sleep(time.Second / 2)
		woken, asleep := a.Changed(), b.Changed()
		leave := presence.Enter("a", "p", app.Visitor{ID: "1", Name: "Ana"})
		require.False(t, isClosed(woken))
		time.Sleep(time.Second)
		require.True(t, isClosed(woken))
		require.False(t, isClosed(asleep))
		woken = a.Changed()
		leave()
		time.Sleep(time.Second)
		require.True(t, isClosed(woken))
	})
}
