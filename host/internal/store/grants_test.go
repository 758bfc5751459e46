package store

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
)

// rolesRows are records of the version before 0029: ann is owner and bob a normal member; ann has
// shared a canvas, a dataset and a memory, and keeps one canvas for herself.
var rolesRows = []string{
	`INSERT INTO members (tenant_id, user_id, role, local_role) VALUES ('t', 'ann', 'owner', 'owner'),
		('t', 'bob', 'normal', 'normal')`,
	`INSERT INTO canvases (id, tenant_id, user_id, title, title_fold, find, description, avatar, type, category,
		permission, tags, released, dsl, rev, create_time, update_time, published)
		VALUES ('c', 't', 'ann', '', '', '', '', '', '', '', 'team', '[]', 0, '', 1, 5, 7, ''),
		('own', 't', 'ann', '', '', '', '', '', '', '', 'me', '[]', 0, '', 1, 5, 7, '')`,
	`INSERT INTO datasets (id, tenant_id, created_by, team, name, name_key, body, model, wanted, seq, gone_seq,
		create_time, update_time) VALUES ('d', 't', 'ann', 1, 'd', 'd', '{"method":"naive"}', '', '', 0, 0, 5, 7)`,
	`INSERT INTO memories (id, tenant_id, user_id, name, settings, size, rev, create_time, update_time, name_fold,
		last_id) VALUES ('m', 't', 'ann', 'm', '{"permission":"team"}', 0, 1, 5, 7, 'm', 0)`,
	`INSERT INTO secrets (tenant_id, name, sealed, create_time, update_time, hosts) VALUES ('t', 's', '', 5, 7, '[]')`,
	`INSERT INTO keys (id, tenant_id, user_id, name, hint, scopes, rate, create_time, expire_time, tokens_per_day,
		hash) VALUES ('k', 't', 'bob', '', '', '["read"]', 0, 5, 0, 0, 'hash')`,
	`INSERT INTO deleted_canvases (id, tenant_id, user_id, permission, delete_time)
		VALUES ('old', 't', 'ann', 'team', 6)`,
	`INSERT INTO runs (id, tenant_id, canvas_id, session_id, user_id, message_id, source, status, input, error, tokens,
		create_time, end_time, cost) VALUES ('r', 't', 'old', '', '', 'r', 'api', 'succeeded', '', '', 0, 1, 1, 0),
		('r2', 't', 'own', '', '', 'r2', 'api', 'succeeded', '', '', 0, 1, 1, 0)`,
}

// checkRolesRows checks that members may do after the upgrade what they could before.
func checkRolesRows(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	bob, err := s.Projects.Viewer(ctx, Subject{Tenant: "t", User: "bob", Key: "k"})
	require.NoError(t, err)
	require.True(t, bob.Plain())
	for _, id := range []string{"c", "old"} {
		o, err := s.Canvases.Access(ctx, "t", id)
		require.NoError(t, err)
		for _, act := range []access.Action{access.See, access.Run, access.Review, access.Edit, access.Delete} {
			require.NoError(t, bob.Check(act, o), "%s %s", act, id)
		}
	}
	own, err := s.Canvases.Access(ctx, "t", "own")
	require.NoError(t, err)
	require.ErrorIs(t, bob.Check(access.See, own), access.ErrHidden)
	ann, err := s.Projects.Viewer(ctx, Subject{Tenant: "t", User: "ann"})
	require.NoError(t, err)
	require.NoError(t, ann.Check(access.Grant, own))
	d, err := s.Datasets.Get(ctx, "t", "d")
	require.NoError(t, err)
	require.NoError(t, bob.Check(access.Delete, d.Access()))
	m, err := s.Memories.Get(ctx, "t", "m")
	require.NoError(t, err)
	require.Empty(t, m.Project)
	secret, err := s.Secrets.Access(ctx, "t", "s")
	require.NoError(t, err)
	require.NoError(t, bob.Check(access.Delete, secret))
	_, total, err := s.Canvases.List(ctx, CanvasFilter{Viewer: bob}, Page{})
	require.NoError(t, err)
	require.Equal(t, 1, total)
	runs, total, err := s.Runs.List(ctx, RunFilter{Tenant: "t", Viewer: bob}, Page{})
	require.NoError(t, err)
	require.Equal(t, []string{"r"}, columnOf(runs, func(r Run) string { return r.ID }))
	require.Equal(t, 1, total)
	k, err := s.Keys.Get(ctx, "t", "k")
	require.NoError(t, err)
	require.Nil(t, k.Project)
}

// Nothing changes for records of the previous version, in place and from a dump.
func TestMigrationOfRoles(t *testing.T) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	require.NoError(t, err)
	before := 0
	for i, file := range files {
		if strings.Contains(file, "/0029_") {
			before = i
		}
	}
	require.NotZero(t, before)
	for _, engine := range []string{"sqlite", "postgres"} {
		t.Run(engine, func(t *testing.T) {
			ctx := t.Context()
			s, err := connect(ctx, engineConfig(t, engine))
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			require.NoError(t, err)
			require.NoError(t, s.write(ctx, "old tables", func(ctx context.Context, q querier) error {
				_, err := schemaVersion(ctx, q)
				require.NoError(t, err)
				for n, file := range files[:before] {
					require.NoError(t, applyMigration(ctx, q, s.engine, file, n+1))
				}
				for _, text := range rolesRows {
					_, err := q.ExecContext(ctx, text)
					require.NoError(t, err)
				}
				return nil
			}))
			require.NoError(t, s.migrate(ctx, false))
			checkRolesRows(t, s)
		})
		t.Run(engine+" dump", func(t *testing.T) {
			ctx := t.Context()
			cfg := engineConfig(t, engine)
			from := openTest(t, cfg)
			for _, text := range rolesRows {
				_, err := from.commit.exec(ctx, text)
				require.NoError(t, err)
			}
			var dump bytes.Buffer
			require.NoError(t, from.Dump(ctx, &dump))
			// A dump of that version has neither the new tables nor the new columns.
			former := regexp.MustCompile(`"schema":\d+`).ReplaceAllString(
				dump.String(), fmt.Sprintf(`"schema":%d`, before))
			var lines []string
			for line := range strings.SplitSeq(former, "\n") {
				if !strings.Contains(line, `"table":"projects"`) && !strings.Contains(line, `"table":"grants"`) {
					lines = append(lines, line)
				}
			}
			to := engineConfig(t, engine)
			to.KeyFile = cfg.Dir + "/secret.key"
			s := openTest(t, to)
			require.NoError(t, s.Load(ctx, strings.NewReader(strings.Join(lines, "\n"))))
			checkRolesRows(t, s)
		})
	}
}

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
