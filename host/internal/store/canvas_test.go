package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
)

func TestCanvas(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		dsl := []byte("{\"a\":\"\\u0000 \xff\"}") // the store does not validate the document
		made, err := s.Canvases.Create(
			ctx, Canvas{Tenant: "t1", Title: "Ärger 100%", Tags: []string{"x"}, DSL: dsl}, "",
		)
		require.NoError(t, err)
		got, err := s.Canvases.Get(ctx, "t1", made.ID)
		require.NoError(t, err)
		require.Equal(t, made, got)

		t.Run("another tenant's id is not found", func(t *testing.T) {
			_, err := s.Canvases.Get(ctx, "t2", made.ID)
			require.ErrorIs(t, err, ErrNotFound)
			_, err = s.Canvases.Edit(ctx, "t2", made.ID, "", func(*Canvas) error { return nil })
			require.ErrorIs(t, err, ErrNotFound)
			require.ErrorIs(t, s.Canvases.Delete(ctx, "t2", made.ID), ErrNotFound)
			tenant, err := s.Canvases.TenantOf(ctx, made.ID)
			require.NoError(t, err)
			require.Equal(t, "t1", tenant)
		})
		t.Run("ids are unique", func(t *testing.T) {
			_, err := s.Canvases.Create(ctx, Canvas{ID: made.ID, Tenant: "t2"}, "")
			require.ErrorIs(t, err, ErrExists)
		})
		t.Run("zero bytes and invalid UTF-8 are rejected", func(t *testing.T) {
			for _, title := range []string{"a\x00b", "a\xffb"} {
				_, err := s.Canvases.Create(ctx, Canvas{Tenant: "t1", Title: title}, "")
				require.ErrorIs(t, err, ErrInvalid)
			}
		})
		t.Run("an error of change writes nothing", func(t *testing.T) {
			_, err := s.Canvases.Edit(ctx, "t1", made.ID, "", func(c *Canvas) error {
				c.Title = "lost"
				return ErrQuota
			})
			require.ErrorIs(t, err, ErrQuota)
			got, err := s.Canvases.Get(ctx, "t1", made.ID)
			require.NoError(t, err)
			require.Equal(t, made.Title, got.Title)
		})
		t.Run("delete", func(t *testing.T) {
			require.NoError(t, s.Canvases.Delete(ctx, "t1", made.ID))
			_, err := s.Canvases.Get(ctx, "t1", made.ID)
			require.ErrorIs(t, err, ErrNotFound)
		})
	})
}

func TestEditCanvasLosesNoChange(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		c, err := s.Canvases.Create(t.Context(), Canvas{Tenant: "t", DSL: []byte{}}, "")
		require.NoError(t, err)
		const editors, edits = 8, 20
		var wg sync.WaitGroup
		for e := range editors {
			wg.Go(func() {
				for done := 0; done < edits; {
					_, err := s.Canvases.Edit(t.Context(), "t", c.ID, "", func(c *Canvas) error {
						c.DSL = append(c.DSL, byte('a'+e))
						return nil
					})
					switch {
					case err == nil:
						done++
					case !errors.Is(err, ErrConflict): // a busy machine may give up with this error only
						require.NoError(t, err)
					}
				}
			})
		}
		wg.Wait()
		c, err = s.Canvases.Get(t.Context(), "t", c.ID)
		require.NoError(t, err)
		require.Len(t, c.DSL, editors*edits)
		require.EqualValues(t, 1+editors*edits, c.Rev)
	})
}

