package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Accounts of our own API: the caller, users, keys (v2_key.go), tenants
// (v2_tenant.go) and secrets (v2_secret.go).
var v2AccountRoutes = []route{
	{method: "GET", path: "/api/v2/me", body: bodyNone, answer: (*API).v2Me, doc: &v2Doc{
		name: "me", about: "Who the caller is and what it may do. For a login held by a cookie also the text that requests must send as X-CSRF-Token.",
		out: schemaOf[v2Me](),
	}},
	{method: "GET", path: "/api/v2/me/usage", body: bodyNone, answer: (*API).v2Usage, doc: &v2Doc{
		name: "usage", about: "How many model tokens the caller and its tenant have used today, may use, and when the count is reset.", out: schemaOf[v2Usage](),
	}},
	{method: "PUT", path: "/api/v2/me/password", body: bodyTiny, answer: (*API).v2OwnPassword, doc: &v2Doc{
		name: "setOwnPassword", about: "Changes the caller's password and ends all its logins.", in: schemaOf[v2Password](), status: http.StatusNoContent,
	}},
	{method: "GET", path: "/api/v2/users", body: bodyNone, scope: scopeAdmin, answer: (*API).v2ListUsers, doc: &v2Doc{
		name: "listUsers", about: "People of the caller's tenant.", out: schemaOf[v2Users](),
	}},
	{method: "POST", path: "/api/v2/users", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2CreateUser, doc: &v2Doc{
		name: "createUser", about: "Adds a person who can log in.", in: schemaOf[v2UserInput](), out: schemaOf[v2User](), status: http.StatusCreated,
	}},
	{method: "DELETE", path: "/api/v2/users/{user}", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2DeleteUser, doc: &v2Doc{
		name: "deleteUser", about: "Removes a person with its keys and logins. A tenant's last owner stays.", status: http.StatusNoContent,
	}},
	{method: "PUT", path: "/api/v2/users/{user}/password", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2UserPassword, doc: &v2Doc{
		name: "setPassword", about: "Gives a person a new password and ends all its logins.", in: schemaOf[v2NewPassword](), status: http.StatusNoContent,
	}},
	{method: "GET", path: "/api/v2/keys", body: bodyNone, scope: scopeAdmin, answer: (*API).v2ListKeys, doc: &v2Doc{
		name: "listKeys", about: "API keys of the caller's tenant, newest first. What they are is shown only when they are made.", out: schemaOf[v2Keys](),
	}},
	{method: "POST", path: "/api/v2/keys", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2CreateKey, doc: &v2Doc{
		name: "createKey", about: "Makes an API key. It is shown in this answer and never again.", in: schemaOf[v2KeyInput](), out: schemaOf[v2Key](), status: http.StatusCreated,
	}},
	{method: "PUT", path: "/api/v2/keys/{key}", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2LimitKey, doc: &v2Doc{
		name: "limitKey", about: "Changes what a key, named by its id, may use. Limits that are left out stay.", in: schemaOf[v2KeyLimits](), out: schemaOf[v2Key](),
	}},
	{method: "DELETE", path: "/api/v2/keys/{key}", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2DeleteKey, doc: &v2Doc{
		name: "deleteKey", about: "Revokes an API key, by its id or by itself.", status: http.StatusNoContent,
	}},
	{method: "POST", path: "/api/v2/canvases/{id}/token", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2Token, doc: &v2Doc{
		name: "embedToken", about: "The token with which a page embeds this canvas, made when there is none.", out: schemaOf[v2EmbedToken](),
	}},
	{method: "DELETE", path: "/api/v2/canvases/{id}/token", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2DeleteToken, doc: &v2Doc{
		name: "deleteEmbedToken", about: "Ends the token with which pages embed this canvas.", status: http.StatusNoContent,
	}},
	{method: "GET", path: "/api/v2/tenants", body: bodyNone, scope: scopeHost, answer: (*API).v2ListTenants, doc: &v2Doc{
		name: "listTenants", about: "All tenants of the host. For its operator.", out: schemaOf[v2Tenants](),
	}},
	{method: "POST", path: "/api/v2/tenants", body: bodyTiny, scope: scopeHost, answer: (*API).v2CreateTenant, doc: &v2Doc{
		name: "createTenant", about: "Adds a tenant with its owner and a key, which is shown in this answer and never again. For the host's operator.",
		in: schemaOf[v2TenantInput](), out: schemaOf[v2NewTenant](), status: http.StatusCreated,
	}},
	{method: "PUT", path: "/api/v2/tenants/{tenant}", body: bodyTiny, scope: scopeHost, answer: (*API).v2LimitTenant, doc: &v2Doc{
		name: "limitTenant", about: "Changes what a tenant may use. For the host's operator.", in: schemaOf[v2TenantLimits](), out: schemaOf[v2Tenant](),
	}},
	{method: "DELETE", path: "/api/v2/tenants/{tenant}", body: bodyTiny, scope: scopeHost, answer: (*API).v2DeleteTenant, doc: &v2Doc{
		name: "deleteTenant", about: "Removes a tenant with everything it has. For the host's operator.", status: http.StatusNoContent,
	}},
	{method: "POST", path: "/api/v2/tenants/{tenant}/keys", body: bodyTiny, scope: scopeHost, answer: (*API).v2CreateTenantKey, doc: &v2Doc{
		name: "createTenantKey", about: "Makes a key for a tenant that has lost its own. For the host's operator.",
		in: schemaOf[v2KeyInput](), out: schemaOf[v2Key](), status: http.StatusCreated,
	}},
	{method: "GET", path: "/api/v2/secrets", body: bodyNone, scope: scopeRead, answer: (*API).v2ListSecrets, doc: &v2Doc{
		name: "listSecrets", about: "Names of the secrets that canvases may use as {{secret:NAME}} in their own params, and the hosts they may go to. Values are never shown.", out: schemaOf[v2Secrets](),
	}},
	{method: "PUT", path: "/api/v2/secrets/{name}", body: bodySmall, scope: scopeEdit, answer: (*API).v2PutSecret, doc: &v2Doc{
		name: "putSecret", about: "Stores a secret, sealed, over what was there, and binds it to hosts.", in: schemaOf[v2SecretInput](), status: http.StatusNoContent,
	}},
	{method: "DELETE", path: "/api/v2/secrets/{name}", body: bodyTiny, scope: scopeEdit, answer: (*API).v2DeleteSecret, doc: &v2Doc{
		name: "deleteSecret", about: "Forgets a secret.", status: http.StatusNoContent,
	}},
}

