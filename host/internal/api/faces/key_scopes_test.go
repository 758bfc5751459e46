package faces_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// keyRoutes make keys: with the member that has the key, and the scopes of one made without a list.
var keyRoutes = []struct{ path, scopes string }{
	{"/api/v2/keys", "read,run"},
	{"/api/v2/tenants/two/keys", "read,run"},
	{"/v1/system/new_token", "read,run,edit"},
	{"/api/v1/system/tokens", "read,run,edit"},
	{"/0.27/v1/system/new_token", "read,run,edit"},
	{"/0.27/api/v1/system/tokens", "read,run,edit"},
}

// made returns the stored key of an answer, nil when the request was refused.
func made(s *apitest.Site, a apitest.Answer) *store.Key {
	s.T.Helper()
	text := a.Body.Get("key").Str()
	if text == "" {
		text = a.Data().Get("token").Str()
	}
	if text == "" {
		return nil
	}
	k, err := s.Store.Keys.ByText(s.T.Context(), text)
	require.NoError(s.T, err)
	return &k
}

// withTenants is a site whose tenants have records.
func withTenants(t *testing.T) *apitest.Site {
	s := apitest.New(t)
	for _, id := range []string{"one", "two"} {
		_, err := s.Store.Tenants.Put(t.Context(), store.Tenant{ID: id, Name: id})
		require.NoError(t, err)
	}
	return s
}

func TestScopesOfANewKey(t *testing.T) {
	s := withTenants(t)
	for _, r := range keyRoutes {
		for _, body := range []string{`{"name":"k"}`, `{"name":"k","scopes":null}`} {
			k := made(s, s.Post(r.path, body))
			require.NotNil(t, k, r.path)
			require.Equal(t, strings.Split(r.scopes, ","), k.Scopes, r.path)
		}
		a := s.Post(r.path, `{"name":"k","scopes":[]}`)
		require.Nil(t, made(s, a), r.path)
		require.Contains(t, a.Text, "scopes is empty, so the key could do nothing; name some of read, run", r.path)
		k := made(s, s.Post(r.path, `{"name":"k","scopes":["read_traces","admin"]}`))
		require.Equal(t, []string{"read_traces", "admin"}, k.Scopes, r.path)
		require.Nil(t, made(s, s.Post(r.path, `{"name":"k","scopes":["read","root"]}`)), r.path)
	}
	id := s.Canvas("a", apitest.Echo)
	for _, path := range []string{"/v1/api/new_token", "/0.27/v1/api/new_token"} {
		require.Equal(t, app.RAGFlowScopes, made(s, s.Post(path, `{"canvas_id":"`+id+`"}`)).Scopes)
	}
	keys, err := s.Store.Keys.List(t.Context(), "one")
	require.NoError(t, err)
	for _, k := range keys {
		require.NotEmpty(t, k.Scopes, k.Name)
	}
}

// A key makes no key that may do more, or longer, than itself, and raises no limits above its own.
func TestKeysMakeNoWiderKeys(t *testing.T) {
	s := withTenants(t)
	soon := time.Now().Add(time.Hour).Truncate(time.Second)
	later := soon.Add(time.Hour).Format(time.RFC3339)
	own := store.Key{
		Tenant: "one", User: "one", Rate: 6000, TokensPerDay: 50, ExpireTime: soon.UnixMilli(),
		Scopes: []string{"admin", "host", "read", "run", "edit"},
	}
	maker, key, err := s.Store.Keys.Create(t.Context(), own, "")
	require.NoError(t, err)
	for _, r := range keyRoutes {
		k := made(s, s.Request("POST", r.path, key, `{"name":"k"}`))
		require.NotNil(t, k, r.path)
		require.Equal(t, own.Rate, k.Rate, r.path)
		require.Equal(t, own.TokensPerDay, k.TokensPerDay, r.path)
		require.Equal(t, own.ExpireTime, k.ExpireTime, r.path)
	}
	for _, path := range []string{"/api/v2/keys", "/api/v2/tenants/one/keys", "/api/v2/tenants/two/keys"} {
		for _, wider := range []string{`"rate":6001`, `"tokens_per_day":51`, `"expires":"` + later + `"`} {
			require.Equal(t, 403, s.Request("POST", path, key, `{`+wider+`}`).Status, "%s %s", path, wider)
		}
		k := made(s, s.Request("POST", path, key,
			`{"rate":60,"tokens_per_day":5,"expires":"`+soon.Add(-time.Minute).Format(time.RFC3339)+`"}`))
		require.Equal(t, []int64{60, 5}, []int64{k.Rate, k.TokensPerDay})
		require.Equal(t, soon.Add(-time.Minute).UnixMilli(), k.ExpireTime)
	}
	for _, path := range []string{"/api/v2/keys", "/api/v2/tenants/one/keys"} {
		for _, scope := range []string{"metrics", "read_traces"} {
			require.Equal(t, 403, s.Request("POST", path, key, `{"scopes":["`+scope+`"]}`).Status, "%s %s", path, scope)
		}
	}

	wide, err := s.Store.Keys.List(t.Context(), "one")
	require.NoError(t, err)
	for _, k := range wide {
		for _, wider := range []string{`{"rate":0}`, `{"rate":6001}`, `{"tokens_per_day":0}`, `{"tokens_per_day":51}`} {
			s.As(key, "PUT", "/api/v2/keys/"+k.ID, wider, 403)
		}
	}
	s.As(key, "PUT", "/api/v2/keys/"+maker.ID, `{"rate":5000,"tokens_per_day":40}`, 200)
	s.As(key, "PUT", "/api/v2/keys/"+maker.ID, `{"rate":5001}`, 403)
}

