package api

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
)

// Who belongs to several tenants works in the own one after a login, not in the
// first of the list.
func TestLoginWorksInTheAccountsOwnTenant(t *testing.T) {
	s := newSite(t)
	made := s.as("one", "POST", "/api/v2/tenants", `{"name":"Ann's","email":"ann@x.org","password":"correct horse"}`, 201)
	own, user := made.Get("id").Str(), made.Get("owner").Str()
	me := func() (tenant, scopes string) {
		login := s.good(s.request("POST", "/v1/user/login", "", `{"email":"ann@x.org","password":"correct horse"}`)).header.Get("Authorization")
		v := s.request("GET", "/api/v2/me", "", "", "Authorization", login).body
		return v.Get("tenant").Str(), v.Get("scopes").JSON()
	}
	for _, guest := range []string{"!before all", "~behind all"} {
		_, err := s.store.PutTenant(t.Context(), store.Tenant{ID: guest, Name: guest})
		require.NoError(t, err)
		require.NoError(t, s.store.PutMember(t.Context(), store.Member{Tenant: guest, User: user, Role: roleAdmin}))
	}
	tenant, scopes := me()
	require.Equal(t, own, tenant)
	require.Equal(t, `["read","run","edit","admin"]`, scopes)
	require.NoError(t, s.store.DeleteMember(t.Context(), own, user))
	tenant, _ = me()
	require.Equal(t, "!before all", tenant)

	for _, c := range []struct {
		name string
		list []store.Member
		want string
	}{
		{"the only one", []store.Member{{Tenant: "a", Role: roleNormal}}, "a"},
		{"the one it owns", []store.Member{{Tenant: "a", Role: roleAdmin}, {Tenant: "b", Role: roleOwner}, {Tenant: "c", Role: roleNormal}}, "b"},
		{"the one with its id", []store.Member{{Tenant: "a", Role: roleOwner}, {Tenant: "u", User: "u", Role: roleOwner}}, "u"},
		{"where it may do most", []store.Member{{Tenant: "a", Role: roleNormal}, {Tenant: "b", Role: roleAdmin}}, "b"},
		{"the first of equals", []store.Member{{Tenant: "a", Role: roleOwner}, {Tenant: "b", Role: roleOwner}}, "a"},
	} {
		require.Equal(t, c.want, ownTenant(c.list).Tenant, c.name)
	}
}
