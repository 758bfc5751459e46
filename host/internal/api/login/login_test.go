package login_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A user of several tenants is logged in to their own one, not to the
// first of the list.
func TestLoginWorksInTheAccountsOwnTenant(t *testing.T) {
	s := apitest.New(t)
	made := s.As("one", "POST", "/api/v2/tenants", `{"name":"Ann's","email":"ann@x.org","password":"correct horse"}`, 201)
	own, user := made.Get("id").Str(), made.Get("owner").Str()
	me := func() (tenant, scopes string) {
		login := s.Good(s.Request("POST", "/v1/user/login", "", `{"email":"ann@x.org","password":"correct horse"}`)).Header.Get("Authorization")
		v := s.Request("GET", "/api/v2/me", "", "", "Authorization", login).Body
		return v.Get("tenant").Str(), v.Get("scopes").JSON()
	}
	for _, guest := range []string{"!before all", "~behind all"} {
		_, err := s.Store.Tenants.Put(t.Context(), store.Tenant{ID: guest, Name: guest})
		require.NoError(t, err)
		require.NoError(
			t, s.Store.Members.Put(t.Context(), store.Member{Tenant: guest, User: user, Role: app.RoleAdmin}),
		)
	}
	tenant, scopes := me()
	require.Equal(t, own, tenant)
	require.Equal(t, `["read","run","edit","admin","read_traces"]`, scopes)
	require.NoError(t, s.Store.Members.Delete(t.Context(), own, user))
	tenant, _ = me()
	require.Equal(t, "!before all", tenant)

	for _, c := range []struct {
		name string
		list []store.Member
		want string
	}{
		{"the only tenant", []store.Member{{Tenant: "a", Role: app.RoleNormal}}, "a"},
		{"the tenant the user owns", []store.Member{{Tenant: "a", Role: app.RoleAdmin}, {Tenant: "b", Role: app.RoleOwner}, {Tenant: "c", Role: app.RoleNormal}}, "b"},
		{"the tenant with the user's id", []store.Member{{Tenant: "a", Role: app.RoleOwner}, {Tenant: "u", User: "u", Role: app.RoleOwner}}, "u"},
		{"the tenant with the highest role", []store.Member{{Tenant: "a", Role: app.RoleNormal}, {Tenant: "b", Role: app.RoleAdmin}}, "b"},
		{"the first of equal tenants", []store.Member{{Tenant: "a", Role: app.RoleOwner}, {Tenant: "b", Role: app.RoleOwner}}, "a"},
	} {
		require.Equal(t, c.want, app.OwnTenant(c.list).Tenant, c.name)
	}
}
