package store

import (
	"context"
	"fmt"
)

// Tenant owns canvases, keys and everything else; users are its members.
type Tenant struct {
	ID         string
	Name       string
	CreateTime int64 // Unix milliseconds
	UpdateTime int64 // Unix milliseconds
}

// Member is a user's place in a tenant.
type Member struct {
	Tenant string
	User   string
	Role   string // owner, admin, normal
}

// PutTenant adds a tenant or renames it. An empty ID is filled in.
func (s *Store) PutTenant(ctx context.Context, t Tenant) (Tenant, error) {
	if t.ID == "" {
		t.ID = newID()
	}
	if err := checkText("id", t.ID, "name", t.Name); err != nil {
		return Tenant{}, fail(err, "tenant")
	}
	const upsert = `INSERT INTO tenants (id, name, create_time, update_time) VALUES ($1, $2, $3, $3)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, update_time = excluded.update_time
		RETURNING create_time, update_time`
	err := s.write(ctx, fmt.Sprintf("tenant %q", t.Name), func(ctx context.Context, q querier) error {
		return q.QueryRowContext(ctx, upsert, t.ID, t.Name, s.ms()).Scan(&t.CreateTime, &t.UpdateTime)
	})
	return t, err
}

// Tenant reads one tenant. Errors: [ErrNotFound].
func (s *Store) Tenant(ctx context.Context, id string) (Tenant, error) {
	t := Tenant{ID: id}
	const query = `SELECT name, create_time, update_time FROM tenants WHERE id = $1`
	err := s.read.QueryRowContext(ctx, query, id).Scan(&t.Name, &t.CreateTime, &t.UpdateTime)
	return t, fail(err, "tenant %q", id)
}

// PutMember makes a user a member of a tenant or changes the role.
func (s *Store) PutMember(ctx context.Context, m Member) error {
	if err := checkText("tenant", m.Tenant, "user", m.User, "role", m.Role); err != nil {
		return fail(err, "member")
	}
	const upsert = `INSERT INTO members (tenant_id, user_id, role) VALUES ($1, $2, $3)
		ON CONFLICT (tenant_id, user_id) DO UPDATE SET role = excluded.role`
	return s.write(ctx, "member", func(ctx context.Context, q querier) error {
		_, err := q.ExecContext(ctx, upsert, m.Tenant, m.User, m.Role)
		return err
	})
}

// DeleteMember ends a membership. Errors: [ErrNotFound].
func (s *Store) DeleteMember(ctx context.Context, tenant, user string) error {
	return s.write(ctx, "delete member", func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, `DELETE FROM members WHERE tenant_id = $1 AND user_id = $2`, tenant, user)
		return changed(res, err, ErrNotFound)
	})
}

// Memberships lists the tenants that a user belongs to.
func (s *Store) Memberships(ctx context.Context, user string) ([]Member, error) {
	out, err := queryAll(ctx, s.read, scanMember,
		`SELECT tenant_id, user_id, role FROM members WHERE user_id = $1 ORDER BY tenant_id`, user)
	return out, fail(err, "memberships")
}

// Members lists the users of a tenant.
func (s *Store) Members(ctx context.Context, tenant string) ([]Member, error) {
	out, err := queryAll(ctx, s.read, scanMember,
		`SELECT tenant_id, user_id, role FROM members WHERE tenant_id = $1 ORDER BY user_id`, tenant)
	return out, fail(err, "members")
}

func scanMember(r row) (Member, error) {
	var m Member
	return m, r.Scan(&m.Tenant, &m.User, &m.Role)
}
