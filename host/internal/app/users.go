package app

import (
	"context"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/host/internal/store"
)

const longestEmail = 254 // bytes

// TenantUser is a user in the role of one tenant.
type TenantUser struct {
	User
	Role string
}

// NewUser is a user to add.
type NewUser struct{ Email, Nickname, Password, Role string }

// Members lists the memberships of a tenant.
func (a *Accounts) Members(ctx context.Context, tenant string) ([]Member, error) {
	return a.store.Members.List(ctx, tenant)
}

// Users lists the users of a tenant.
func (a *Accounts) Users(ctx context.Context, tenant string) ([]TenantUser, error) {
	members, err := a.store.Members.List(ctx, tenant)
	if err != nil {
		return nil, err
	}
	users := make([]TenantUser, 0, len(members))
	for _, m := range members {
		u, err := a.store.Users.Get(ctx, m.User)
		if errors.Is(err, ErrNotFound) {
			continue // deleted since
		}
		if err != nil {
			return nil, err
		}
		users = append(users, TenantUser{u, m.Role})
	}
	return users, nil
}

// AddUser adds a user to the tenant of a principal, which must have all permissions of the user.
// Errors: those of [Error].
func (a *Accounts) AddUser(ctx context.Context, who Principal, in NewUser) (TenantUser, error) {
	if in.Role == "" {
		in.Role = RoleNormal
	}
	if err := checkRole(who, in.Role); err != nil {
		return TenantUser{}, err
	}
	u, err := a.add(ctx, who.Tenant, in)
	return TenantUser{u, in.Role}, err
}

// checkRole rejects a role that there is not, and one that allows more than a principal may do.
func checkRole(who Principal, role string) error {
	switch {
	case role != RoleOwner && role != RoleAdmin && role != RoleNormal:
		return BadArgument("role must be owner, admin or normal, not %.40q", role)
	case !who.Covers(ScopesOf(role)):
		return Forbidden("a limited key cannot give a role that may do more")
	}
	return nil
}

// SetRole changes the role of a user of a principal's tenant, and deletes the keys of the user that
// may do more than the role. Errors: those of [Error].
func (a *Accounts) SetRole(ctx context.Context, who Principal, user, role string) (TenantUser, error) {
	m, members, err := a.member(ctx, who, user)
	if err == nil {
		err = checkRole(who, role)
	}
	if err == nil && role != RoleOwner {
		err = keepsOwner(m, members)
	}
	if err != nil {
		return TenantUser{}, err
	}
	m.Role = role
	if err := a.store.Members.Put(ctx, m); err != nil {
		return TenantUser{}, err
	}
	if err := a.deleteKeysBeyond(ctx, m); err != nil {
		return TenantUser{}, err
	}
	u, err := a.store.Users.Get(ctx, user)
	return TenantUser{u, role}, missing(err, "user")
}

// deleteKeysBeyond deletes the keys of a member that may do more than its role.
func (a *Accounts) deleteKeysBeyond(ctx context.Context, m Member) error {
	keys, err := a.store.Keys.List(ctx, m.Tenant)
	if err != nil {
		return err
	}
	may := Principal{Scopes: ScopesOf(m.Role)}
	for _, key := range keys {
		if key.User != m.User || may.Covers(key.Scopes) {
			continue
		}
		if err := a.store.Keys.Delete(ctx, m.Tenant, key.ID); err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return nil
}

// keepsOwner rejects taking the role from the only owner among members.
func keepsOwner(m Member, members []Member) error {
	owners := 0
	for _, other := range members {
		if other.Role == RoleOwner {
			owners++
		}
	}
	if m.Role == RoleOwner && owners == 1 {
		return Refuse(CodeLastOwner, "a tenant's last owner stays")
	}
	return nil
}

// add adds a user to a tenant.
func (a *Accounts) add(ctx context.Context, tenant string, in NewUser) (User, error) {
	email := strings.TrimSpace(in.Email)
	named := strings.Contains(strings.Trim(email, "@"), "@")
	if !named || len(email) > longestEmail || strings.Contains(email, " ") || !PlainText(email) {
		return User{}, BadArgument("email %.60q: expected an address", email)
	}
	if err := checkPassword(in.Password); err != nil {
		return User{}, err
	}
	if in.Nickname == "" {
		in.Nickname, _, _ = strings.Cut(email, "@")
	}
	m := store.Member{Tenant: tenant, Role: in.Role}
	u, err := a.store.Users.CreateMember(ctx, m, User{Email: email, Nickname: in.Nickname}, in.Password)
	if errors.Is(err, ErrExists) {
		err = Refuse(CodeExists, "somebody has this address already")
	}
	return u, err
}

// member finds a user of a principal's tenant whom the principal may change, among all members.
func (a *Accounts) member(ctx context.Context, who Principal, user string) (Member, []Member, error) {
	members, err := a.store.Members.List(ctx, who.Tenant)
	if err != nil {
		return Member{}, nil, err
	}
	for _, m := range members {
		if m.User != user {
			continue
		}
		if !who.Covers(ScopesOf(m.Role)) {
			return m, nil, Forbidden("a limited key cannot change somebody who may do more")
		}
		return m, members, nil
	}
	return Member{}, nil, Missing("user")
}

// RemoveUser removes a user with its keys and logins. Errors: those of [Error].
func (a *Accounts) RemoveUser(ctx context.Context, who Principal, user string) error {
	m, members, err := a.member(ctx, who, user)
	if err == nil {
		err = keepsOwner(m, members)
	}
	if err != nil {
		return err
	}
	return a.store.Members.Delete(ctx, m.Tenant, m.User)
}

// ResetPassword gives a user of a principal's tenant a new password and ends all its logins.
// Errors: those of [Error].
func (a *Accounts) ResetPassword(ctx context.Context, who Principal, user, password string) error {
	m, _, err := a.member(ctx, who, user)
	if err != nil {
		return err
	}
	if err := checkPassword(password); err != nil {
		return err
	}
	all, err := a.store.Members.OfUser(ctx, m.User)
	if err != nil {
		return err
	}
	if len(all) > 1 {
		return Forbidden("somebody who belongs to other tenants too changes the password alone")
	}
	return a.store.Users.SetPassword(ctx, m.User, password)
}
