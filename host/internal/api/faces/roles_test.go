package faces_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// person is a member of tenant one with a login and keys.
type person struct {
	store.Member
	email, login string
	admin, read  store.Key // keys with the scopes of an admin, and to read
	whole        string    // a key with all scopes
}

// people makes members of tenant one.
type people struct {
	*apitest.Site
	count int
}

func (p *people) add(role string) person {
	p.T.Helper()
	ctx := p.T.Context()
	p.count++
	who := person{email: fmt.Sprintf("%s%d@x.org", role, p.count)}
	u, err := p.Store.Users.CreateMember(
		ctx, store.Member{Tenant: "one", Role: role}, store.User{Email: who.email}, "correct horse",
	)
	require.NoError(p.T, err)
	who.Member = store.Member{Tenant: "one", User: u.ID, Role: role}
	_, who.login, err = p.Store.Logins.Create(ctx, u.ID, time.Hour, store.Origin{})
	require.NoError(p.T, err)
	p.addKeys(&who)
	return who
}

func (p *people) addKeys(who *person) {
	p.T.Helper()
	key := func(scopes ...string) (store.Key, string) {
		k, text, err := p.Store.Keys.Create(
			p.T.Context(), store.Key{Tenant: "one", User: who.User, Scopes: scopes}, "",
		)
		require.NoError(p.T, err)
		return k, text
	}
	who.admin, _ = key(app.ScopeRead, app.ScopeAdmin)
	who.read, _ = key(app.ScopeRead)
	_, who.whole = key(app.Scopes...)
}

// changes returns what differs of a member since it was added.
func (p *people) changes(who person) (list []string) {
	p.T.Helper()
	ctx := p.T.Context()
	members, err := p.Store.Members.OfUser(ctx, who.User)
	require.NoError(p.T, err)
	if len(members) != 1 || members[0] != who.Member {
		list = append(list, fmt.Sprintf("member %v", members))
	}
	if _, err := p.Store.Logins.ByText(ctx, who.login); err != nil {
		list = append(list, "login ended")
	}
	keys, err := p.Store.Keys.List(ctx, "one")
	require.NoError(p.T, err)
	for name, k := range map[string]store.Key{"admin": who.admin, "read": who.read} {
		same := func(now store.Key) bool { return now.ID == k.ID && now.Rate == k.Rate }
		if !slices.ContainsFunc(keys, same) {
			list = append(list, "key "+name)
		}
	}
	return list
}

// roleActions are actions of one member on another. The keys of each that are named change.
var roleActions = []struct {
	name, method, path, body string
	whom                     string // "role": the role counts; "read": a key that an admin covers
	gives                    string // the role that the member has afterwards
}{
	{"promote", "PUT", "/api/v2/users/{user}", `{"role":"owner"}`, "role", app.RoleOwner},
	{"make admin", "PUT", "/api/v2/users/{user}", `{"role":"admin"}`, "role", app.RoleAdmin},
	{"demote", "PUT", "/api/v2/users/{user}", `{"role":"normal"}`, "role", app.RoleNormal},
	{"reset password", "PUT", "/api/v2/users/{user}/password", `{"new":"another horse"}`, "role", ""},
	{"remove", "DELETE", "/api/v2/users/{user}", ``, "role", ""},
	{"limit admin key", "PUT", "/api/v2/keys/{admin}", `{"rate":7}`, "role", ""},
	{"limit read key", "PUT", "/api/v2/keys/{read}", `{"rate":7}`, "read", ""},
	{"revoke admin key", "DELETE", "/api/v2/keys/{admin}", ``, "role", ""},
	{"revoke read key", "DELETE", "/api/v2/keys/{read}", ``, "read", ""},
	{"old token", "DELETE", "/v1/system/token/{admin}", ``, "role", ""},
	{"token", "DELETE", "/api/v1/system/tokens/{admin}", ``, "role", ""},
	{"0.27 old token", "DELETE", "/0.27/v1/system/token/{admin}", ``, "role", ""},
	{"0.27 token", "DELETE", "/0.27/api/v1/system/tokens/{admin}", ``, "role", ""},
	{"tokens", "POST", "/v1/api/rm", `{"tenant_id":"one","tokens":["{admin}"]}`, "role", ""},
	{"0.27 tokens", "POST", "/0.27/v1/api/rm", `{"tenant_id":"one","tokens":["{admin}"]}`, "role", ""},
}