// logIn returns the code of a login.
func logIn(s *apitest.Site, email, password string) int {
	s.T.Helper()
	return s.Request("POST", "/v1/user/login", "", `{"email":"`+email+`","password":"`+password+`"}`).Code()
}

// A key with limits cannot be exchanged for something without: a login, a password, a user, the
// token of embedded pages.
func TestLimitedKeysStayLimited(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	ann, err := s.Store.Users.CreateMember(
		t.Context(), store.Member{Tenant: "one", Role: app.RoleOwner}, store.User{Email: "ann@x.org"}, "correct horse",
	)
	require.NoError(t, err)
	bob, err := s.Store.Users.CreateMember(
		t.Context(), store.Member{Tenant: "one", Role: app.RoleNormal}, store.User{Email: "bob@x.org"}, "correct horse",
	)
	require.NoError(t, err)
	require.NoError(t, s.Store.Members.Put(t.Context(), store.Member{Tenant: "two", User: ann.ID, Role: app.RoleOwner}))
	id := s.Canvas("a", apitest.Echo)
	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"permission":"team"}`, 200)
	without := func(scope string) (list []string) {
		for _, one := range app.Scopes {
			if one != scope {
				list = append(list, one)
			}
		}
		return list
	}
	for name, k := range map[string]store.Key{
		"expires":         {Scopes: app.Scopes, ExpireTime: time.Now().Add(time.Hour).UnixMilli()},
		"rate":            {Scopes: app.Scopes, Rate: 6000},
		"quota":           {Scopes: app.Scopes, TokensPerDay: 1000},
		"without host":    {Scopes: without(app.ScopeHost)},
		"without traces":  {Scopes: without(app.ScopeReadTraces)},
		"admin alone":     {Scopes: []string{app.ScopeAdmin}},
		"another tenant":  {Scopes: app.Scopes, Tenant: "two"},
		"nothing":         {},
		"without running": {Scopes: without(app.ScopeRun)},
	} {
		t.Run(name, func(t *testing.T) {
			s.T = t
			k.User = ann.ID
			if k.Tenant == "" {
				k.Tenant = "one"
			}
			_, key, err := s.Store.Keys.Create(t.Context(), k, "")
			require.NoError(t, err)
			require.Equal(t, 109, logIn(s, "ann@x.org", key))
			for _, body := range []string{`{"new":"another horse"}`, `{"old":"correct horse","new":"another horse"}`} {
				s.As(key, "PUT", "/api/v2/me/password", body, 403)
			}
			if name == "another tenant" {
				return
			}
			path := "/api/v2/users/" + bob.ID
			if !strings.HasPrefix(name, "without h") { // who may do all that bob may changes bob
				require.Equal(t, 403, s.Request("PUT", path, key, `{"role":"normal"}`).Status)
				require.Equal(t, 403, s.Request("PUT", path+"/password", key, `{"new":"another horse"}`).Status)
				require.Equal(t, 403, s.Request("DELETE", path, key, "").Status)
			}
			user := `{"email":"eve@x.org","password":"correct horse","role":"owner"}`
			require.Equal(t, 403, s.Request("POST", "/api/v2/users", key, user).Status)
			if name == "without host" || name == "without traces" {
				return
			}
			require.Equal(t, 403, s.Request("POST", "/api/v2/canvases/"+id+"/token", key, "").Status)
			a := s.Request("GET", "/v1/system/token_list", key, "")
			require.NotContains(t, a.Text, `"beta":"`)
		})
	}
	s.T = t
	require.Equal(t, 0, logIn(s, "ann@x.org", "correct horse"))
	require.Equal(t, 0, logIn(s, "bob@x.org", "correct horse"))
	_, whole, err := s.Store.Keys.Create(t.Context(), store.Key{Tenant: "one", User: ann.ID, Scopes: app.Scopes}, "")
	require.NoError(t, err)
	require.Equal(t, 0, logIn(s, "ann@x.org", whole))
	s.As(whole, "PUT", "/api/v2/me/password", `{"new":"another horse"}`, 204)
}

