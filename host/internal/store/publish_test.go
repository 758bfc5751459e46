package store

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// edit saves a document and optionally publishes it.
func edit(t *testing.T, s *Store, id, dsl string, publish bool) Canvas {
	t.Helper()
	c, err := s.Canvases.Edit(t.Context(), "t", id, "v"+dsl, func(c *Canvas) error {
		require.False(t, c.Released, "Released is reset for each edit")
		c.DSL, c.Released = []byte(dsl), publish
		return nil
	})
	require.NoError(t, err)
	read, err := s.Canvases.Get(t.Context(), "t", id)
	require.NoError(t, err)
	require.Equal(t, read, c, "the returned canvas is the stored one")
	return c
}

func TestPublish(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		c, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", DSL: []byte("1")}, "v1")
		require.NoError(t, err)
		require.Equal(t, Publication{VersionTitle: "v1"}, c.Publication)
		published := func(c Canvas) string {
			v, err := s.Canvases.Version(ctx, "t", c.Published)
			require.NoError(t, err)
			require.Equal(t, c.PublishTime, v.PublishTime)
			require.NotZero(t, v.PublishTime)
			return string(v.DSL)
		}

		c = edit(t, s, c.ID, "1", true)
		require.True(t, c.Released, "a document that has a version already is published in place")
		require.Equal(t, "1", published(c))
		first := c.Published
		list, err := s.Canvases.Versions(ctx, "t", c.ID)
		require.NoError(t, err)
		require.Len(t, list, 1)

		c = edit(t, s, c.ID, "2", false)
		require.False(t, c.Released)
		require.Equal(t, "1", published(c), "an edit does not change the published version")
		require.Equal(t, "v2", c.VersionTitle)

		c = edit(t, s, c.ID, "3", true)
		require.True(t, c.Released)
		require.Equal(t, "3", published(c))

		c, err = s.Canvases.Publish(ctx, "t", c.ID, first, "ann")
		require.NoError(t, err)
		require.Equal(t, "1", published(c), "an older version can be published again")
		require.False(t, c.Released)
		require.Equal(t, "3", string(c.DSL))
		require.Equal(t, "v3", c.VersionTitle)
		require.EqualValues(t, 5, c.Rev, "publishing increments the revision")

		c, err = s.Canvases.Edit(ctx, "t", c.ID, "", func(c *Canvas) error {
			c.DSL, c.Released = []byte("state"), true
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, "1", published(c), "without a new version nothing is published")
		require.False(t, c.Released)

		c = edit(t, s, c.ID, "3", false)
		require.False(t, c.Released)
		c, err = s.Canvases.Publish(ctx, "t", c.ID, list[0].ID, "bob")
		require.NoError(t, err)
		require.False(t, c.Released)

		t.Run("a new canvas can be published", func(t *testing.T) {
			c, err := s.Canvases.Create(
				ctx,
				Canvas{Tenant: "t", DSL: []byte("1"), Publication: Publication{Released: true, Published: "forged"}},
				"v",
			)
			require.NoError(t, err)
			require.True(t, c.Released)
			require.Equal(t, "1", published(c))
			read, err := s.Canvases.Get(ctx, "t", c.ID)
			require.NoError(t, err)
			require.Equal(t, read, c)
		})
		t.Run("ids of other tenants and canvases are not found", func(t *testing.T) {
			other, err := s.Canvases.Create(ctx, Canvas{Tenant: "other", DSL: []byte("x")}, "v")
			require.NoError(t, err)
			theirs, err := s.Canvases.Versions(ctx, "other", other.ID)
			require.NoError(t, err)
			for _, ids := range [][3]string{
				{"other", c.ID, first}, {"t", other.ID, theirs[0].ID}, {"t", c.ID, theirs[0].ID}, {"t", c.ID, ""}, {"t", c.ID, "nothing"}, {"t", "nothing", first},
			} {
				_, err := s.Canvases.Publish(ctx, ids[0], ids[1], ids[2], "ann")
				require.ErrorIs(t, err, ErrNotFound, ids)
			}
			now, err := s.Canvases.Get(ctx, "t", c.ID)
			require.NoError(t, err)
			require.Equal(t, c, now, "nothing is written")
		})
	})
}

// Published versions are kept, however many others are saved.
func TestPublishedVersionsAreKept(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		c, err := s.Canvases.Create(t.Context(), Canvas{Tenant: "t", DSL: []byte("0")}, "v0")
		require.NoError(t, err)
		for i := 1; i <= 50; i++ {
			c = edit(t, s, c.ID, fmt.Sprint(i), i == 3 || i == 20)
		}
		list, err := s.Canvases.Versions(t.Context(), "t", c.ID)
		require.NoError(t, err)
		require.Len(t, list, 22)
		require.Equal(t, "v20", list[20].Title)
		require.Equal(t, "v3", list[21].Title)
		require.Equal(t, list[20].ID, c.Published)
		require.EqualValues(t, 51, list[0].Number)
	})
}

// The published version of a canvas exists after concurrent saves and publications.
func TestConcurrentPublish(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		c, err := s.Canvases.Create(t.Context(), Canvas{Tenant: "t", DSL: []byte("0")}, "v0")
		require.NoError(t, err)
		var wg sync.WaitGroup
		for e := range 6 {
			wg.Go(func() {
				for i := range 10 {
					edited, err := s.Canvases.Edit(t.Context(), "t", c.ID, "v", func(c *Canvas) error {
						c.DSL, c.Released = fmt.Appendf(nil, "%d %d", e, i), i%3 == 0
						return nil
					})
					require.NoError(t, err)
					if i%5 == 4 {
						_, err := s.Canvases.Publish(t.Context(), "t", c.ID, edited.Published, "ann")
						require.NoError(t, err)
					}
				}
			})
		}
		wg.Wait()
		c, err = s.Canvases.Get(t.Context(), "t", c.ID)
		require.NoError(t, err)
		v, err := s.Canvases.Version(t.Context(), "t", c.Published)
		require.NoError(t, err)
		require.Equal(t, c.PublishTime, v.PublishTime)
	})
}
