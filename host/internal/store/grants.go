package store

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Project holds canvases, datasets, memories and secrets of a tenant. The default project has the
// id "" and no record.
type Project struct {
	ID         string
	Tenant     string
	Name       string
	CreateTime int64 // Unix milliseconds
}

// Grant is a role that a subject was given on an object.
type Grant struct {
	Tenant     string
	Subject    string // user:ID, key:ID or group:NAME
	Object     string // project:ID, canvas:ID or dataset:ID
	Role       access.Role
	By         string // the member who gave it
	CreateTime int64  // Unix milliseconds
}

// Projects has the projects of tenants, and the roles that were given.
type Projects struct{ *database }

// Subjects of grants.
const (
	UserSubject  = "user:"
	KeySubject   = "key:"
	GroupSubject = "group:"
)

const projectColumns = `id, tenant_id, name, create_time`

func scanProject(r row) (v Project, err error) {
	return v, r.Scan(&v.ID, &v.Tenant, &v.Name, &v.CreateTime)
}

// Create adds a project; an empty ID is filled in. Errors: [ErrExists] for the name, [ErrInvalid].
func (s Projects) Create(ctx context.Context, v Project) (Project, error) {
	if v.ID == "" {
		v.ID = NewID()
	}
	AuditObject(ctx, v.ID)
	v.CreateTime = s.ms()
	if err := checkText("id", v.ID, "name", v.Name); err != nil {
		return Project{}, fail(err, "project %q", v.Name)
	}
	const insert = `INSERT INTO projects (` + projectColumns + `, name_fold) VALUES ($1, $2, $3, $4, $5)`
	err := s.write(ctx, fmt.Sprintf("create project %q", v.Name), func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, insert, v.ID, v.Tenant, v.Name, v.CreateTime, []byte(fold(v.Name)))
		return err
	})
	return v, err
}

// Rename renames a project. Errors: [ErrExists] for the name, [ErrNotFound].
func (s Projects) Rename(ctx context.Context, tenant, id, name string) (Project, error) {
	if err := checkText("name", name); err != nil {
		return Project{}, fail(err, "project %q", id)
	}
	const update = `UPDATE projects SET name = $1, name_fold = $2 WHERE id = $3 AND tenant_id = $4
		RETURNING ` + projectColumns
	return changeOne(
		ctx, s.database, fmt.Sprintf("project %q", id), scanProject, update, name, []byte(fold(name)), id, tenant,
	)
}

// Get returns a project. Errors: [ErrNotFound].
func (s Projects) Get(ctx context.Context, tenant, id string) (Project, error) {
	const query = `SELECT ` + projectColumns + ` FROM projects WHERE id = $1 AND tenant_id = $2`
	v, err := scanProject(s.read.QueryRowContext(ctx, query, id, tenant))
	return v, fail(err, "project %q", id)
}

// List returns the projects of a tenant by name.
func (s Projects) List(ctx context.Context, tenant string) ([]Project, error) {
	const query = `SELECT ` + projectColumns + ` FROM projects WHERE tenant_id = $1 ORDER BY name_fold`
	out, err := queryAll(ctx, s.read, scanProject, query, tenant)
	return out, fail(err, "projects")
}

// held are the tables whose rows are in a project.
var held = []string{"canvases", "datasets", "memories", "secrets"}

// Holding counts what a project has.
type Holding struct {
	Canvases, Datasets, Memories, Secrets int
	Grants, Keys                          int // roles in it, and keys that are limited to it
}

// Holds counts what a project has.
func (s Projects) Holds(ctx context.Context, tenant, id string) (h Holding, err error) {
	query := `SELECT `
	for _, table := range held {
		query += `(SELECT COUNT(*) FROM ` + table + ` WHERE tenant_id = $1 AND project = $2), `
	}
	query += `(SELECT COUNT(*) FROM grants WHERE tenant_id = $1 AND object = $3),
		(SELECT COUNT(*) FROM keys WHERE tenant_id = $1 AND limited = 1 AND only_project = $2)`
	key := access.Object{Kind: access.Project, ID: id}.Key()
	err = s.read.QueryRowContext(ctx, query, tenant, id, key).
		Scan(&h.Canvases, &h.Datasets, &h.Memories, &h.Secrets, &h.Grants, &h.Keys)
	return h, fail(err, "project %q", id)
}

