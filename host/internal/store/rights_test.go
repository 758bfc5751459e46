package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Lists and their totals have exactly the rows that access.Viewer.Role lets a viewer use, of
// canvases, datasets, runs and sessions, also of deleted canvases, in each project.
func TestListsHaveWhatAViewerMayUse(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		owners := []string{"ann", "bob", ""}
		for _, id := range []string{"p", "q"} {
			_, err := s.Projects.Create(ctx, Project{ID: id, Tenant: "t", Name: id})
			require.NoError(t, err)
		}
		said := map[string]string{} // users of runs and sessions by canvas
		objects := map[string]access.Object{}
		add := func(tenant, project, owner string, team, deleted bool) {
			id := fmt.Sprintf("%s-%s-%s-%v-%v", tenant, project, owner, team, deleted)
			permission := map[bool]string{true: PermissionTeam, false: PermissionMe}[team]
			_, err := s.Canvases.Create(ctx, Canvas{
				ID: id, Tenant: tenant, User: owner, Permission: permission, Project: project,
			}, "v")
			require.NoError(t, err)
			said[id] = []string{"ann", "carl", "dora"}[len(said)%3]
			_, err = s.Sessions.Create(ctx, Session{Tenant: tenant, Canvas: id, User: said[id]})
			require.NoError(t, err)
			require.NoError(t, s.Runs.Start(ctx, Run{ID: "run " + id, Tenant: tenant, Canvas: id, User: said[id]}))
			if deleted {
				require.NoError(t, s.Canvases.Delete(ctx, tenant, id))
			} else {
				_, err = s.Datasets.Create(ctx, Dataset{Dataset: dataset.Dataset{
					ID: id, Tenant: tenant, CreatedBy: owner, Team: team, Name: id, Project: project,
				}})
				require.NoError(t, err)
			}
			objects[id] = access.Object{
				Tenant: tenant, Owner: owner, Team: team, Kind: access.Canvas, ID: id, Project: project,
			}
			whose, err := s.Canvases.Access(ctx, tenant, id)
			require.NoError(t, err)
			require.Equal(t, objects[id], whose)
		}
		for _, place := range [][2]string{{"t", ""}, {"t", "p"}, {"t", "q"}, {"other", ""}} {
			for _, owner := range owners {
				for _, team := range []bool{true, false} {
					add(place[0], place[1], owner, team, false)
					add(place[0], place[1], owner, team, true)
				}
			}
		}
		p, none := "p", ""
		granted := func(user string, g access.Grants) access.Viewer {
			return access.Viewer{Tenant: "t", User: user, Grants: &g}
		}
		projects := func(p, q access.Role) map[string]access.Role { return map[string]access.Role{"p": p, "q": q} }
		some := map[string]access.Role{
			"canvas:t-q-ann-false-false": access.Runner, "canvas:t--ann-false-false": access.ViewerRole,
			"canvas:t-p-bob-false-true": access.Admin, "dataset:t-q-bob-true-false": access.ViewerRole,
		}
		for _, v := range []access.Viewer{
			{Tenant: "t", User: "ann"},
			{Tenant: "t", User: "carl"},
			{Tenant: "t"},
			access.All("t"),
			{Tenant: "other", User: "bob"},
			granted("ann", access.Grants{Projects: projects(access.ViewerRole, access.Editor)}),
			granted("carl", access.Grants{Projects: projects(access.Runner, access.Reviewer), Objects: some}),
			granted("dora", access.Grants{Projects: projects(access.Admin, access.ViewerRole)}),
			granted("dora", access.Grants{Objects: some}),
			granted("ann", access.Grants{Admin: true}),
			granted("ann", access.Grants{Admin: true, Only: &p}),
			granted("bob", access.Grants{Projects: projects(access.Editor, access.Editor), Only: &p}),
			granted("bob", access.Grants{Projects: projects(access.Editor, access.Editor), Only: &none}),
		} {
			var all, live, sets []string
			for id, o := range objects {
				if v.Can(access.Review, o) || v.Can(access.Run, o) && v.User == said[id] {
					all = append(all, id)
				}
				deleted := strings.HasSuffix(id, "-true")
				if v.May(o) && !deleted {
					live = append(live, id)
				}
				if o.Kind = access.Dataset; v.May(o) && !deleted {
					sets = append(sets, id)
				}
			}
			compare := func(what string, want, got []string, total int) {
				require.ElementsMatch(t, want, got, "%s for %v", what, v)
				require.Equal(t, len(want), total, "%s for %v", what, v)
			}
			canvases, total, err := s.Canvases.List(ctx, CanvasFilter{Viewer: v}, Page{})
			require.NoError(t, err)
			compare("canvases", live, columnOf(canvases, func(c Canvas) string { return c.ID }), total)
			datasets, total, err := s.Datasets.List(ctx, DatasetFilter{Viewer: v}, Page{})
			require.NoError(t, err)
			compare("datasets", sets, columnOf(datasets, func(d Dataset) string { return d.ID }), total)
			runs, total, err := s.Runs.List(ctx, RunFilter{Tenant: v.Tenant, Viewer: v}, Page{})
			require.NoError(t, err)
			compare("runs", all, columnOf(runs, func(r Run) string { return r.Canvas }), total)
			f := RunFilter{Tenant: v.Tenant, Viewer: v, Status: RunActive}
			active, total, err := s.Runs.List(ctx, f, Page{Limit: 100})
			require.NoError(t, err)
			compare("active runs", all, columnOf(active, func(r Run) string { return r.Canvas }), total)
			sessions, total, err := s.Sessions.List(ctx, SessionFilter{Tenant: v.Tenant, Viewer: v}, Page{})
			require.NoError(t, err)
			compare("sessions", all, columnOf(sessions, func(s Session) string { return s.Canvas }), total)
			days, err := s.Sessions.Days(ctx, SessionFilter{Tenant: v.Tenant, Viewer: v})
			require.NoError(t, err)
			counted := 0
			for _, d := range days {
				counted += int(d.Sessions)
			}
			require.Equal(t, len(all), counted)
		}
	})
}

