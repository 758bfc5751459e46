package v2

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/login"
	"github.com/easel-canvas/easel/host/internal/app"
)

// accounts are the caller, and the people of its tenant.
type accounts struct {
	*app.Services
	login *login.Face
}

func (a accounts) operations() []operation {
	const admin = app.ScopeAdmin
	return append(a.groupOperations(), []operation{
		handle(operation{
			method: "GET", path: "/api/v2/me", body: api.BodyNone, name: "me",
			about: "Get the caller: who it is and what it may do. For a login with a cookie the response has the " +
				"value that requests must send as X-CSRF-Token.",
		}, a.me),
		handle(operation{
			method: "PATCH", path: "/api/v2/me", body: api.BodyTiny, name: "updateMe",
			about: "Change the caller's profile. An API key can do it only if it may do all that its user may, " +
				"without limits.",
		}, a.updateMe),
		handle(operation{
			method: "GET", path: "/api/v2/me/usage", body: api.BodyNone, name: "usage",
			about: "Get the token usage of the caller and its tenant: used today, the quota, and when the count " +
				"is reset.",
		}, a.usage),
		handle(operation{
			method: "PUT", path: "/api/v2/me/password", body: api.BodyTiny, name: "setOwnPassword",
			about: "Change the caller's password. All its logins end. A login needs the old password. An API key " +
				"can do it only if it may do all that its user may, without limits.",
		}, a.setOwnPassword),
		handle(operation{
			method: "GET", path: "/api/v2/users", body: api.BodyNone, scope: admin, name: "listUsers",
			about: "List the users of the tenant.",
		}, a.listUsers),
		handle(operation{
			method: "POST", path: "/api/v2/users", body: api.BodyTiny, scope: admin, name: "createUser", status: created,
			about: "Create a user who can log in. Only owners create owners.",
		}, a.addUser),
		handle(operation{
			method: "PUT", path: "/api/v2/users/{user}", body: api.BodyTiny, scope: admin, name: "updateUser",
			about: "Change the role of a user. Keys of the user that may do more than the role are deleted. Only " +
				"owners make, change and remove owners. The last owner of a tenant stays owner.",
		}, a.updateUser),
		handle(operation{
			method: "DELETE", path: "/api/v2/users/{user}", body: api.BodyTiny, scope: admin, name: "deleteUser",
			about: "Delete a user with its keys and logins. With hand_over_to another user gets its canvases, " +
				"datasets and memories, otherwise an owner. What acted for the deleted user, such as published " +
				"versions and schedules, acts for that user if it is the caller, with hand_over_keys API keys too, " +
				"and ends otherwise. The last owner of a tenant cannot be deleted.",
		}, a.removeUser),
		handle(operation{
			method: "GET", path: "/api/v2/users/{user}/belongings", body: api.BodyNone, scope: admin,
			name: "listBelongings", about: "Count what a user has, which is handed over or ends with the user.",
		}, a.belongings),
		handle(operation{
			method: "PUT", path: "/api/v2/users/{user}/password", body: api.BodyTiny, scope: admin, name: "setPassword",
			about: "Set the password of another user. All its logins end. Only owners set those of owners.",
		}, a.setPassword),
		handle(operation{
			method: "DELETE", path: "/api/v2/me/password", body: api.BodyTiny, name: "removeOwnPassword",
			about: "Remove the caller's password, after a sign-in at a provider. One owner of a tenant keeps one.",
		}, a.removeOwnPassword),
		handle(operation{
			method: "GET", path: "/api/v2/me/logins", body: api.BodyNone, name: "listOwnLogins",
			about: "List where the caller is logged in.",
		}, a.listOwnLogins),
		handle(operation{
			method: "DELETE", path: "/api/v2/me/logins/{login}", body: api.BodyTiny, name: "endOwnLogin",
			about: "End a login of the caller.",
		}, a.endOwnLogin),
		handle(operation{
			method: "GET", path: "/api/v2/users/{user}/logins", body: api.BodyNone, scope: admin, name: "listLogins",
			about: "List where a user is logged in. Only owners see those of owners.",
		}, a.listLogins),
		handle(operation{
			method: "DELETE", path: "/api/v2/users/{user}/logins", body: api.BodyTiny, scope: admin, name: "endLogins",
			about: "End all logins of a user. API keys of the user stay.",
		}, a.endLogins),
		handle(operation{
			method: "DELETE", path: "/api/v2/users/{user}/logins/{login}", body: api.BodyTiny, scope: admin,
			name:  "endLogin",
			about: "End a login of a user.",
		}, a.endLogin),
	}...)
}

