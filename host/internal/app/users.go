package app

import (
	"context"
	"errors"
	"strings"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/schedule"
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
	members, err := a.store.Members.List(ctx, who.Tenant)
	if err == nil {
		err = checkRole(in.Role)
	}
	if err == nil {
		err = a.outranks(who, members, in.Role)
	}
	if err != nil {
		return TenantUser{}, err
	}
	u, err := a.add(ctx, who.Tenant, in)
	return TenantUser{u, in.Role}, err
}

// checkRole rejects a role that does not exist.
func checkRole(role string) error {
	if roleRanks[role] == 0 {
		return BadArgument("role must be owner, admin or normal, not %.40q", role)
	}
	return nil
}

// outranks refuses a principal that may not give a role, or change who has it: an admin for an
// owner, and a key that may do less than members in the role, or that is limited.
func (a *Accounts) outranks(who Principal, members []Member, role string) error {
	switch {
	case roleRanks[roleAmong(members, who.Tenant, who.User)] < roleRanks[role]:
		return Forbidden("only an owner can add, change or remove an owner")
	case !who.Covers(a.operator.scopesOf(who.Tenant, role)):
		return Forbidden("a limited key cannot give a role that may do more, or change a user who has one")
	case who.Bounded():
		return Forbidden("a key with an expiry, a rate or a quota cannot change users")
	}
	return nil
}

// roleAmong returns the role of a user in a tenant with some members, "" for somebody else.
func roleAmong(members []Member, tenant, user string) string {
	for _, m := range members {
		if m.User == user {
			return m.Role
		}
	}
	if user == tenant { // a tenant of the original is its owner's user
		return RoleOwner
	}
	return ""
}

// Role returns the role of a principal's user in its tenant, "" for none.
func (a *Accounts) Role(ctx context.Context, who Principal) (string, error) {
	members, err := a.store.Members.List(ctx, who.Tenant)
	return roleAmong(members, who.Tenant, who.User), err
}

// SetRole changes the role of a user of a principal's tenant, and deletes the keys of the user that
// may do more than the role. Errors: those of [Error].
func (a *Accounts) SetRole(ctx context.Context, who Principal, user, role string) (TenantUser, error) {
	m, members, err := a.member(ctx, who, user)
	if err == nil {
		err = checkRole(role)
	}
	if err == nil {
		err = a.outranks(who, members, role)
	}
	if err == nil {
		err = memberError(a.store.Members.SetRole(ctx, m, role, a.ranks(m.Tenant)))
	}
	if err != nil {
		return TenantUser{}, err
	}
	u, err := a.store.Users.Get(ctx, user)
	return TenantUser{u, role}, missing(err, "user")
}

// memberError names what a change of a member met.
func memberError(err error) error {
	switch {
	case errors.Is(err, store.ErrLastOwner):
		return Refuse(CodeLastOwner, "a tenant's last owner stays")
	case errors.Is(err, store.ErrLastPassword):
		return Refuse(CodeLastPassword, "one owner keeps a password, to sign in when no provider answers")
	case errors.Is(err, store.ErrStronger):
		return Refuse(CodeStrongerRole, "groups at a sign-in provider make the user more than that; change them there")
	case errors.Is(err, store.ErrNoHeir):
		return &Error{CodeBadArgument, "hand_over_to must be another member of the tenant", "hand_over_to"}
	case errors.Is(err, ErrConflict):
		return Refuse(CodeChanged, "the role of the user was changed at the same time; try again")
	}
	return missing(err, "user")
}

// add adds a user to a tenant.
func (a *Accounts) add(ctx context.Context, tenant string, in NewUser) (User, error) {
	u, err := newUser(in)
	if err == nil {
		err = checkPassword(in.Password)
	}
	if err != nil {
		return User{}, err
	}
	u, err = a.store.Users.CreateMember(ctx, store.Member{Tenant: tenant, Role: in.Role}, u, in.Password)
	if errors.Is(err, ErrExists) {
		err = Refuse(CodeExists, "another user has this email address")
	}
	return u, err
}

// newUser checks the address of a user to add.
func newUser(in NewUser) (User, error) {
	email := strings.TrimSpace(in.Email)
	named := strings.Contains(strings.Trim(email, "@"), "@")
	if !named || len(email) > longestEmail || strings.Contains(email, " ") || !PlainText(email) {
		return User{}, BadArgument("email %.60q: expected an address", email)
	}
	if in.Nickname == "" {
		in.Nickname, _, _ = strings.Cut(email, "@")
	}
	return User{Email: email, Nickname: in.Nickname}, nil
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
		if err := a.outranks(who, members, m.Role); err != nil {
			return m, nil, err
		}
		return m, members, nil
	}
	return Member{}, nil, Missing("user")
}

