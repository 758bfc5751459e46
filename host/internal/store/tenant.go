package store

import (
	"context"
	"fmt"
)

// Tenant owns canvases, keys and all other records; users are its members.
type Tenant struct {
	ID         string
	Name       string
	CreateTime int64 // Unix milliseconds
	UpdateTime int64 // Unix milliseconds

	TokensPerDay int64 // model tokens per day (UTC); 0 means unlimited
}

// Tenants has the records of tenants.
type Tenants struct{ *database }

const tenantColumns = `id, name, create_time, update_time, tokens_per_day`

func scanTenant(r row) (Tenant, error) {
	var t Tenant
	return t, r.Scan(&t.ID, &t.Name, &t.CreateTime, &t.UpdateTime, &t.TokensPerDay)
}

// Member is the membership of a user in a tenant.
type Member struct {
	Tenant string
	User   string
	Role   string // owner, admin, normal
}

// Members has the memberships of users in tenants.
type Members struct{ *database }

// Put adds or renames a tenant; renaming does not change its quota. An empty ID is filled in.
func (s Tenants) Put(ctx context.Context, t Tenant) (Tenant, error) {
	if t.ID == "" {
		t.ID = NewID()
	}
	AuditObject(ctx, t.ID)
	err := checkText("id", t.ID, "name", t.Name)
	if err == nil {
		err = checkQuota(t.TokensPerDay)
	}
	if err != nil {
		return Tenant{}, fail(err, "tenant")
	}
	const upsert = `INSERT INTO tenants (` + tenantColumns + `) VALUES ($1, $2, $3, $3, $4)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, update_time = excluded.update_time
		RETURNING ` + tenantColumns
	return changeOne(
		ctx, s.database, fmt.Sprintf("tenant %q", t.Name), scanTenant, upsert, t.ID, t.Name, s.ms(), t.TokensPerDay,
	)
}

// Get returns a tenant. Errors: [ErrNotFound].
func (s Tenants) Get(ctx context.Context, id string) (Tenant, error) {
	const query = `SELECT ` + tenantColumns + ` FROM tenants WHERE id = $1`
	t, err := scanTenant(s.read.QueryRowContext(ctx, query, id))
	return t, fail(err, "tenant %q", id)
}

// List returns all tenants, oldest first.
func (s Tenants) List(ctx context.Context) ([]Tenant, error) {
	out, err := queryAll(ctx, s.read, scanTenant, `SELECT `+tenantColumns+` FROM tenants ORDER BY create_time, id`)
	return out, fail(err, "tenants")
}

// owned lists the tables whose rows belong to a tenant.
var owned = []string{
	"keys", "betas", "canvases", "sessions", "runs", "secrets", "items", "kv", "token_use", "members", "list_blocks",
	"session_documents", "session_turns",
	"datasets", "documents", "chunk_edits", "dataset_changes", "parse_logs", "parse_reruns",
	"memories", "memory_messages", "model_use", "model_lessons", "deleted_canvases", "identities",
	"projects", "grants",
	"audit", "audit_heads", "user_groups", "readers", "waits",
	"canvas_docs", "trace_blocks", "trace_bytes", "trace_gone",
	"list_counts", // last: deleting what it counts changes it
}

// Delete deletes a tenant with all its records, and users without another tenant. Uploaded
// files are not records and remain; those of documents become loose. Errors: [ErrNotFound].
func (s Tenants) Delete(ctx context.Context, id string) error {
	const versions = `DELETE FROM versions WHERE canvas_id IN (SELECT id FROM canvases WHERE tenant_id = $1)`
	defer s.totals.forget()
	return s.writeAlways(ctx, fmt.Sprintf("delete tenant %q", id), func(ctx context.Context, q querier) error {
		if err := lockLists(ctx, q); err != nil {
			return err
		}
		res, err := q.ExecContext(ctx, `DELETE FROM tenants WHERE id = $1`, id)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, versions, id); err != nil {
			return err
		}
		members, err := queryAll(ctx, q, scanMember, `SELECT tenant_id, user_id, role FROM members WHERE tenant_id = $1`, id)
		if err != nil {
			return err
		}
		if err := loosen(ctx, q, s.ms(), "tenant_id = $2", id); err != nil {
			return err
		}
		for _, table := range owned {
			if _, err := q.ExecContext(ctx, `DELETE FROM `+table+` WHERE tenant_id = $1`, id); err != nil {
				return err
			}
		}
		for _, m := range members {
			if err := deleteStray(ctx, q, m.User); err != nil {
				return err
			}
		}
		return nil
	})
}

