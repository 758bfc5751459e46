package app_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
)

func TestRevisionsAreReadOnceForAllPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stored := map[string]app.Revision{"a": {Rev: 1}, "b": {Rev: 1}, "c": {Rev: 1}}
		reads := 0
		r := app.NewRevisions(func(_ context.Context, ids []string) (map[string]app.Revision, error) {
			reads++
			require.ElementsMatch(t, []string{"a", "b"}, ids, "canvases without a page are not read")
			return map[string]app.Revision{"a": stored["a"], "b": stored["b"]}, nil
		})
		for range 100 {
			defer r.Follow("a", app.Revision{Rev: 1})()
			defer r.Follow("b", app.Revision{Rev: 1})()
		}
		r.Follow("c", app.Revision{Rev: 1})()
		for second := range 60 {
			stored["a"] = app.Revision{Rev: int64(second + 1)}
			time.Sleep(time.Second)
			for range 100 {
				for _, id := range []string{"a", "b"} {
					v, err := r.Of(t.Context(), id)
					require.NoError(t, err)
					require.Equal(t, stored[id], v)
				}
			}
		}
		require.Equal(t, 60, reads)
	})
}

func TestRevisionsOfDeletedCanvasesAndFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failure error
		found := map[string]app.Revision{"a": {Rev: 2}}
		r := app.NewRevisions(func(context.Context, []string) (map[string]app.Revision, error) {
			return found, failure
		})
		stop := r.Follow("a", app.Revision{Rev: 2})
		v, err := r.Of(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, int64(2), v.Rev)

		failure = errors.New("no database")
		time.Sleep(time.Second)
		_, err = r.Of(t.Context(), "a")
		require.ErrorIs(t, err, failure)
		failure = nil
		time.Sleep(time.Second)
		_, err = r.Of(t.Context(), "a")
		require.NoError(t, err, "the next read succeeds")

		found = map[string]app.Revision{}
		time.Sleep(time.Second)
		_, err = r.Of(t.Context(), "a")
		require.ErrorIs(t, err, app.ErrNotFound)
		stop()

		gone, cancel := context.WithCancel(t.Context())
		cancel()
		found = map[string]app.Revision{"b": {Rev: 1}}
		defer r.Follow("b", app.Revision{Rev: 1})()
		time.Sleep(time.Second)
		_, err = r.Of(gone, "b")
		require.NoError(t, err, "a page that leaves does not end the read for others")
	})
}
