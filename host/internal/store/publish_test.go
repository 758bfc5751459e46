package store

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
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

// A dump from before the introduction of published versions loads as the migration converts
// existing records.
func TestReleasedInAnOlderDump(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			ctx := t.Context()
			cfg := engineConfig(t, engine)
			from := openTest(t, cfg)
			asked, err := from.Canvases.Create(
				ctx, Canvas{Tenant: "t", Title: "asked", DSL: []byte("1"), Publication: Publication{Released: true}},
				"v1",
			)
			require.NoError(t, err)
			_, err = from.Canvases.Create(ctx, Canvas{Tenant: "t", Title: "never", DSL: []byte("1")}, "v2")
			require.NoError(t, err)
			// Restore the earlier state: flags without the columns derived from them.
			for _, text := range []string{
				`UPDATE versions SET publish_time = 0`, `UPDATE canvases SET published = '', publish_time = 0, version_title = ''`,
				`INSERT INTO canvases SELECT 'bare', tenant_id, user_id, title, title_fold, find, description, avatar, type, category, permission, tags, 1, dsl, rev,
					create_time, update_time, '', 0, '', '', '', '' FROM canvases WHERE title = 'asked'`,
			} {
				_, err := from.commit.exec(ctx, text)
				require.NoError(t, err)
			}
			var dump bytes.Buffer
			require.NoError(t, from.Dump(ctx, &dump))
			for _, schema := range []string{"4", "-7"} {
				to := engineConfig(t, engine)
				to.KeyFile = cfg.Dir + "/secret.key"
				s := openTest(t, to)
				require.NoError(t, s.Load(ctx, strings.NewReader(regexp.MustCompile(`"schema":\d+`).ReplaceAllString(dump.String(), `"schema":`+schema))))
				got, err := s.Canvases.Get(ctx, "t", asked.ID)
				require.NoError(t, err)
				require.Equal(t, asked.Publication, got.Publication)
				list, _, err := s.Canvases.List(ctx, CanvasFilter{Viewer: access.All("t"), Title: "never"}, Page{})
				require.NoError(t, err)
				require.Equal(t, Publication{VersionTitle: "v2"}, list[0].Publication)
				bare, err := s.Canvases.Get(ctx, "t", "bare")
				require.NoError(t, err)
				require.Equal(t, Publication{}, bare.Publication, "without a version there is nothing to publish")
			}
		})
	}
}

// A database of the previous version is migrated with its records.
func TestMigrationOfReleases(t *testing.T) {
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			ctx := t.Context()
			cfg := engineConfig(t, engine)
			s, err := connect(ctx, cfg)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			require.NoError(t, err)
			const canvas = `INSERT INTO canvases (id, tenant_id, user_id, title, title_fold, find, description, avatar, type, category, permission,
				tags, released, dsl, rev, create_time, update_time) VALUES ($1, 't', 'u', '', $3, '', '', '', '', '', 'me', '[]', $2, $3, 1, 5, 7)`
			const version = `INSERT INTO versions (id, canvas_id, number, title, description, hash, dsl, create_time) VALUES ($1, $2, $3, $1, '', '', $4, 6)`
			require.NoError(t, s.write(ctx, "old tables", func(ctx context.Context, q querier) error {
				_, err := schemaVersion(ctx, q)
				require.NoError(t, err)
				for n := 1; n <= 4; n++ {
					file, err := fs.Glob(migrations, fmt.Sprintf("migrations/%04d_*.sql", n))
					require.NoError(t, err)
					require.NoError(t, applyMigration(ctx, q, s.engine, file[0], n))
				}
				for id, released := range map[string]int64{"asked": 1, "never": 0, "bare": 1} {
					_, err := q.ExecContext(ctx, canvas, id, released, []byte("d"))
					require.NoError(t, err)
					for n := int64(1); n <= 2 && id != "bare"; n++ {
						_, err := q.ExecContext(ctx, version, fmt.Sprint(id, n), id, n, []byte("d"))
						require.NoError(t, err)
					}
				}
				return nil
			}))
			require.NoError(t, s.prepare(ctx, cfg))
			for id, want := range map[string]Publication{
				"asked": {Released: true, Published: "asked2", Publisher: "u", PublishTime: 7, VersionTitle: "asked2"},
				"never": {VersionTitle: "never2"}, "bare": {},
			} {
				c, err := s.Canvases.Get(ctx, "t", id)
				require.NoError(t, err)
				require.Equal(t, want, c.Publication, id)
				list, err := s.Canvases.Versions(ctx, "t", id)
				require.NoError(t, err)
				for _, v := range list {
					require.Equal(t, v.ID == want.Published, v.PublishTime == 7, v.ID)
				}
			}
		})
	}
}