type meView struct {
	Tenant     string   `json:"tenant"`
	TenantName string   `json:"tenant_name"`
	User       string   `json:"user"`
	Email      string   `json:"email"`
	Nickname   string   `json:"nickname"`
	Role       string   `json:"role,omitempty" jsonschema:"owner, admin or normal: the role of the user in the tenant"`
	Scopes     []string `json:"scopes" jsonschema:"what the caller may do, of the table of scopes"`
	CSRF       string   `json:"csrf,omitempty" jsonschema:"only for logins with a cookie"`
}

type ownPassword struct {
	Old string `json:"old,omitempty" jsonschema:"the current password, or an API key that may do all that the user may, without limits; not needed if the request uses such a key"`
	New string `json:"new" jsonschema:"at least 8 characters"`
}

type newPassword struct {
	New string `json:"new" jsonschema:"at least 8 characters"`
}

type userView struct {
	ID       string    `json:"id"`
	Email    string    `json:"email"`
	Nickname string    `json:"nickname"`
	Role     string    `json:"role" jsonschema:"owner, admin or normal"`
	Created  time.Time `json:"created"`
}

type userInput struct {
	Email    string `json:"email"`
	Nickname string `json:"nickname,omitempty"`
	Password string `json:"password" jsonschema:"at least 8 characters"`
	Role     string `json:"role,omitempty" jsonschema:"owner, admin or normal (default)"`
}

// tokenUse is the quota of a principal and its use of today.
type tokenUse struct {
	PerDay *int64 `json:"tokens_per_day,omitempty" jsonschema:"the quota; absent without one"`
	Today  int64  `json:"tokens_today" jsonschema:"prompt and completion tokens, as providers report them"`
}

type usageView struct {
	Caller   tokenUse  `json:"caller" jsonschema:"the key or login of the request"`
	Tenant   tokenUse  `json:"tenant" jsonschema:"all callers of the tenant"`
	ResetsAt time.Time `json:"resets_at" jsonschema:"start of the next day, UTC"`
}

func (a accounts) me(ctx context.Context, in byTenant) (meView, error) {
	who := in.Who
	out := meView{Tenant: who.Tenant, TenantName: who.Tenant, User: who.User, CSRF: who.CSRF}
	role, err := a.Accounts.Role(ctx, who)
	if err != nil {
		return out, err
	}
	out.Role = role
	for _, s := range app.Scopes {
		if who.May(s) && (!app.OfHost(s) || a.Tenants.Operates(who.Tenant)) {
			out.Scopes = append(out.Scopes, s)
		}
	}
	if t, err := a.Tenants.Get(ctx, who.Tenant); err == nil {
		out.TenantName = t.Name
	} else if !errors.Is(err, app.ErrNotFound) {
		return out, err
	}
	if u, err := a.Accounts.User(ctx, who.User); err == nil {
		out.Email, out.Nickname = u.Email, u.Nickname
	} else if !errors.Is(err, app.ErrNotFound) {
		return out, err
	}
	return out, nil
}

type profileInput struct {
	Nickname string `json:"nickname" jsonschema:"the name that colleagues see, 1 to 100 characters"`
}

type updateMe struct {
	Who  app.Principal
	Body profileInput
}

func (a accounts) updateMe(ctx context.Context, in updateMe) (meView, error) {
	if err := app.SetNickname(ctx, a.Accounts, in.Who, in.Body.Nickname); err != nil {
		return meView{}, err
	}
	return a.me(ctx, byTenant{in.Who})
}

// usage answers what the caller may still use.
func (a accounts) usage(ctx context.Context, in byTenant) (usageView, error) {
	var out usageView
	for _, of := range []struct {
		caller string
		to     *tokenUse
	}{{in.Who.Caller, &out.Caller}, {"", &out.Tenant}} {
		state, next, err := a.Usage.State(ctx, in.Who.Tenant, of.caller)
		if err != nil {
			return out, err
		}
		out.ResetsAt, of.to.Today = next, state.Used
		if state.Quota > 0 {
			of.to.PerDay = &state.Quota
		}
	}
	return out, nil
}