func (who person) fill(text string) string {
	for from, to := range map[string]string{"{user}": who.User, "{admin}": who.admin.ID, "{read}": who.read.ID} {
		text = strings.ReplaceAll(text, from, to)
	}
	return text
}

// What a member may do to another depends on both roles: none acts on a higher one, or assigns it.
// A key has the role of its user, and a limited key acts on no user.
func TestRolesOverRoles(t *testing.T) {
	t.Parallel()
	s := &people{Site: apitest.New(t)}
	owner, admin, normal := s.add(app.RoleOwner), s.add(app.RoleAdmin), s.add(app.RoleNormal)
	_, bounded, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", User: owner.User, Scopes: app.Scopes, Rate: 60000}, "",
	)
	require.NoError(t, err)
	_, narrow, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", User: owner.User, Scopes: []string{app.ScopeAdmin}}, "",
	)
	require.NoError(t, err)
	ranks := map[string]int{app.RoleNormal: 1, app.RoleAdmin: 2, app.RoleOwner: 3}
	for _, actor := range []struct {
		name, text string
		may        int // the highest role that it acts on; 0 for none
	}{
		{"owner", owner.login, 3},
		{"key of the owner", owner.whole, 3},
		{"admin", admin.login, 2},
		{"key of the admin", admin.whole, 2},
		{"normal", normal.login, 0},
		{"key with a rate", bounded, 0},
		{"key to administer", narrow, 0},
	} {
		targets := map[string]person{}
		for _, role := range []string{app.RoleOwner, app.RoleAdmin, app.RoleNormal} {
			targets[role] = s.add(role)
			for _, action := range roleActions {
				target, label := targets[role], actor.name+", "+action.name+", "+role
				a := s.Request(action.method, target.fill(action.path), actor.text, target.fill(action.body))
				allowed := ranks[role] <= actor.may && ranks[action.gives] <= actor.may
				if action.whom == "read" {
					allowed = actor.may > 0
				}
				// A key with a rate revokes keys; it cannot set a wider limit than it has.
				if actor.text == bounded && !strings.HasPrefix(action.path, "/api/v2/users/") {
					allowed = true
				}
				if !allowed {
					require.Equal(t, http.StatusForbidden, a.Status, "%s: %s", label, a.Text)
					require.Empty(t, s.changes(target), label)
					continue
				}
				require.Less(t, a.Status, 300, "%s: %s", label, a.Text)
				if strings.HasPrefix(action.path, "/api/v2/users/") {
					target = s.add(role)
				} else {
					s.addKeys(&target)
				}
				targets[role] = target
			}
			created := s.Request("POST", "/api/v2/users", actor.text,
				`{"email":"new@x.org","password":"correct horse","role":"`+role+`"}`)
			require.Equal(t, ranks[role] <= actor.may, created.Status == http.StatusCreated, created.Text)
			if created.Status == http.StatusCreated {
				require.NoError(t, s.Store.Members.Delete(t.Context(), "one", created.Body.Get("id").Str()))
			}
		}
	}
	// No member promotes itself.
	for _, self := range []person{admin, normal} {
		for _, text := range []string{self.login, self.whole} {
			require.Equal(t, 403, s.Request("PUT", "/api/v2/users/"+self.User, text, `{"role":"owner"}`).Status)
		}
		require.Empty(t, s.changes(self))
	}
}