// Delete removes a project with its grants. What it holds moves to the project to; with nil it must
// hold nothing. Errors: [ErrNotFound] for either, [ErrConflict] if it holds something.
func (s Projects) Delete(ctx context.Context, tenant, id string, to *string) error {
	return s.writeAlways(ctx, fmt.Sprintf("delete project %q", id), func(ctx context.Context, q querier) error {
		if to != nil {
			if *to == id {
				return ErrNotFound
			}
			if err := inProject(ctx, q, s.engine, tenant, *to); err != nil {
				return err
			}
		}
		res, err := q.ExecContext(ctx, `DELETE FROM projects WHERE id = $1 AND tenant_id = $2`, id, tenant)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		for _, table := range held {
			if to != nil {
				move := `UPDATE ` + table + ` SET project = $3` + revised[table] + `
					WHERE tenant_id = $1 AND project = $2`
				if _, err := q.ExecContext(ctx, move, tenant, id, *to); err != nil {
					return err
				}
				continue
			}
			query := `SELECT 1 FROM ` + table + ` WHERE tenant_id = $1 AND project = $2 LIMIT 1`
			some, err := exists(ctx, q, query, tenant, id)
			if err != nil {
				return err
			}
			if some {
				return ErrConflict
			}
		}
		// Conversations of deleted canvases remain those of their creators.
		const gone = `UPDATE deleted_canvases SET project = '', permission = 'me' WHERE tenant_id = $1 AND project = $2`
		if _, err := q.ExecContext(ctx, gone, tenant, id); err != nil {
			return err
		}
		return dropGrants(ctx, q, tenant, access.Object{Kind: access.Project, ID: id})
	})
}

// inProject holds off the deletion of a project, in which a record is put, until the end of the
// transaction. Errors: [ErrNotFound].
func inProject(ctx context.Context, q querier, engine, tenant, id string) error {
	if id == "" {
		return nil
	}
	query := `SELECT 1 FROM projects WHERE id = $1 AND tenant_id = $2`
	if engine == "postgres" { // SQLite has one writer
		query += ` FOR SHARE`
	}
	found, err := exists(ctx, q, query, id, tenant)
	if err == nil && !found {
		err = fmt.Errorf("project %q: %w", id, ErrNotFound)
	}
	return err
}

func dropGrants(ctx context.Context, q querier, tenant string, of access.Object) error {
	_, err := q.ExecContext(ctx, `DELETE FROM grants WHERE tenant_id = $1 AND object = $2`, tenant, of.Key())
	return err
}

func dropGrantsOf(ctx context.Context, q querier, tenant, subject string) error {
	_, err := q.ExecContext(ctx, `DELETE FROM grants WHERE tenant_id = $1 AND subject = $2`, tenant, subject)
	return err
}

const grantColumns = `tenant_id, subject, object, role, user_id, create_time`

func scanGrant(r row) (v Grant, err error) {
	return v, r.Scan(&v.Tenant, &v.Subject, &v.Object, &v.Role, &v.By, &v.CreateTime)
}

// Grant adds a role, or replaces the one that the subject had on the object. Errors: [ErrInvalid],
// [ErrNotFound] for a project.
func (s Projects) Grant(ctx context.Context, v Grant) (Grant, error) {
	v.CreateTime = s.ms()
	if err := checkText("subject", v.Subject, "object", v.Object); err != nil {
		return Grant{}, fail(err, "grant")
	}
	const upsert = `INSERT INTO grants (` + grantColumns + `) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (tenant_id, subject, object) DO UPDATE SET role = excluded.role, user_id = excluded.user_id,
			create_time = excluded.create_time RETURNING ` + grantColumns
	var given []Grant
	err := s.write(ctx, "grant", func(ctx context.Context, q querier) (err error) {
		if project, of := access.CutKind(v.Object, access.Project); of {
			if err := inProject(ctx, q, s.engine, v.Tenant, project); err != nil {
				return err
			}
		}
		given, err = queryAll(ctx, q, scanGrant, upsert, v.Tenant, v.Subject, v.Object, int64(v.Role), v.By,
			v.CreateTime)
		return err
	})
	if err != nil {
		return Grant{}, err
	}
	return given[0], nil
}

// Revoke ends a grant. Errors: [ErrNotFound].
func (s Projects) Revoke(ctx context.Context, tenant, subject, object string) error {
	const text = `DELETE FROM grants WHERE tenant_id = $1 AND subject = $2 AND object = $3`
	return s.writeAlways(ctx, "revoke grant", func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, text, tenant, subject, object)
		return changed(res, err, ErrNotFound)
	})
}

// Grants returns the grants on an object, by subject.
func (s Projects) Grants(ctx context.Context, tenant, object string) ([]Grant, error) {
	const query = `SELECT ` + grantColumns + ` FROM grants WHERE tenant_id = $1 AND object = $2 ORDER BY subject`
	out, err := queryAll(ctx, s.read, scanGrant, query, tenant, object)
	return out, fail(err, "grants")
}