// deleteStray deletes a user without any tenant, and the user's logins.
func deleteStray(ctx context.Context, q querier, user string) error {
	for _, text := range []string{
		`DELETE FROM users WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM members WHERE user_id = $1)`,
		`DELETE FROM logins WHERE user_id = $1 AND NOT EXISTS (SELECT 1 FROM members WHERE user_id = $1)`,
		`DELETE FROM identities WHERE user_id = $1 AND NOT EXISTS (SELECT 1 FROM members WHERE user_id = $1)`,
	} {
		if _, err := q.ExecContext(ctx, text, user); err != nil {
			return err
		}
	}
	return nil
}

// Put adds a user to a tenant or changes the role.
func (s Members) Put(ctx context.Context, m Member) error {
	if err := checkText("tenant", m.Tenant, "user", m.User, "role", m.Role); err != nil {
		return fail(err, "member")
	}
	const upsert = `INSERT INTO members (tenant_id, user_id, role, local_role) VALUES ($1, $2, $3, $3)
		ON CONFLICT (tenant_id, user_id) DO UPDATE SET role = excluded.role, local_role = excluded.local_role`
	return s.write(ctx, "member", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, upsert, m.Tenant, m.User, m.Role)
		return err
	})
}

// SetRole changes the role that a member has from an administrator, unless the role is not m.Role
// any more, and deletes the keys of the member in the tenant that may do more. Errors:
// [ErrConflict], [ErrLastOwner], [ErrLastPassword], [ErrNotFound], [ErrStronger] if the groups of
// an identity give the member more.
func (s Members) SetRole(ctx context.Context, m Member, role string, ranks Ranks) error {
	if err := checkText("role", role); err != nil {
		return fail(err, "member")
	}
	return s.writeAlways(ctx, "role of member", func(ctx context.Context, q querier) error {
		if err := keepsOwner(ctx, q, m, role); err != nil {
			return err
		}
		roles, err := givenRoles(ctx, q, m.Tenant, m.User, ranks)
		if err != nil {
			return err
		}
		if ranks.Strongest(append(roles, role)...) != role {
			return ErrStronger
		}
		const update = `UPDATE members SET role = $1, local_role = $1 WHERE tenant_id = $2 AND user_id = $3`
		res, err := q.ExecContext(ctx, update, role, m.Tenant, m.User)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		return deleteKeys(ctx, q, m, func(key Key) bool { return ranks.Beyond(role, key) })
	})
}

// deleteKeys deletes some keys of a member.
func deleteKeys(ctx context.Context, q querier, m Member, which func(Key) bool) error {
	const query = `SELECT ` + keyColumns + ` FROM keys WHERE tenant_id = $1 AND user_id = $2`
	keys, err := queryAll(ctx, q, scanKey, query, m.Tenant, m.User)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if !which(key) {
			continue
		}
		if _, err := q.ExecContext(ctx, `DELETE FROM keys WHERE id = $1`, key.ID); err != nil {
			return err
		}
		if err := dropGrantsOf(ctx, q, m.Tenant, KeySubject+key.ID); err != nil {
			return err
		}
	}
	return nil
}

// Remove is Delete for a member whose role was checked: it fails if the role is not m.Role any
// more, and for the last owner. An heir gets first what the member had, in the same commit. Errors:
// [ErrConflict], [ErrLastOwner], [ErrLastPassword], [ErrNoHeir], [ErrNotFound].
func (s Members) Remove(ctx context.Context, m Member, to Heir, schedules ScheduleRecords) error {
	return s.writeAlways(ctx, "remove member", func(ctx context.Context, q querier) error {
		if err := keepsOwner(ctx, q, m, ""); err != nil {
			return err
		}
		if to.User != "" {
			if err := s.handOver(ctx, q, m, to, schedules); err != nil {
				return err
			}
		}
		return deleteMember(ctx, q, m.Tenant, m.User)
	})
}