type setOwnPassword struct {
	Who     app.Principal
	Request *api.Request // with proof of the sender
	Body    ownPassword
}

func (a accounts) setOwnPassword(_ context.Context, in setOwnPassword) (empty, error) {
	return empty{}, a.login.ChangePassword(in.Request, in.Who, in.Body.Old, in.Body.New)
}

func userViewOf(u app.TenantUser) userView {
	return userView{u.ID, u.Email, u.Nickname, u.Role, timeOf(u.CreateTime)}
}

func (a accounts) listUsers(ctx context.Context, in byTenant) (list[userView], error) {
	users, err := a.Accounts.Users(ctx, in.Who.Tenant)
	out := list[userView]{Items: make([]userView, len(users))}
	for i, u := range users {
		out.Items[i] = userViewOf(u)
	}
	return out, err
}

type addUser struct {
	Who  app.Principal
	Body userInput
}

func (a accounts) addUser(ctx context.Context, in addUser) (userView, error) {
	u, err := a.Accounts.AddUser(ctx, in.Who, app.NewUser(in.Body))
	return userViewOf(u), err
}

type updateUser struct {
	Who  app.Principal
	ID   string `path:"user"`
	Body struct {
		Role string `json:"role" jsonschema:"owner, admin or normal"`
	}
}

func (a accounts) updateUser(ctx context.Context, in updateUser) (userView, error) {
	u, err := a.Accounts.SetRole(ctx, in.Who, in.ID, in.Body.Role)
	return userViewOf(u), err
}

type userByID struct {
	Who app.Principal
	ID  string `path:"user"`
}

type deleteUser struct {
	Who  app.Principal
	ID   string `path:"user"`
	To   string `query:"hand_over_to" jsonschema:"id of the user who gets the objects of the deleted one"`
	Keys string `query:"hand_over_keys" jsonschema:"true for API keys and the embed token for all canvases too, which the deleted user may know; only if hand_over_to is the caller"`
}

func (a accounts) removeUser(ctx context.Context, in deleteUser) (empty, error) {
	return empty{}, a.Accounts.RemoveUser(ctx, in.Who, in.ID, app.HandOver{To: in.To, Keys: in.Keys == "true"})
}

type belongingsView struct {
	Canvases    int `json:"canvases" jsonschema:"owned, private ones included"`
	Datasets    int `json:"datasets"`
	Memories    int `json:"memories"`
	Published   int `json:"published" jsonschema:"canvases whose published version acts for the user; not handed over, its runs fail until another user publishes it again"`
	Drafts      int `json:"drafts" jsonschema:"canvases whose draft the user saved last; not handed over, what runs unattended uses what the whole tenant may"`
	Pipelines   int `json:"pipelines" jsonschema:"datasets whose pipeline the user chose; not handed over, it uses what the whole tenant may"`
	Keys        int `json:"keys" jsonschema:"not handed over, they are deleted"`
	EmbedTokens int `json:"embed_tokens" jsonschema:"of pages that embed all canvases of the user; not handed over, they are deleted"`
	Schedules   int `json:"schedules" jsonschema:"not handed over, they run on and read documents like a visitor"`
	Waits       int `json:"waits" jsonschema:"open forms and approvals of runs that the user began; reviewers of the canvas answer them, or they expire"`
}

func (a accounts) belongings(ctx context.Context, in userByID) (belongingsView, error) {
	b, err := app.BelongingsOf(ctx, a.Accounts, in.Who, in.ID)
	return belongingsView{
		Canvases: b.Canvases, Datasets: b.Datasets, Memories: b.Memories, Published: b.Published, Drafts: b.Drafts,
		Pipelines: b.Pipelines, Keys: b.Keys, EmbedTokens: b.EmbedTokens, Schedules: b.Schedules, Waits: b.Waits,
	}, err
}

type setPassword struct {
	Who  app.Principal
	ID   string `path:"user"`
	Body newPassword
}

func (a accounts) setPassword(ctx context.Context, in setPassword) (empty, error) {
	return empty{}, a.Accounts.ResetPassword(ctx, in.Who, in.ID, in.Body.New)
}
