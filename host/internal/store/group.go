package store

import (
	"context"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Group is a group of a user in a tenant.
type Group struct {
	Name string
	// Source is the OpenID provider that reported it; "" means that an administrator set it.
	Source string
}

// Groups has the groups of users.
type Groups struct{ *database }

// List returns the groups of a user with their sources.
func (s Groups) List(ctx context.Context, tenant, user string) ([]Group, error) {
	const query = `SELECT name, source FROM user_groups WHERE tenant_id = $1 AND user_id = $2 ORDER BY name, source`
	out, err := queryAll(ctx, s.read, func(r row) (g Group, err error) {
		return g, r.Scan(&g.Name, &g.Source)
	}, query, tenant, user)
	return out, fail(err, "groups")
}

// Of returns the set of groups of a user.
func (s Groups) Of(ctx context.Context, tenant, user string) (access.Groups, error) {
	if user == "" {
		return "", nil
	}
	const query = `SELECT name FROM user_groups WHERE tenant_id = $1 AND user_id = $2`
	names, err := queryAll(ctx, s.read, scanName, query, tenant, user)
	return access.GroupsOf(names...), fail(err, "groups")
}

// Names returns the names of all groups that users of a tenant have, in order.
func (s Groups) Names(ctx context.Context, tenant string) ([]string, error) {
	const query = `SELECT DISTINCT name FROM user_groups WHERE tenant_id = $1 ORDER BY name`
	out, err := queryAll(ctx, s.read, scanName, query, tenant)
	return out, fail(err, "groups")
}

// Set replaces the groups that a member has from a source. Errors: [ErrNotFound] for a user who is
// not a member.
func (s Groups) Set(ctx context.Context, tenant, user, source string, groups access.Groups) error {
	return s.writeAlways(ctx, "groups", func(ctx context.Context, q querier) error {
		const member = `SELECT 1 FROM members WHERE tenant_id = $1 AND user_id = $2`
		found, err := exists(ctx, q, member, tenant, user)
		if err == nil && !found {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		return setGroups(ctx, q, tenant, user, source, groups)
	})
}

func setGroups(ctx context.Context, q querier, tenant, user, source string, groups access.Groups) error {
	const remove = `DELETE FROM user_groups WHERE tenant_id = $1 AND user_id = $2 AND source = $3`
	if _, err := q.ExecContext(ctx, remove, tenant, user, source); err != nil {
		return err
	}
	const insert = `INSERT INTO user_groups (tenant_id, user_id, source, name) VALUES ($1, $2, $3, $4)`
	for _, name := range groups.Names() {
		if _, err := q.ExecContext(ctx, insert, tenant, user, source, name); err != nil {
			return err
		}
	}
	return nil
}
