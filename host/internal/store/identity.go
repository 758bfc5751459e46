package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/host/internal/access"
)

// Identity is a person of an OpenID provider who signs in as a user. Tenant, Issuer and Subject
// identify it.
type Identity struct {
	Tenant, Issuer, Subject string

	User       string
	Provider   string
	Role       string // that the groups of the person give; "" for none
	CreateTime int64  // Unix milliseconds
	LastTime   int64  // of the last sign-in, Unix milliseconds
}

// Identities has the links of people of OpenID providers to users.
type Identities struct{ *database }

const identityColumns = `tenant_id, issuer, subject, user_id, provider, role, create_time, last_time`

func scanIdentity(r row) (Identity, error) {
	var v Identity
	return v, r.Scan(&v.Tenant, &v.Issuer, &v.Subject, &v.User, &v.Provider, &v.Role, &v.CreateTime, &v.LastTime)
}

// Get returns the identity of a person. Errors: [ErrNotFound].
func (s Identities) Get(ctx context.Context, tenant, issuer, subject string) (Identity, error) {
	const query = `SELECT ` + identityColumns + ` FROM identities WHERE tenant_id = $1 AND issuer = $2 AND subject = $3`
	v, err := scanIdentity(s.read.QueryRowContext(ctx, query, tenant, issuer, subject))
	return v, fail(err, "identity")
}

// OfUser returns the identities of a user, oldest first.
func (s Identities) OfUser(ctx context.Context, user string) ([]Identity, error) {
	const query = `SELECT ` + identityColumns + ` FROM identities WHERE user_id = $1 ORDER BY create_time, issuer`
	out, err := queryAll(ctx, s.read, scanIdentity, query, user)
	return out, fail(err, "identities")
}

// Ranks compares roles and selects keys.
type Ranks struct {
	// Strongest returns the strongest of some roles; "" is the weakest.
	Strongest func(roles ...string) string
	// Beyond selects the keys that may do more than a role.
	Beyond func(role string, key Key) bool
	// Fixed are the providers of the tenant that no item has.
	Fixed []string
}

// Link adds an identity of the user v.User, and with a user to make that one, without a password,
// as a member. Errors: [ErrExists] if the person is linked already, or the address of the new user
// is taken.
func (s Identities) Link(ctx context.Context, v Identity, made *User) (Identity, error) {
	if made != nil {
		made.ID = NewID()
		v.User = made.ID
		AuditObject(ctx, made.ID)
	}
	err := checkText("issuer", v.Issuer, "subject", v.Subject, "provider", v.Provider)
	if err == nil && made != nil {
		err = made.check()
	}
	if err != nil {
		return v, fail(err, "identity")
	}
	v.CreateTime = s.ms()
	v.LastTime = v.CreateTime
	const insert = `INSERT INTO identities (` + identityColumns + `) VALUES ($1, $2, $3, $4, $5, '', $6, $6)`
	return v, s.write(ctx, "identity", func(ctx context.Context, q querier) error {
		if made != nil {
			if err := insertUser(ctx, q, *made, "", s.ms()); err != nil {
				return err
			}
			const member = `INSERT INTO members (tenant_id, user_id, role, local_role) VALUES ($1, $2, '', '')`
			if _, err := q.ExecContext(ctx, member, v.Tenant, v.User); err != nil {
				return err
			}
		}
		_, err := q.ExecContext(ctx, insert, v.Tenant, v.Issuer, v.Subject, v.User, v.Provider, v.CreateTime)
		return err
	})
}

// SetRole stores a sign-in, replaces the groups that the user has from the provider by groups, and
// the role that they give by role, each unless it is nil. The role of the member becomes the
// strongest of all; keys beyond it are deleted, and without a role all logins of the user. kept
// reports that the role stays because the tenant would lose its last owner, or the last with a
// password. A change of the role has the entry act in the audit log. Errors: [ErrNotFound].
func (s Identities) SetRole(
	ctx context.Context, v Identity, role *string, groups *access.Groups, ranks Ranks, act AuditEntry,
) (kept bool, err error) {
	err = s.writeAlways(ctx, "sign-in", func(ctx context.Context, q querier) error {
		kept = false
		text, args := `UPDATE identities SET last_time = $4`, []any{v.Tenant, v.Issuer, v.Subject, s.ms()}
		if role != nil {
			text, args = text+`, role = $5`, append(args, *role)
		}
		res, err := q.ExecContext(ctx, text+` WHERE tenant_id = $1 AND issuer = $2 AND subject = $3`, args...)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		if groups != nil {
			if err := setGroups(ctx, q, v.Tenant, v.User, v.Provider, *groups); err != nil {
				return err
			}
		}
		if role == nil {
			return nil
		}
		kept, err = s.applyRoles(ctx, q, v.Tenant, v.User, ranks, act)
		return err
	})
	return kept, err
}

// givenRoles returns the roles that the identities of a member give. Those of providers that were
// deleted do not count: no sign-in would lower them.
func givenRoles(ctx context.Context, q querier, tenant, user string, ranks Ranks) (roles []string, err error) {
	const query = `SELECT provider, role, EXISTS (SELECT 1 FROM items
			WHERE items.tenant_id = identities.tenant_id AND items.kind = 'oidc' AND items.id = identities.provider)
		FROM identities WHERE tenant_id = $1 AND user_id = $2`
	type gift struct {
		provider, role string
		live           bool
	}
	list, err := queryAll(ctx, q, func(r row) (g gift, err error) {
		return g, r.Scan(&g.provider, &g.role, &g.live)
	}, query, tenant, user)
	for _, g := range list {
		if g.live || slices.Contains(ranks.Fixed, g.provider) {
			roles = append(roles, g.role)
		}
	}
	return roles, err
}

