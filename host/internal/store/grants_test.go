package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// Grants end with their member, key, canvas, dataset and project.
func TestGrantsEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		require.NoError(t, s.Members.Put(ctx, Member{Tenant: "t", User: "bob", Role: "normal"}))
		k, _, err := s.Keys.Create(ctx, Key{Tenant: "t", User: "bob"}, "")
		require.NoError(t, err)
		p, err := s.Projects.Create(ctx, Project{Tenant: "t", Name: "p"})
		require.NoError(t, err)
		_, err = s.Projects.Create(ctx, Project{Tenant: "t", Name: "P"})
		require.ErrorIs(t, err, ErrExists)
		c, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", User: "ann", Project: p.ID}, "")
		require.NoError(t, err)
		left := func() (n int) {
			row := s.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM grants WHERE tenant_id = 't'`)
			require.NoError(t, row.Scan(&n))
			return n
		}
		give := func(subject, object string) {
			t.Helper()
			_, err := s.Projects.Grant(ctx, Grant{Tenant: "t", Subject: subject, Object: object, Role: access.Editor})
			require.NoError(t, err)
		}
		give("user:bob", "canvas:"+c.ID)
		give("key:"+k.ID, "canvas:"+c.ID)
		give("user:bob", "project:"+p.ID)
		give("group:ops", "project:"+p.ID)
		v, err := s.Projects.Viewer(ctx, Subject{Tenant: "t", User: "carl", Groups: access.GroupsOf("ops")})
		require.NoError(t, err)
		require.Equal(t, access.Editor, v.InProject(p.ID))
		require.NoError(t, s.Members.Delete(ctx, "t", "bob"))
		require.Equal(t, 1, left())
		give("user:dora", "canvas:"+c.ID)
		require.ErrorIs(t, s.Projects.Delete(ctx, "t", p.ID, nil), ErrConflict)
		require.NoError(t, s.Canvases.Delete(ctx, "t", c.ID))
		require.Equal(t, 1, left())
		require.NoError(t, s.Projects.Delete(ctx, "t", p.ID, nil))
		require.Zero(t, left())
	})
}

// A record is in a project that exists, also if it is deleted at the same time: in another one
// only owners and admins of the tenant would see it.
func TestRecordsAreInProjectsThatExist(t *testing.T) {
	onBoth(t, func(t *testing.T, s *Store) {
		ctx := t.Context()
		gone, other := project(t, s, "gone"), Project{Tenant: "other", Name: "o"}
		require.NoError(t, s.Projects.Delete(ctx, "t", gone, nil))
		other, err := s.Projects.Create(ctx, other)
		require.NoError(t, err)
		c, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", User: "ann"}, "")
		require.NoError(t, err)
		d, err := s.Datasets.Create(ctx, Dataset{Dataset: dataset.Dataset{ID: "d", Tenant: "t", CreatedBy: "ann"}})
		require.NoError(t, err)
		m, err := s.Memories.Create(ctx, Memory{Tenant: "t", User: "ann", Name: "m"})
		require.NoError(t, err)
		require.NoError(t, s.Secrets.Put(ctx, "t", "s", []byte("x"), nil))
		for _, id := range []string{gone, other.ID} {
			for what, put := range map[string]func() error{
				"new canvas": func() error {
					_, err := s.Canvases.Create(ctx, Canvas{Tenant: "t", User: "ann", Project: id}, "")
					return err
				},
				"moved canvas": func() error {
					_, err := s.Canvases.Edit(ctx, "t", c.ID, "", func(v *Canvas) error { v.Project = id; return nil })
					return err
				},
				"new dataset": func() error {
					_, err := s.Datasets.Create(ctx, Dataset{Dataset: dataset.Dataset{
						ID: NewID(), Tenant: "t", CreatedBy: "ann", Project: id,
					}})
					return err
				},
				"moved dataset": func() error {
					_, err := s.Datasets.Edit(ctx, access.All("t"), d.ID, func(v *Dataset) error {
						v.Project = id
						return nil
					})
					return err
				},
				"new memory": func() error {
					_, err := s.Memories.Create(ctx, Memory{Tenant: "t", User: "ann", Name: "n", Project: id})
					return err
				},
				"moved memory": func() error {
					v := m
					v.Project = id
					_, err := s.Memories.Update(ctx, v)
					return err
				},
				"new secret":   func() error { return s.Secrets.PutIn(ctx, "t", "n", []byte("x"), nil, &id) },
				"moved secret": func() error { return s.Secrets.PutIn(ctx, "t", "s", []byte("x"), nil, &id) },
				"role": func() error {
					_, err := s.Projects.Grant(ctx, Grant{Tenant: "t", Subject: "user:bob", Object: "project:" + id})
					return err
				},
			} {
				require.ErrorIs(t, put(), ErrNotFound, what)
			}
			h, err := s.Projects.Holds(ctx, "t", id)
			require.NoError(t, err)
			require.Zero(t, h)
		}
	})
}