// keepsOwner checks a member before its role changes: a tenant keeps an owner, and if one has a
// password an owner with a password, who can sign in when no provider answers. It locks the row of
// the tenant, so that two owners who remove each other leave one.
func keepsOwner(ctx context.Context, q querier, m Member, role string) error {
	if _, err := q.ExecContext(ctx, `UPDATE tenants SET name = name WHERE id = $1`, m.Tenant); err != nil {
		return err
	}
	const query = `SELECT m.tenant_id, m.user_id, m.role, COALESCE(u.password, '') FROM members m
		LEFT JOIN users u ON u.id = m.user_id WHERE m.tenant_id = $1`
	type owner struct {
		Member
		password string
	}
	members, err := queryAll(ctx, q, func(r row) (o owner, err error) {
		return o, r.Scan(&o.Tenant, &o.User, &o.Role, &o.password)
	}, query, m.Tenant)
	if err != nil {
		return err
	}
	found, had, owners, passwords := false, false, 0, 0
	for _, other := range members {
		switch {
		case other.User == m.User && other.Role != m.Role:
			return ErrConflict
		case other.User == m.User:
			found, had = true, other.password != ""
		case other.Role == roleOwner:
			owners++
			if other.password != "" {
				passwords++
			}
		}
	}
	switch {
	case !found:
		return ErrNotFound
	case m.Role != roleOwner || role == roleOwner:
		return nil
	case owners == 0:
		return ErrLastOwner
	case had && passwords == 0:
		return ErrLastPassword
	}
	return nil
}

// roleOwner is the role that each tenant needs.
const roleOwner = "owner"

// Delete ends a membership and deletes the keys of the user in the tenant, with the token for all
// canvases of the user. Canvases, datasets and memories of the user pass to an owner of the tenant:
// private ones would continue to run, and no member could see or end them. A user without another
// tenant is deleted too. Errors: [ErrNotFound].
func (s Members) Delete(ctx context.Context, tenant, user string) error {
	return s.writeAlways(ctx, "delete member", func(ctx context.Context, q querier) error {
		return deleteMember(ctx, q, tenant, user)
	})
}

func deleteMember(ctx context.Context, q querier, tenant, user string) error {
	res, err := q.ExecContext(ctx, `DELETE FROM members WHERE tenant_id = $1 AND user_id = $2`, tenant, user)
	if err := changed(res, err, ErrNotFound); err != nil {
		return err
	}
	const grants = `DELETE FROM grants WHERE tenant_id = $1 AND (subject = $2 OR subject IN
		(SELECT '` + KeySubject + `' || id FROM keys WHERE tenant_id = $1 AND user_id = $3))`
	if _, err := q.ExecContext(ctx, grants, tenant, UserSubject+user, user); err != nil {
		return err
	}
	for _, table := range []string{"keys", "betas", "identities", "user_groups"} {
		text := `DELETE FROM ` + table + ` WHERE tenant_id = $1 AND user_id = $2`
		if _, err := q.ExecContext(ctx, text, tenant, user); err != nil {
			return err
		}
	}
	const heir = `SELECT MAX(user_id) FROM members WHERE tenant_id = $1 AND role = '` + roleOwner + `'`
	for table, owner := range ownedBy {
		text := `UPDATE ` + table + ` SET ` + owner + ` = COALESCE((` + heir + `), ` + owner + `)` + revised[table] + `
			WHERE tenant_id = $1 AND ` + owner + ` = $2`
		if _, err := q.ExecContext(ctx, text, tenant, user); err != nil {
			return err
		}
	}
	return deleteStray(ctx, q, user)
}

// OfUser returns the memberships of a user.
func (s Members) OfUser(ctx context.Context, user string) ([]Member, error) {
	out, err := queryAll(ctx, s.read, scanMember,
		`SELECT tenant_id, user_id, role FROM members WHERE user_id = $1 ORDER BY tenant_id`, user)
	return out, fail(err, "memberships")
}

// Owner returns the user in whose name work without a user is done for a tenant: the owner who is
// last by id, or without one the tenant's id, which the owner has too in the original.
func (s Members) Owner(ctx context.Context, tenant string) (string, error) {
	members, err := s.List(ctx, tenant)
	if err != nil {
		return "", err
	}
	owner := tenant
	for _, m := range members {
		if m.Role == "owner" {
			owner = m.User
		}
	}
	return owner, nil
}

// Has reports whether a user is a member of a tenant.
func (s Members) Has(ctx context.Context, tenant, user string) (bool, error) {
	found, err := exists(ctx, s.read, `SELECT 1 FROM members WHERE tenant_id = $1 AND user_id = $2`, tenant, user)
	return found, fail(err, "membership")
}

// List returns the members of a tenant.
func (s Members) List(ctx context.Context, tenant string) ([]Member, error) {
	out, err := queryAll(ctx, s.read, scanMember,
		`SELECT tenant_id, user_id, role FROM members WHERE tenant_id = $1 ORDER BY user_id`, tenant)
	return out, fail(err, "members")
}

func scanMember(r row) (Member, error) {
	var m Member
	return m, r.Scan(&m.Tenant, &m.User, &m.Role)
}