// Subject is whose grants count for a viewer.
type Subject struct {
	Tenant, User string
	Key          string // id of the API key that is used; "" for none
	Groups       access.Groups
}

// gone is the project to which a key is limited that was revoked during its run, and what a member
// published who has left: none.
var gone = "gone"

// Viewer returns the viewer that a subject is, with the strongest of its roles. The limit of a key
// counts too: one that was revoked uses nothing. A user with the id of the tenant is its owner, as
// in the original, unless it is a member with another role.
func (s Projects) Viewer(ctx context.Context, of Subject) (access.Viewer, error) {
	v, _, err := s.viewer(ctx, of)
	return v, err
}

// viewer is Viewer, and returns the role of the user in the tenant, "" for none.
func (s Projects) viewer(ctx context.Context, of Subject) (v access.Viewer, role string, err error) {
	v = access.Viewer{Tenant: of.Tenant, User: of.User, Groups: of.Groups}
	subjects := []string{UserSubject + of.User}
	if of.Key != "" {
		subjects = append(subjects, KeySubject+of.Key)
	}
	for _, name := range of.Groups.Names() {
		subjects = append(subjects, GroupSubject+name)
	}
	w := &where{}
	w.equal("tenant_id", of.Tenant)
	w.in("subject", subjects)
	w.args = append(w.args, of.User, of.Key)
	user, key := len(w.args)-1, len(w.args)
	// One query: it is made for each request.
	query := `SELECT object, '', role FROM grants` + w.String() +
		fmt.Sprintf(` UNION ALL SELECT 'member', role, 0 FROM members WHERE tenant_id = $1 AND user_id = $%d`, user) +
		fmt.Sprintf(` UNION ALL SELECT CASE WHEN limited = 1 THEN 'only' ELSE 'key' END, only_project, 0
			FROM keys WHERE tenant_id = $1 AND id = $%d`, key)
	type found struct {
		object, text string
		role         access.Role
	}
	rows, err := queryAll(ctx, s.read, func(r row) (f found, err error) {
		return f, r.Scan(&f.object, &f.text, &f.role)
	}, query, w.args...)
	if err != nil {
		return access.Viewer{}, "", fail(err, "roles")
	}
	g := &access.Grants{Projects: map[string]access.Role{}, Objects: map[string]access.Role{}}
	known := of.Key == ""
	for _, f := range rows {
		switch project, of := access.CutKind(f.object, access.Project); {
		case f.object == "member":
			role = f.text
		case f.object == "key":
			known = true
		case f.object == "only":
			known, g.Only = true, &f.text
		case of:
			g.Projects[project] = max(g.Projects[project], f.role)
		default:
			g.Objects[f.object] = max(g.Objects[f.object], f.role)
		}
	}
	if !known {
		g.Only = &gone
	}
	g.Admin = role == roleOwner || role == roleAdmin || role == "" && of.User == of.Tenant && of.User != ""
	if g.Admin || g.Only != nil || len(g.Projects)+len(g.Objects) > 0 {
		v.Grants = g
	}
	return v, role, nil
}

// Acting returns the viewer for whom a run acts, see [access.Actor]; key is the API key that a
// member who is present uses. The member may have left the tenant: its draft then has the rights of
// no member, and what it published, or began itself and continues without it, none at all.
func (s Projects) Acting(ctx context.Context, tenant string, a access.Actor, key string) (access.Viewer, error) {
	if a.User == "" {
		return access.Viewer{Tenant: tenant}, nil
	}
	groups, err := Groups(s).Of(ctx, tenant, a.User)
	if err != nil {
		return access.Viewer{}, err
	}
	v, role, err := s.viewer(ctx, Subject{tenant, a.User, key, groups})
	if err != nil || role != "" {
		return v, err
	}
	stays := a.User == tenant
	switch {
	case a.As == access.Publisher:
		stays, err = s.stands(ctx, tenant, a.User)
	case a.Unattended():
		return access.Viewer{Tenant: tenant}, nil
	}
	if !stays {
		v = access.Viewer{Tenant: tenant, Grants: &access.Grants{Only: &gone}}
	}
	return v, err
}

// stands reports whether a user who is no member stands for the tenant: the host makes keys under
// the id of a tenant without members. An owner with that id who was removed has no key any more.
func (s Projects) stands(ctx context.Context, tenant, user string) (bool, error) {
	if user != tenant {
		return false, nil
	}
	const query = `SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM members WHERE tenant_id = $1)
		OR EXISTS (SELECT 1 FROM keys WHERE tenant_id = $1 AND user_id = $1)`
	stands, err := exists(ctx, s.read, query, tenant)
	return stands, fail(err, "members of tenant %q", tenant)
}

// roleAdmin is the role that administers a tenant with its owners.
const roleAdmin = "admin"