// applyRoles makes the role of a member the strongest of the local one and those of its identities.
func (s Identities) applyRoles(
	ctx context.Context, q querier, tenant, user string, ranks Ranks, act AuditEntry,
) (kept bool, err error) {
	m := Member{Tenant: tenant, User: user}
	const now = `SELECT role, local_role FROM members WHERE tenant_id = $1 AND user_id = $2`
	var local string
	if err := q.QueryRowContext(ctx, now, tenant, user).Scan(&m.Role, &local); err != nil {
		return false, err
	}
	roles, err := givenRoles(ctx, q, tenant, user, ranks)
	if err != nil {
		return false, err
	}
	role := ranks.Strongest(append(roles, local)...)
	if role == m.Role {
		return false, nil
	}
	switch err := keepsOwner(ctx, q, m, role); {
	case errors.Is(err, ErrLastOwner), errors.Is(err, ErrLastPassword):
		return true, nil
	case err != nil:
		return false, err
	}
	const update = `UPDATE members SET role = $1 WHERE tenant_id = $2 AND user_id = $3`
	if _, err := q.ExecContext(ctx, update, role, tenant, user); err != nil {
		return false, err
	}
	if role == "" {
		if _, err := q.ExecContext(ctx, `DELETE FROM logins WHERE user_id = $1`, user); err != nil {
			return false, err
		}
	}
	if err := deleteKeys(ctx, q, m, func(key Key) bool { return ranks.Beyond(role, key) }); err != nil {
		return false, err
	}
	act.Tenant, act.User, act.Object = tenant, user, user+"/"+role
	return false, s.appendAudit(ctx, q, act)
}

// Delete removes an identity, with the role that it gave; see [Identities.SetRole]. Errors:
// [ErrNotFound], [ErrLastOwner].
func (s Identities) Delete(ctx context.Context, v Identity, ranks Ranks, act AuditEntry) error {
	const remove = `DELETE FROM identities WHERE tenant_id = $1 AND issuer = $2 AND subject = $3`
	return s.writeAlways(ctx, "remove identity", func(ctx context.Context, q querier) error {
		res, err := q.ExecContext(ctx, remove, v.Tenant, v.Issuer, v.Subject)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		const groups = `DELETE FROM user_groups WHERE tenant_id = $1 AND user_id = $2 AND source = $3`
		if _, err := q.ExecContext(ctx, groups, v.Tenant, v.User, v.Provider); err != nil {
			return err
		}
		kept, err := s.applyRoles(ctx, q, v.Tenant, v.User, ranks, act)
		if err == nil && kept {
			err = ErrLastOwner
		}
		return err
	})
}

// DeleteProvider removes a provider, which is an item of a kind, with the groups that users have
// from it. Errors: [ErrNotFound].
func (s Identities) DeleteProvider(ctx context.Context, tenant, kind, id string) error {
	return s.writeAlways(ctx, fmt.Sprintf("delete provider %q", id), func(ctx context.Context, q querier) error {
		const remove = `DELETE FROM items WHERE tenant_id = $1 AND kind = $2 AND id = $3`
		res, err := q.ExecContext(ctx, remove, tenant, kind, id)
		if err := changed(res, err, ErrNotFound); err != nil {
			return err
		}
		_, err = q.ExecContext(ctx, `DELETE FROM user_groups WHERE tenant_id = $1 AND source = $2`, tenant, id)
		return err
	})
}

// RemovePassword removes the password of a user, who signs in at a provider from then on. Errors:
// [ErrLastPassword] for the last owner of a tenant who has one, [ErrNotFound] for a user without an
// identity.
func (s Users) RemovePassword(ctx context.Context, user string) error {
	return s.writeAlways(ctx, fmt.Sprintf("password of user %q", user), func(ctx context.Context, q querier) error {
		linked, err := exists(ctx, q, `SELECT 1 FROM identities WHERE user_id = $1`, user)
		if err == nil && !linked {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		const of = `SELECT tenant_id, user_id, role FROM members WHERE user_id = $1`
		members, err := queryAll(ctx, q, scanMember, of, user)
		if err != nil {
			return err
		}
		for _, m := range members {
			if err := keepsOwner(ctx, q, m, ""); errors.Is(err, ErrLastOwner) {
				return ErrLastPassword
			} else if err != nil {
				return err
			}
		}
		_, err = q.ExecContext(ctx, `UPDATE users SET password = '', update_time = $1 WHERE id = $2`, s.ms(), user)
		return err
	})
}

// Seal returns a text that only [Identities.Open] of a host with the same key file reads, for the
// same purpose.
func (s Identities) Seal(purpose string, data []byte) (string, error) {
	sealed, err := s.seal.close(data, purpose)
	return base64.RawURLEncoding.EncodeToString(sealed), err
}

// Open reads a text of [Identities.Seal]. Errors: [ErrNotFound] for any other text.
func (s Identities) Open(purpose, text string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		sealed, err = s.seal.open(sealed, purpose)
	}
	if err != nil {
		return nil, fail(ErrNotFound, "%s", purpose)
	}
	return sealed, nil
}