// Belongings counts the objects of a member in a tenant, and what acts for the member.
type Belongings = store.Belongings

// BelongingsOf counts what a user of a principal's tenant has. Errors: those of [Error].
func BelongingsOf(ctx context.Context, a *Accounts, who Principal, user string) (Belongings, error) {
	if _, _, err := a.member(ctx, who, user); err != nil {
		return Belongings{}, err
	}
	return a.store.Members.Belongings(ctx, who.Tenant, user, schedule.Records())
}

// HandOver is who gets what a removed user had.
type HandOver struct {
	To   string // a user, "" for none
	Keys bool   // API keys and the embed token for all canvases too: the removed user may know them
}

// RemoveUser removes a user with its keys and logins. An heir gets the objects of the removed one:
// the principal must be allowed to change both. What acted for the removed user acts for an heir
// who is the principal, and ends otherwise. Errors: those of [Error].
func (a *Accounts) RemoveUser(ctx context.Context, who Principal, user string, over HandOver) error {
	to := over.To
	m, members, err := a.member(ctx, who, user)
	if err != nil {
		return err
	}
	heir := store.Heir{User: to, Agrees: to == who.User, Token: over.Keys}
	if over.Keys && !heir.Agrees {
		return &Error{CodeBadArgument, "hand_over_keys needs hand_over_to to be the user who deletes", "hand_over_keys"}
	}
	if to != "" {
		next := roleAmong(members, who.Tenant, to)
		if to == user || !hasMember(members, to) {
			return &Error{CodeBadArgument, "hand_over_to must be another member of the tenant", "hand_over_to"}
		}
		if err := a.outranks(who, members, next); err != nil {
			return err
		}
		beyond := a.ranks(m.Tenant).Beyond
		heir.MayHave = func(key Key) bool { return over.Keys && !beyond(next, key) }
	}
	if err := memberError(a.store.Members.Remove(ctx, m, heir, schedule.Records())); err != nil {
		return err
	}
	a.codes.forget(user)
	return nil
}

// ResetPassword sets the password of another user of a principal's tenant and ends all its logins.
// Errors: those of [Error].
func (a *Accounts) ResetPassword(ctx context.Context, who Principal, user, password string) error {
	m, _, err := a.member(ctx, who, user)
	if err != nil {
		return err
	}
	if user == who.User {
		return Forbidden("one's own password is changed at /api/v2/me/password, with the old one")
	}
	all, err := a.store.Members.OfUser(ctx, m.User)
	if err != nil {
		return err
	}
	if len(all) > 1 {
		return Forbidden("only the user can change the password of an account that other tenants share")
	}
	return a.SetPassword(ctx, m.User, password)
}

// Group is a group of a user.
type Group = store.Group

// mostGroups bounds the groups that an administrator sets for a user.
const mostGroups = 200

// Groups lists the groups of a user of a principal's tenant. Errors: those of [Error].
func (a *Accounts) Groups(ctx context.Context, who Principal, user string) ([]Group, error) {
	member, err := a.store.Members.Has(ctx, who.Tenant, user)
	if err == nil && !member {
		err = Missing("user")
	}
	if err != nil {
		return nil, err
	}
	return a.store.Groups.List(ctx, who.Tenant, user)
}

// GroupNames lists the groups that users of a tenant have, by name.
func (a *Accounts) GroupNames(ctx context.Context, tenant string) ([]string, error) {
	return a.store.Groups.Names(ctx, tenant)
}

// SetGroups replaces the groups that a user of a principal's tenant has from administrators. Those
// of sign-in providers stay. Errors: those of [Error].
func (a *Accounts) SetGroups(ctx context.Context, who Principal, user string, names []string) ([]Group, error) {
	if len(names) > mostGroups {
		return nil, BadArgument("groups: %d names, a user has at most %d", len(names), mostGroups)
	}
	for _, name := range names {
		if !access.GroupName(name) {
			return nil, BadArgument("group %.60q: expected 1 to %d bytes without control characters, "+
				"and without space around them", name, access.LongestGroup)
		}
	}
	if _, _, err := a.member(ctx, who, user); err != nil {
		return nil, err
	}
	if err := a.store.Groups.Set(ctx, who.Tenant, user, "", access.GroupsOf(names...)); err != nil {
		return nil, missing(err, "user")
	}
	return a.store.Groups.List(ctx, who.Tenant, user)
}