func columnOf[T any](list []T, id func(T) string) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = id(v)
	}
	return out
}

// The author of a canvas is who changed its document last, and the publisher who published the
// version that users run.
func TestAuthorAndPublisher(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		c, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", User: "ann", DSL: []byte("1")}, "v1")
		require.NoError(t, err)
		check := func(author, publisher string) {
			t.Helper()
			now, err := s.Canvases.Get(ctx, "t", c.ID)
			require.NoError(t, err)
			require.Equal(t, []string{author, publisher}, []string{now.Author, now.Publisher})
			require.Equal(t, now.Publisher, c.Publisher, "as returned")
		}
		check("ann", "")
		edit := func(change func(*Canvas)) {
			c, err = s.Canvases.Edit(ctx, "t", c.ID, "v", func(v *Canvas) error { change(v); return nil })
			require.NoError(t, err)
		}
		edit(func(v *Canvas) { v.DSL, v.Author = []byte("2"), "bob" })
		check("bob", "")
		edit(func(v *Canvas) { v.Title = "renamed" })
		check("bob", "")
		edit(func(v *Canvas) { v.Publisher = "forged" })
		check("bob", "")
		edit(func(v *Canvas) { v.Released, v.Publisher = true, "ann" })
		check("bob", "ann")
		list, err := s.Canvases.Versions(ctx, "t", c.ID)
		require.NoError(t, err)
		require.Equal(t, []string{"bob", "ann"}, columnOf(list, func(v Version) string { return v.User }))
		c, err = s.Canvases.Publish(ctx, "t", c.ID, list[1].ID, "carl")
		require.NoError(t, err)
		check("bob", "carl")
	})
}

// A canvas with the id of a deleted one, as from an archive, belongs to its own creator alone.
func TestDeletedCanvasIsMadeAgain(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		_, err := s.Canvases.Create(ctx, Canvas{ID: "c", Tenant: "t", User: "ann", Permission: PermissionTeam}, "")
		require.NoError(t, err)
		require.NoError(t, s.Runs.Start(ctx, Run{ID: "r", Tenant: "t", Canvas: "c"}))
		require.NoError(t, s.Canvases.Delete(ctx, "t", "c"))
		_, err = s.Canvases.Create(ctx, Canvas{ID: "c", Tenant: "t", User: "ann"}, "")
		require.NoError(t, err)
		bob := access.Viewer{Tenant: "t", User: "bob"}
		_, total, err := s.Runs.List(ctx, RunFilter{Tenant: "t", Viewer: bob}, Page{})
		require.NoError(t, err)
		require.Zero(t, total)
		_, err = s.Canvases.Create(ctx, Canvas{Tenant: "t", Permission: "all"}, "")
		require.ErrorIs(t, err, ErrInvalid)
	})
}

// Names of datasets are taken only by those that their user sees, so that none reveals another.
func TestNamesOfPrivateDatasets(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		create := func(id, user string, team bool) string {
			v, err := s.Datasets.Create(ctx, Dataset{Dataset: dataset.Dataset{
				ID: id, Tenant: "t", Name: "plans", CreatedBy: user, Team: team,
			}})
			require.NoError(t, err)
			return v.Name
		}
		require.Equal(t, "plans", create("1", "ann", false))
		require.Equal(t, "plans", create("2", "bob", false))
		require.Equal(t, "plans(1)", create("3", "bob", true))
		require.Equal(t, "plans", create("4", "carl", false))
		require.Equal(t, "plans(2)", create("5", "ann", false))
		rename := func(id, by, name string) error {
			_, err := s.Datasets.Edit(ctx, access.Viewer{Tenant: "t", User: by}, id, func(v *Dataset) error {
				v.Name = name
				return nil
			})
			return err
		}
		require.NoError(t, rename("4", "carl", "plans(2)"))
		require.ErrorIs(t, rename("4", "carl", "plans(1)"), ErrExists)
		require.ErrorIs(t, rename("5", "ann", "Plans"), ErrExists)
	})
}

// A token for all canvases belongs to a member and ends with the membership.
func TestBetaTokenForAll(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		anns, err := s.Betas.ForAll(ctx, "t", "ann")
		require.NoError(t, err)
		bobs, err := s.Betas.ForAll(ctx, "t", "bob")
		require.NoError(t, err)
		require.NotEqual(t, anns.Text, bobs.Text)
		again, err := s.Betas.ForAll(ctx, "t", "ann")
		require.NoError(t, err)
		require.Equal(t, anns, again)
		found, err := s.Betas.ByText(ctx, bobs.Text)
		require.NoError(t, err)
		require.Equal(t, "bob", found.User)
		require.NoError(t, s.Members.Put(ctx, Member{Tenant: "t", User: "bob", Role: "normal"}))
		is, err := s.Members.Has(ctx, "t", "bob")
		require.NoError(t, err)
		require.True(t, is)
		require.NoError(t, s.Members.Delete(ctx, "t", "bob"))
		is, err = s.Members.Has(ctx, "t", "bob")
		require.NoError(t, err)
		require.False(t, is)
		_, err = s.Betas.ByText(ctx, bobs.Text)
		require.ErrorIs(t, err, ErrNotFound)
		_, err = s.Betas.ByText(ctx, anns.Text)
		require.NoError(t, err)
	})
}