// No route lets an admin, a member, or a limited key of an owner change an owner: whatever they
// send, the owner has its role, login, keys and password afterwards.
func TestNoRouteChangesAnOwner(t *testing.T) {
	t.Parallel()
	s := &people{Site: apitest.New(t)}
	_, err := s.Store.Tenants.Put(t.Context(), store.Tenant{ID: "one", Name: "one"})
	require.NoError(t, err)
	owner, admin, normal := s.add(app.RoleOwner), s.add(app.RoleAdmin), s.add(app.RoleNormal)
	_, host, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", User: admin.User, Scopes: []string{app.ScopeHost}}, "",
	)
	require.NoError(t, err)
	_, narrow, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", User: owner.User, Scopes: []string{app.ScopeAdmin, app.ScopeHost}}, "",
	)
	require.NoError(t, err)
	bodies := []string{
		`{"role":"normal"}`, `{"new":"another horse"}`, `{"old":"","new":"another horse"}`, `{"rate":7}`,
		`{"scopes":["read","run","edit","admin","host","metrics","read_traces"]}`, `{}`,
		`{"tenant_id":"one","tokens":["` + owner.admin.ID + `"],"user_id":"` + owner.User + `"}`,
	}
	login := func(who person) string { // a key of the user may have changed the password
		_, text, err := s.Store.Logins.Create(t.Context(), who.User, time.Hour, store.Origin{})
		require.NoError(t, err)
		return text
	}
	for name, text := range map[string]string{
		"admin": "", "normal": "", "key of the admin": admin.whole, "host key of the admin": host,
		"limited key of the owner": narrow,
	} {
		switch name {
		case "admin":
			text = login(admin)
		case "normal":
			text = login(normal)
		}
		apitest.EachRoute(s.Site, func(r api.Route, method string) {
			switch {
			case r.Scope != app.ScopeAdmin && r.Scope != app.ScopeHost && r.Scope != "", r.Need != api.NeedUser:
				return // about canvases and datasets
			case strings.Contains(r.Path, "logout"), r.Path == "/api/v2/tenants/{tenant}":
				return
			}
			b := apitest.Unknown
			b.User, b.Key, b.Tenant = owner.User, owner.admin.ID, "one"
			for _, body := range bodies {
				a := s.Request(method, b.Fill(r.Path), text, body)
				require.NotEqual(t, http.StatusUnauthorized, a.Status, "%s: %s %s: %s", name, method, r.Path, a.Text)
				require.Empty(t, s.changes(owner), "%s: %s %s %s: %s", name, method, r.Path, body, a.Text)
				if k := made(s.Site, a); k != nil && name != "limited key of the owner" {
					require.NotEqual(t, owner.User, k.User, "%s: %s %s: a key of the owner", name, method, r.Path)
				}
			}
		})
	}
	_, err = s.Store.Users.ByPassword(t.Context(), owner.email, "correct horse")
	require.NoError(t, err)
	members, err := s.Store.Members.List(t.Context(), "one")
	require.NoError(t, err)
	for _, m := range members {
		require.Equal(t, m.Role == app.RoleOwner, m.User == owner.User, "one owner, and the same")
	}
}

// The last owner stays, also at its own request.
func TestLastOwnerStays(t *testing.T) {
	s := &people{Site: apitest.New(t)}
	owner, admin := s.add(app.RoleOwner), s.add(app.RoleAdmin)
	for _, text := range []string{owner.login, owner.whole} {
		for _, role := range []string{app.RoleAdmin, app.RoleNormal} {
			s.As(text, "PUT", "/api/v2/users/"+owner.User, `{"role":"`+role+`"}`, 409)
		}
		s.As(text, "DELETE", "/api/v2/users/"+owner.User, "", 409)
	}
	require.Empty(t, s.changes(owner))
	s.As(owner.login, "PUT", "/api/v2/users/"+admin.User, `{"role":"owner"}`, 200)
	s.As(owner.login, "PUT", "/api/v2/users/"+owner.User, `{"role":"admin"}`, 200)
	s.As(owner.login, "PUT", "/api/v2/users/"+admin.User, `{"role":"admin"}`, 403)
}

// Only owners operate the host; an admin of the same tenant does not, and cannot make a key that
// does.
func TestAdminsDoNotOperateTheHost(t *testing.T) {
	s := &people{Site: apitest.New(t)}
	admin, owner := s.add(app.RoleAdmin), s.add(app.RoleOwner)
	for _, path := range []string{"/api/v2/tenants", "/api/v2/health", "/metrics"} {
		require.Equal(t, 403, s.Request("GET", path, admin.login, "").Status, path)
		require.Equal(t, 200, s.Request("GET", path, owner.login, "").Status, path)
	}
	for _, scope := range []string{app.ScopeHost, app.ScopeMetrics} {
		s.As(admin.login, "POST", "/api/v2/keys", `{"scopes":["`+scope+`"]}`, 403)
		s.As(owner.login, "POST", "/api/v2/keys", `{"scopes":["`+scope+`"]}`, 201)
	}
	require.Equal(t, app.RoleAdmin, s.As(admin.login, "GET", "/api/v2/me", "", 200).Get("role").Str())
	require.Equal(t, app.RoleOwner, s.As(owner.whole, "GET", "/api/v2/me", "", 200).Get("role").Str())
}