// A limited key gets neither the signing secret of an embed token nor replaces it: with both,
// the conversations of every signed user are open.
func TestLimitedKeysGetNoSigningSecret(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	for name, k := range map[string]store.Key{
		"expires":     {Scopes: app.Scopes, ExpireTime: time.Now().Add(time.Hour).UnixMilli()},
		"rate":        {Scopes: app.Scopes, Rate: 6000},
		"quota":       {Scopes: app.Scopes, TokensPerDay: 1000},
		"admin alone": {Scopes: []string{app.ScopeAdmin}},
	} {
		k.Tenant, k.User = "one", "one"
		_, key, err := s.Store.Keys.Create(t.Context(), k, "")
		require.NoError(t, err)
		for _, method := range []string{"POST", "PUT"} {
			a := s.Request(method, "/api/v2/canvases/"+id+"/token/secret", key, "")
			require.Equal(t, 403, a.Status, "%s, %s: %s", name, method, a.Text)
		}
	}
}

// A key with limits adds no tenant, whose first key and owner have none.
func TestLimitedKeysAddNoTenants(t *testing.T) {
	s := withTenants(t)
	for name, k := range map[string]store.Key{
		"expires": {ExpireTime: time.Now().Add(time.Hour).UnixMilli()},
		"rate":    {Rate: 6000}, "quota": {TokensPerDay: 9},
	} {
		k.Tenant, k.User, k.Scopes = "one", "one", app.Scopes
		_, key, err := s.Store.Keys.Create(t.Context(), k, "")
		require.NoError(t, err)
		for _, body := range []string{
			`{"name":"three"}`, `{"name":"three","email":"eve@x.org","password":"correct horse"}`,
		} {
			a := s.Request("POST", "/api/v2/tenants", key, body)
			require.Equal(t, 403, a.Status, "%s: %s", name, a.Text)
		}
	}
	list, err := s.Store.Tenants.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 2)
	s.As("one", "POST", "/api/v2/tenants", `{"name":"three"}`, 201)
}

// Who changes what a schedule runs pays for it: a key with a quota does not spend that of another.
func TestSchedulesCountForWhoChangedThem(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	limited, key, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", User: "one", Scopes: app.RAGFlowScopes, TokensPerDay: 10}, "",
	)
	require.NoError(t, err)
	daily := `{"canvas":"` + id + `","every":"24h","query":"q"}`
	made := s.As("one", "POST", "/api/v2/schedules", daily, 201).Get("id").Str()
	caller := func() string {
		v, err := s.Schedules.Get(t.Context(), "one", made)
		require.NoError(t, err)
		return v.Job.Caller
	}
	first := caller()
	require.NotEqual(t, limited.Caller(), first)
	for _, change := range []string{`{"name":"b"}`, `{"paused":true}`} {
		s.As(key, "PUT", "/api/v2/schedules/"+made, change, 200)
		require.Equal(t, first, caller(), change)
	}
	for _, change := range []string{`{"query":"mine"}`, `{"every":"25h"}`, `{"inputs":{"a":1}}`, `{"paused":false}`} {
		s.As(key, "PUT", "/api/v2/schedules/"+made, change, 200)
		require.Equal(t, limited.Caller(), caller(), change)
		s.As("one", "PUT", "/api/v2/schedules/"+made, `{"query":"q"}`, 200)
		require.Equal(t, first, caller())
	}
}