type v2Me struct {
	Tenant     string   `json:"tenant"`
	TenantName string   `json:"tenant_name"`
	User       string   `json:"user"`
	Email      string   `json:"email"`
	Nickname   string   `json:"nickname"`
	Scopes     []string `json:"scopes" jsonschema:"what the caller may do: read, run, edit, admin, host, metrics"`
	CSRF       string   `json:"csrf,omitempty" jsonschema:"for logins held by a cookie"`
}

type v2Password struct {
	Old string `json:"old,omitempty" jsonschema:"the present password or an unlimited API key; needed unless such a key makes the request"`
	New string `json:"new" jsonschema:"8 characters at least"`
}

type v2NewPassword struct {
	New string `json:"new" jsonschema:"8 characters at least"`
}

type v2User struct {
	ID       string    `json:"id"`
	Email    string    `json:"email"`
	Nickname string    `json:"nickname"`
	Role     string    `json:"role" jsonschema:"owner, admin or normal"`
	Created  time.Time `json:"created"`
}

type v2Users struct {
	Items []v2User `json:"items"`
}

type v2UserInput struct {
	Email    string `json:"email"`
	Nickname string `json:"nickname,omitempty"`
	Password string `json:"password" jsonschema:"8 characters at least"`
	Role     string `json:"role,omitempty" jsonschema:"owner, admin or normal, which is what is meant by none"`
}