func TestCanvases(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		for i, title := range []string{"Öl", "apple", "Zebra", "100% sure", "1000 sure", "ba_r", "baar"} {
			c := Canvas{ID: fmt.Sprint(i), Tenant: "t1", Title: title, Category: "agent_canvas"}
			switch title {
			case "apple":
				c.Tags = []string{"fruit", `the "best"`}
			case "Zebra":
				c.Tags = []string{"Fruit", "b,", "striped", "50% <b>"}
			case "baar":
				c.Tags = []string{`z"fruit`, `z,"fruit`, "fru"}
			}
			_, err := s.Canvases.Create(ctx, c, "")
			require.NoError(t, err)
		}
		_, err := s.Canvases.Create(ctx, Canvas{ID: "other", Tenant: "t2", Title: "apple"}, "")
		require.NoError(t, err)
		tests := []struct {
			name   string
			filter CanvasFilter
			page   Page
			titles []string
			total  int
		}{
			{
				"letters are ordered without case, by code point",
				CanvasFilter{},
				Page{Order: "title", Asc: true},
				[]string{"100% sure", "1000 sure", "apple", "ba_r", "baar", "Zebra", "Öl"},
				7,
			},
			{
				"the page is taken after ordering and the total counts all",
				CanvasFilter{},
				Page{Order: "title", Asc: true, Offset: 2, Limit: 2},
				[]string{"apple", "ba_r"},
				7,
			},
			{"titles match without case, also beyond ASCII", CanvasFilter{Title: "öL"}, Page{}, []string{"Öl"}, 1},
			{"pattern characters match themselves", CanvasFilter{Keywords: "100%"}, Page{}, []string{"100% sure"}, 1},
			{"an underscore matches itself", CanvasFilter{Keywords: "A_R"}, Page{}, []string{"ba_r"}, 1},
			{
				"conditions are combined with and",
				CanvasFilter{Keywords: "a", Categories: []string{"x", "agent_canvas"}},
				Page{Order: "id", Asc: true},
				[]string{"apple", "Zebra", "ba_r", "baar"},
				4,
			},
			{"no match", CanvasFilter{User: "unknown"}, Page{}, nil, 0},
			{"a tag matches exactly", CanvasFilter{Tags: []string{"fruit"}}, Page{}, []string{"apple"}, 1},
			{
				"one matching tag is enough",
				CanvasFilter{Tags: []string{"nothing", "50% <b>", `the "best"`}},
				Page{Order: "title", Asc: true},
				[]string{"apple", "Zebra"},
				2,
			},
			{"a part of a tag does not match", CanvasFilter{Tags: []string{"stripe", "50%", "]", `"`}}, Page{}, nil, 0},
		}
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				test.filter.Viewer = access.All("t1")
				list, total, err := s.Canvases.List(ctx, test.filter, test.page)
				require.NoError(t, err)
				var titles []string
				for _, c := range list {
					titles = append(titles, c.Title)
				}
				require.Equal(t, test.titles, titles)
				require.Equal(t, test.total, total)
			})
		}
		_, _, err = s.Canvases.List(ctx, CanvasFilter{}, Page{})
		require.ErrorIs(t, err, ErrInvalid, "a tenant is required")
		_, _, err = s.Canvases.List(ctx, CanvasFilter{Viewer: access.All("t1")}, Page{Order: "dsl; DROP TABLE x"})
		require.ErrorIs(t, err, ErrInvalid)
	})
}

func TestVersions(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		c, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", DSL: []byte("0")}, "v0")
		require.NoError(t, err)
		save := func(dsl string) {
			_, err := s.Canvases.Edit(ctx, "t", c.ID, "v"+dsl, func(c *Canvas) error {
				c.DSL = []byte(dsl)
				return nil
			})
			require.NoError(t, err)
		}
		save("0") // saving identical content adds no version
		for i := 1; i <= 24; i++ {
			save(fmt.Sprint(i))
		}
		list, err := s.Canvases.Versions(ctx, "t", c.ID)
		require.NoError(t, err)
		require.Len(t, list, 20, "the newest 20 are kept")
		require.Equal(t, "v24", list[0].Title)
		require.Equal(t, "v5", list[19].Title)
		require.EqualValues(t, 25, list[0].Number)

		v, err := s.Canvases.Version(ctx, "t", list[3].ID)
		require.NoError(t, err)
		require.Equal(t, list[3], v)
		require.Len(t, v.Hash, 64)
		_, err = s.Canvases.Version(ctx, "other", v.ID)
		require.ErrorIs(t, err, ErrNotFound)
		hidden, err := s.Canvases.Versions(ctx, "other", c.ID)
		require.NoError(t, err)
		require.Empty(t, hidden)
	})
}

func TestRevisionsOfManyCanvases(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		ids := make([]string, mostRevisions+5) // more than one query
		for i := range ids {
			ids[i] = fmt.Sprintf("none%d", i)
		}
		for i, at := range []int{0, mostRevisions + 4} {
			c, err := s.Canvases.Create(ctx, Canvas{Tenant: fmt.Sprint("t", i), Title: "one", DSL: []byte(`{}`)}, "")
			require.NoError(t, err)
			ids[at] = c.ID
		}
		found, err := s.Canvases.Revisions(ctx, ids)
		require.NoError(t, err)
		require.Len(t, found, 2, "of any tenant")
		for i, at := range []int{0, mostRevisions + 4} {
			one, err := s.Canvases.Revision(ctx, fmt.Sprint("t", i), ids[at])
			require.NoError(t, err)
			require.Equal(t, one, found[ids[at]])
			require.Equal(t, int64(1), one.Rev)
		}
		found, err = s.Canvases.Revisions(ctx, nil)
		require.NoError(t, err)
		require.Empty(t, found)
	})
}
