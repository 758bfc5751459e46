package app_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/testing/datasettest"
)

// A follower ends when its principal does not see the dataset any more; others continue.
func TestFollowerWithoutAccessEnds(t *testing.T) {
	f := datasettest.New(t, datasettest.Options{Idle: true})
	ctx := t.Context()
	ann, ben := app.Principal{Tenant: "t", User: "ann"}, app.Principal{Tenant: "t", User: "ben"}
	ds, err := f.Create(ctx, ann, dataset.Dataset{Name: "shop", Team: true})
	require.NoError(t, err)
	stranger := f.Followers.Follow(app.Principal{Tenant: "other"}, ds.ID)
	defer stranger.Close()
	_, err = nextEvent(t, stranger)
	require.ErrorIs(t, err, app.ErrDatasetGone)
	mine, other := f.Followers.Follow(ann, ds.ID), f.Followers.Follow(ben, ds.ID)
	defer mine.Close()
	defer other.Close()
	for _, follower := range []*app.DatasetFollower{mine, other} {
		e, err := nextEvent(t, follower)
		require.NoError(t, err)
		require.NotNil(t, e.Dataset)
	}
	private := false
	_, err = f.Update(ctx, ann, ds.ID, app.DatasetPatch{Team: &private})
	require.NoError(t, err)
	_, err = nextEvent(t, other)
	require.ErrorIs(t, err, app.ErrDatasetGone)
	d, err := f.Upload(ctx, ann, ds.ID, app.Upload{Name: "a.txt"})
	require.NoError(t, err)
	e, err := nextEvent(t, mine)
	require.NoError(t, err)
	require.Equal(t, d.ID, e.Document.ID)
}

// nextEvent waits for the next event of a follower.
func nextEvent(t *testing.T, f *app.DatasetFollower) (*app.DatasetEvent, error) {
	for {
		changed := f.Changed()
		if e, err := f.Next(t.Context()); e != nil || err != nil {
			return e, err
		}
		select {
		case <-changed:
		case <-time.After(datasettest.Patience):
			require.FailNow(t, "no event")
		}
	}
}