func (a *API) v2Me(c *call) error {
	out := v2Me{Tenant: c.who.tenant, TenantName: c.who.tenant, User: c.who.user, CSRF: c.who.csrf}
	for _, s := range allScopes {
		if c.who.may(s) && (!ofHost(s) || c.who.tenant == a.cfg.Operator) {
			out.Scopes = append(out.Scopes, s)
		}
	}
	if t, err := a.cfg.Store.Tenant(c.ctx(), c.who.tenant); err == nil {
		out.TenantName = t.Name
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if u, err := a.cfg.Store.User(c.ctx(), c.who.user); err == nil {
		out.Email, out.Nickname = u.Email, u.Nickname
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	c.json(http.StatusOK, out)
	return nil
}

// shortestPassword is in runes. Longer is better than stranger: there are no
// other rules.
const shortestPassword = 8

// longestPassword keeps the work of a password check small, in bytes.
const longestPassword = 1024

func checkPassword(p string) error {
	switch {
	case utf8.RuneCountInString(p) < shortestPassword:
		return badArgument("a password has at least %d characters", shortestPassword)
	case len(p) > longestPassword:
		return badArgument("a password has at most %d bytes", longestPassword)
	case !plainText(p):
		return badArgument("a password is UTF-8 text without control characters")
	}
	return nil
}

func badArgument(format string, args ...any) error {
	return &status{http.StatusUnprocessableEntity, "bad_argument", fmt.Sprintf(format, args...)}
}

func (a *API) v2OwnPassword(c *call) error {
	var in v2Password
	if err := c.decode(&in); err != nil {
		return err
	}
	byKey := c.token() != "" && len(c.who.scopes) == 0
	if err := c.changePassword(c.who, in.Old, in.New, byKey); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// changePassword changes a caller's own password. Who came with an unlimited
// key has proved enough; others say the old one.
func (c *call) changePassword(who caller, old, password string, proved bool) error {
	u, err := c.a.cfg.Store.User(c.ctx(), who.user)
	if errors.Is(err, store.ErrNotFound) {
		return &status{http.StatusConflict, "no_user", "this key belongs to nobody who can log in"}
	}
	if err != nil {
		return err
	}
	if !proved {
		same, err := authenticate(c, u.Email, old, true)
		if errors.Is(err, store.ErrNotFound) || err == nil && same.ID != u.ID {
			return &status{http.StatusForbidden, "wrong_password", "the old password is not right"}
		}
		if err != nil {
			return err
		}
	}
	if err := checkPassword(password); err != nil {
		return err
	}
	return c.a.cfg.Store.SetPassword(c.ctx(), u.ID, password)
}

func v2UserOf(u store.User, role string) v2User {
	return v2User{u.ID, u.Email, u.Nickname, role, time.UnixMilli(u.CreateTime).UTC()}
}

func (a *API) v2ListUsers(c *call) error {
	members, err := a.cfg.Store.Members(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	out := v2Users{Items: []v2User{}}
	for _, m := range members {
		u, err := a.cfg.Store.User(c.ctx(), m.User)
		if errors.Is(err, store.ErrNotFound) {
			continue // gone since
		}
		if err != nil {
			return err
		}
		out.Items = append(out.Items, v2UserOf(u, m.Role))
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2CreateUser(c *call) error {
	var in v2UserInput
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.Role == "" {
		in.Role = roleNormal
	}
	switch {
	case in.Role != roleOwner && in.Role != roleAdmin && in.Role != roleNormal:
		return badArgument("role must be owner, admin or normal, not %.40q", in.Role)
	case !c.who.covers(scopesOf(in.Role)):
		return &status{http.StatusForbidden, "forbidden", "a limited key cannot add somebody who may do more"}
	}
	u, err := c.newUser(c.who.tenant, in.Role, in.Email, in.Nickname, in.Password)
	if err != nil {
		return err
	}
	c.json(http.StatusCreated, v2UserOf(u, in.Role))
	return nil
}

// newUser adds a member to a tenant.
func (c *call) newUser(tenant, role, email, nickname, password string) (store.User, error) {
	email = strings.TrimSpace(email)
	named := strings.Contains(strings.Trim(email, "@"), "@")
	if !named || len(email) > 254 || strings.Contains(email, " ") || !plainText(email) {
		return store.User{}, badArgument("email %.60q is no address", email)
	}
	if err := checkPassword(password); err != nil {
		return store.User{}, err
	}
	if nickname == "" {
		nickname, _, _ = strings.Cut(email, "@")
	}
	u, err := c.a.cfg.Store.CreateMember(c.ctx(), store.Member{Tenant: tenant, Role: role}, store.User{Email: email, Nickname: nickname}, password)
	if errors.Is(err, store.ErrExists) {
		err = &status{http.StatusConflict, "exists", "somebody has this address already"}
	}
	return u, err
}

// member finds a person of the caller's tenant whom the caller may change.
func (c *call) member() (store.Member, []store.Member, error) {
	members, err := c.a.cfg.Store.Members(c.ctx(), c.who.tenant)
	if err != nil {
		return store.Member{}, nil, err
	}
	for _, m := range members {
		if m.User != c.params["user"] {
			continue
		}
		if !c.who.covers(scopesOf(m.Role)) {
			return m, nil, &status{http.StatusForbidden, "forbidden", "a limited key cannot change somebody who may do more"}
		}
		return m, members, nil
	}
	return store.Member{}, nil, notFoundV2("user")
}

func (a *API) v2DeleteUser(c *call) error {
	m, members, err := c.member()
	if err != nil {
		return err
	}
	owners := 0
	for _, other := range members {
		if other.Role == roleOwner {
			owners++
		}
	}
	if m.Role == roleOwner && owners == 1 {
		return &status{http.StatusConflict, "last_owner", "a tenant's last owner stays"}
	}
	if err := a.cfg.Store.DeleteMember(c.ctx(), m.Tenant, m.User); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func (a *API) v2UserPassword(c *call) error {
	var in v2NewPassword
	if err := c.decode(&in); err != nil {
		return err
	}
	m, _, err := c.member()
	if err != nil {
		return err
	}
	if err := checkPassword(in.New); err != nil {
		return err
	}
	all, err := a.cfg.Store.Memberships(c.ctx(), m.User)
	if err != nil {
		return err
	}
	if len(all) > 1 {
		return &status{http.StatusForbidden, "forbidden", "somebody who belongs to other tenants too changes the password alone"}
	}
	if err := a.cfg.Store.SetPassword(c.ctx(), m.User, in.New); err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
