package folder

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/knowledge/follow"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// until reads the events of a follower until one fits.
func until(t *testing.T, f *follow.Follower, fits func(*follow.Event) bool) {
	t.Helper()
	for {
		changed := f.Changed()
		e, err := f.Next(t.Context())
		require.NoError(t, err)
		switch {
		case e != nil && fits(e):
			return
		case e != nil:
			continue
		}
		select {
		case <-changed:
		case <-time.After(patience):
			require.FailNow(t, "no such event")
		}
	}
}

func isIdle(e *follow.Event) bool { return e.Dataset != nil }

// Followers of a dataset of the folder get what changes, and no more.
func TestFollowersOfAFolder(t *testing.T) {
	root := files(t, "a/1.txt", "first", "a/2.txt", "second")
	f := opened(t, Config{Root: root, Dir: t.TempDir(), Poll: time.Millisecond})
	require.NoError(t, f.Await(t.Context()))
	w := follow.New(follow.Config{Source: f.Changes(), Every: time.Millisecond, Logger: quiet})
	everybody := func(dataset.Head) bool { return true }
	a := w.Follow(idOf("a"), everybody)
	defer a.Close()
	until(t, a, func(e *follow.Event) bool {
		require.True(t, isIdle(e), "nothing has changed")
		require.Equal(t, 2, e.Dataset.Documents)
		return true
	})
	write(t, root, "a/1.txt", "changed")
	until(t, a, func(e *follow.Event) bool {
		require.NotNil(t, e.Document)
		require.Equal(t, "1.txt", e.Document.Name)
		return e.Document.State == dataset.Done
	})
	until(t, a, isIdle)
	require.NoError(t, os.Remove(filepath.Join(root, "a", "2.txt")))
	require.Eventually(t, func() bool { return f.document(t, "a", "2.txt").ID == "" }, patience, time.Millisecond)
	late := w.Follow(idOf("a"), everybody)
	defer late.Close()
	until(t, late, func(e *follow.Event) bool {
		require.True(t, isIdle(e))
		require.Equal(t, 1, e.Dataset.Documents)
		return true
	})
	require.NoError(t, os.RemoveAll(filepath.Join(root, "a")))
	for {
		changed := a.Changed()
		if _, err := a.Next(t.Context()); errors.Is(err, follow.ErrGone) {
			break
		}
		<-changed
	}
}

// The documents of a dataset are paged by their changes, and those under way by their age.
func TestPagesOfChanges(t *testing.T) {
	root := files(t, "a/1.txt", "first", "a/2.txt", "second", "a/3.txt", "third")
	f := opened(t, Config{Root: root, Dir: t.TempDir(), Poll: -1})
	require.NoError(t, f.Await(t.Context()))
	c, ctx := f.Changes(), context.Background()
	f.mu.Lock()
	for i, name := range []string{"2.txt", "1.txt", "3.txt"} {
		d := *f.datasets["a"].documents[name]
		d.State, d.Created = dataset.Queued, int64(5-i/2)
		f.datasets["a"].documents[name] = &d
	}
	f.mu.Unlock()
	heads, err := c.Heads(ctx, []string{idOf("a"), "unknown"})
	require.NoError(t, err)
	require.Len(t, heads, 1)
	var changed, underWay []string
	last := dataset.Change{}
	for {
		list, err := c.After(ctx, idOf("a"), last.Seq, last.ID, 1)
		require.NoError(t, err)
		if len(list) == 0 {
			break
		}
		last = list[0]
		changed = append(changed, last.Name)
	}
	require.ElementsMatch(t, []string{"1.txt", "2.txt", "3.txt"}, changed)
	require.Equal(t, heads[idOf("a")].Changes, last.Seq)
	last = dataset.Change{}
	for {
		list, err := c.UnderWay(ctx, idOf("a"), last.Created, last.ID, 1)
		require.NoError(t, err)
		if len(list) == 0 {
			break
		}
		last = list[0]
		underWay = append(underWay, last.Name)
	}
	require.ElementsMatch(t, []string{"1.txt", "2.txt", "3.txt"}, underWay)
	require.Equal(t, "3.txt", underWay[2], "the oldest last")
}
