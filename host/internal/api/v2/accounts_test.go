package v2_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

func TestTenantsUsersAndKeys(t *testing.T) {
	s := apitest.New(t)
	made := s.As("one", "POST", "/api/v2/tenants", `{"name":"Three","email":"ann@three.org","password":"correct horse"}`, 201)
	key, tenant := made.Get("key").Str(), made.Get("id").Str()
	require.Len(t, key, len("ragflow-")+43)
	require.Contains(t, s.As("one", "GET", "/api/v2/tenants", "", 200).JSON(), `"name":"Three"`)
	me := s.As(key, "GET", "/api/v2/me", "", 200)
	require.Equal(t, `["read","run","edit","admin","read_traces"]`, me.Get("scopes").JSON())
	require.Equal(t, "Three", me.Get("tenant_name").Str())
	require.Equal(t, "ann@three.org", me.Get("email").Str())
	me = s.As("one", "GET", "/api/v2/me", "", 200)
	require.Equal(t, `["read","run","edit","admin","host","metrics","read_traces"]`, me.Get("scopes").JSON())

	t.Run("only the operator sees tenants", func(t *testing.T) {
		s.T = t
		for _, k := range []string{key, "two"} {
			s.As(k, "GET", "/api/v2/tenants", "", 403)
			s.As(k, "POST", "/api/v2/tenants", `{"name":"x"}`, 403)
			s.As(k, "DELETE", "/api/v2/tenants/one", "", 403)
			s.As(k, "POST", "/api/v2/tenants/one/keys", `{}`, 403)
			s.As(k, "POST", "/api/v2/keys", `{"scopes":["host"]}`, 403)
		}
		s.As("one", "POST", "/api/v2/tenants/"+tenant+"/keys", `{"scopes":["host"]}`, 403)
		_, forged, err := s.Store.Keys.Create(t.Context(), store.Key{Tenant: tenant, Scopes: app.Scopes}, "")
		require.NoError(t, err)
		s.As(forged, "GET", "/api/v2/tenants", "", 403)
	})
	t.Run("limited keys stay limited", func(t *testing.T) {
		s.T = t
		admin := s.As(key, "POST", "/api/v2/keys", `{"name":"a","scopes":["admin","read"],"rate":600}`, 201)
		require.EqualValues(t, "600", admin.Get("rate").Text())
		a := admin.Get("key").Str()
		s.As(a, "POST", "/api/v2/keys", `{"scopes":["run"]}`, 403)
		refused := s.As(a, "POST", "/api/v2/keys", `{}`, 403).JSON()
		require.Contains(t, refused, "the scope run is not one of admin, read")
		require.Equal(t, "600", s.As(a, "POST", "/api/v2/keys", `{"scopes":["read"]}`, 201).Get("rate").Text())
		s.As(a, "POST", "/api/v2/users", `{"email":"x@three.org","password":"correct horse","role":"owner"}`, 403)
		s.As(a, "PUT", "/api/v2/users/"+made.Get("owner").Str()+"/password", `{"new":"another horse"}`, 403)
		s.As(a, "PUT", "/api/v2/me/password", `{"new":"another horse"}`, 403)
		s.As(a, "PATCH", "/api/v2/me", `{"nickname":"Mallory"}`, 403)
		s.As(a, "POST", "/api/v2/canvases", `{"title":"x","dsl":`+apitest.Echo+`}`, 403)
		require.Equal(t, 109, s.Request("POST", "/v1/user/login", "", `{"email":"x","password":"`+a+`"}`).Code(), "a limited key is no login")
		old := s.Request("POST", "/v1/system/new_token", a, `{"scopes":["edit"]}`)
		require.Equal(t, 403, old.Status)
		for _, body := range []string{`{"scopes":["root"]}`, `{"rate":-1}`, `{"rate":9999999}`, `{"expires":"2001-01-01T00:00:00Z"}`, `{"expires":"soon"}`, `{"name":7}`, `{"nmae":"x"}`} {
			s.As(key, "POST", "/api/v2/keys", body, 422)
		}
	})
	t.Run("keys end", func(t *testing.T) {
		s.T = t
		short := s.As(key, "POST", "/api/v2/keys", `{"expires":"`+time.Now().Add(time.Hour).Format(time.RFC3339)+`"}`, 201)
		require.NotEmpty(t, short.Get("expires").Str())
		k := short.Get("key").Str()
		s.As(k, "GET", "/api/v2/me", "", 200)
		require.NotContains(t, s.As(key, "GET", "/api/v2/keys", "", 200).JSON(), k)
		s.As("two", "DELETE", "/api/v2/keys/"+short.Get("id").Str(), "", 404)
		s.As(key, "DELETE", "/api/v2/keys/"+short.Get("id").Str(), "", 204)
		s.As(k, "GET", "/api/v2/me", "", 401)
	})
	t.Run("people", func(t *testing.T) {
		s.T = t
		bob := s.As(key, "POST", "/api/v2/users", `{"email":"bob@three.org","password":"battery staple"}`, 201)
		require.Equal(t, "normal", bob.Get("role").Str())
		require.Equal(t, "bob", bob.Get("nickname").Str())
		s.As(key, "POST", "/api/v2/users", `{"email":"BOB@three.org","password":"battery staple"}`, 409)
		for _, body := range []string{`{"email":"bob","password":"battery staple"}`, `{"email":"@","password":"battery staple"}`, `{"email":"c@three.org","password":"short"}`, `{"email":"c@three.org","password":"battery staple","role":"king"}`} {
			s.As(key, "POST", "/api/v2/users", body, 422)
		}
		login := s.Request("POST", "/v1/user/login", "", `{"email":"bob@three.org","password":"battery staple"}`).Header.Get("Authorization")
		as := func(method, path, body string) int {
			return s.Request(method, path, "", body, "Authorization", login).Status
		}
		require.Equal(t, 201, as("POST", "/api/v2/canvases", `{"title":"x","dsl":`+apitest.Echo+`}`))
		require.Equal(t, 403, as("GET", "/api/v2/keys", ""), "members work with canvases")
		require.Equal(t, 200, as("PATCH", "/api/v2/me", `{"nickname":" Bob the builder "}`))
		for _, bad := range []string{"", " ", `a\nb`, `a\u2028b`, strings.Repeat("b", 101)} {
			require.Equal(t, 422, as("PATCH", "/api/v2/me", `{"nickname":"`+bad+`"}`), bad)
		}
		require.Contains(t, s.As(key, "GET", "/api/v2/users", "", 200).JSON(), `"nickname":"Bob the builder"`)
		require.Equal(t, 403, as("PUT", "/api/v2/me/password", `{"old":"wrong","new":"staple battery"}`))
		require.Equal(t, 422, as("PUT", "/api/v2/me/password", `{"old":"battery staple","new":"short"}`))
		require.Equal(t, 204, as("PUT", "/api/v2/me/password", `{"old":"battery staple","new":"staple battery"}`))
		require.Equal(t, 401, as("GET", "/api/v2/me", ""), "a new password ends logins")
		require.Equal(t, 2, s.As(key, "GET", "/api/v2/users", "", 200).Get("items").Len())
		s.As("two", "DELETE", "/api/v2/users/"+bob.Get("id").Str(), "", 404)
		s.As("two", "PUT", "/api/v2/users/"+bob.Get("id").Str()+"/password", `{"new":"stolen horse"}`, 404)
		s.As(key, "PUT", "/api/v2/users/"+bob.Get("id").Str()+"/password", `{"new":"battery again"}`, 204)
		require.Equal(t, 0, s.Request("POST", "/v1/user/login", "", `{"email":"bob@three.org","password":"battery again"}`).Code())
		s.As(key, "DELETE", "/api/v2/users/"+made.Get("owner").Str(), "", 409)
		require.NoError(
			t,
			s.Store.Members.Put(t.Context(), store.Member{Tenant: "two", User: bob.Get("id").Str(), Role: app.RoleNormal}),
		)
		s.As(key, "PUT", "/api/v2/users/"+bob.Get("id").Str()+"/password", `{"new":"stolen horse"}`, 403)
		require.NoError(t, s.Store.Members.Delete(t.Context(), "two", bob.Get("id").Str()))
		s.As(key, "DELETE", "/api/v2/users/"+bob.Get("id").Str(), "", 204)
	})
	t.Run("an unlimited key sets the password of its user", func(t *testing.T) {
		s.T = t
		s.As(key, "PUT", "/api/v2/me/password", `{"new":"a new horse"}`, 204)
		require.Equal(t, 0, s.Request("POST", "/v1/user/login", "", `{"email":"ann@three.org","password":"a new horse"}`).Code())
		s.As("two", "PUT", "/api/v2/me/password", `{"new":"a new horse"}`, 409)
	})
	t.Run("a tenant goes with all it has", func(t *testing.T) {
		s.T = t
		id := s.As(key, "POST", "/api/v2/canvases", `{"title":"y","dsl":`+apitest.Slow+`}`, 201).Get("id").Str()
		run := s.As(key, "POST", "/api/v2/canvases/"+id+"/runs", `{}`, 202).Get("id").Str()
		body, kind := apitest.Form("f.txt", "theirs")
		file := s.Good(s.Request("POST", "/v1/canvas/upload/"+id, key, body, "Content-Type", kind)).Data().Get("id").Str()
		fresh := s.As("one", "POST", "/api/v2/tenants/"+tenant+"/keys", `{"name":"lost"}`, 201).Get("key").Str()
		s.As(fresh, "GET", "/api/v2/canvases/"+id, "", 200)
		s.As("one", "POST", "/api/v2/tenants/"+tenant+"/keys", `{"scopes":["root"]}`, 422)
		s.As("one", "DELETE", "/api/v2/tenants/one", "", 409)
		s.As("one", "DELETE", "/api/v2/tenants/"+tenant, "", 204)
		s.As("one", "DELETE", "/api/v2/tenants/"+tenant, "", 404)
		s.As(key, "GET", "/api/v2/me", "", 401)
		s.As(fresh, "GET", "/api/v2/me", "", 401)
		require.Equal(t, 109, s.Request("POST", "/v1/user/login", "", `{"email":"ann@three.org","password":"a new horse"}`).Code())
		_, err := s.NATS.Files.Stat(t.Context(), tenant+"/"+file)
		require.Error(t, err)
		require.Eventually(t, func() bool { return s.Runs.Active() == 0 }, 2*time.Minute, 10*time.Millisecond, "run %s is stopped", run)
	})
	for _, body := range []string{`{}`, `{"name":"x","email":"a@b"}`, `{"name":"x","email":"anonymous","password":"correct horse"}`} {
		s.T = t
		s.As("one", "POST", "/api/v2/tenants", body, 422)
	}
	require.NotContains(t, s.As("one", "GET", "/api/v2/tenants", "", 200).JSON(), `"name":"x"`, "nothing is made by half")
}

func TestEmbedTokens(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("a", apitest.Echo)
	token := s.As("one", "POST", "/api/v2/canvases/"+id+"/token", "", 200).Get("token").Str()
	require.Equal(t, token, s.As("one", "POST", "/api/v2/canvases/"+id+"/token", "", 200).Get("token").Str())
	s.Good(s.Request("GET", "/api/v1/agentbots/"+id+"/inputs", token, ""))
	s.As("two", "POST", "/api/v2/canvases/"+id+"/token", "", 404)
	s.As("one", "DELETE", "/api/v2/canvases/"+id+"/token", "", 204)
	s.As("one", "DELETE", "/api/v2/canvases/"+id+"/token", "", 404)
	require.NotEqual(t, 0, s.Request("GET", "/api/v1/agentbots/"+id+"/inputs", token, "").Code())
}

func TestSecretsAreShownByNameOnly(t *testing.T) {
	s := apitest.New(t)
	s.As("one", "PUT", "/api/v2/secrets/weather.key", `{"value":"very hush"}`, 204)
	list := s.As("one", "GET", "/api/v2/secrets", "", 200)
	require.Equal(t, "weather.key", list.Get("items").At(0).Get("name").Str())
	require.NotContains(t, list.JSON(), "hush")
	require.Zero(t, s.As("two", "GET", "/api/v2/secrets", "", 200).Get("items").Len())
	s.As("two", "DELETE", "/api/v2/secrets/weather.key", "", 404)
	value, err := s.Store.Secrets.Open(t.Context(), "one", "weather.key")
	require.NoError(t, err)
	require.Equal(t, "very hush", string(value))
	for path, body := range map[string]string{
		"x": `{"value":""}`, "x%7D": `{"value":"y"}`, "x%01": `{"value":"y"}`, "y": `{"value":7}`, "z": `{}`,
		"h": `{"value":"y","hosts":["https://a.example"]}`, "i": `{"value":"y","hosts":"a.example"}`, "j": `{"value":"y","hosts":[""]}`,
	} {
		s.As("one", "PUT", "/api/v2/secrets/"+path, body, 422)
	}
	hosts := func() string {
		return s.As("one", "GET", "/api/v2/secrets", "", 200).Get("items").At(0).Get("hosts").JSON()
	}
	require.Equal(t, `null`, hosts())
	s.As("one", "PUT", "/api/v2/secrets/weather.key", `{"value":"hush","hosts":["api.example:443","*.example"]}`, 204)
	require.Equal(t, `["api.example:443","*.example"]`, hosts())
	s.As("one", "PUT", "/api/v2/secrets/weather.key", `{"value":"hush again"}`, 204)
	require.Equal(t, `["api.example:443","*.example"]`, hosts(), "a new value stays bound")
	s.As("one", "PUT", "/api/v2/secrets/weather.key", `{"value":"hush","hosts":[]}`, 204)
	require.Equal(t, `null`, hosts())
	s.As("one", "DELETE", "/api/v2/secrets/weather.key", "", 204)
}

func TestRates(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Rate = 1000 })
	key := store.Key{Tenant: "one", User: "one", Rate: 10, Scopes: app.Scopes}
	tight, _, err := s.Store.Keys.Create(t.Context(), key, "tight")
	require.NoError(t, err)
	require.EqualValues(t, 10, tight.Rate)
	s.As("tight", "GET", "/api/v2/me", "", 200)
	a := s.Request("GET", "/api/v2/me", "tight", "")
	require.Equal(t, 429, a.Status)
	require.Equal(t, "rate_limited", a.Body.Get("error").Get("code").Str())
	wait, err := strconv.Atoi(a.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.True(t, 1 <= wait && wait <= 6, wait)
	a = s.Request("GET", "/api/v1/agents", "tight", "")
	require.Equal(t, 429, a.Status, "a key has one rate for everything")
	require.NotEmpty(t, a.Header.Get("Retry-After"))
	a = s.Request("POST", "/api/llm/chat/completions", "tight", `{"messages":[{"role":"user","content":"x"}]}`)
	require.Equal(t, 429, a.Status)
	require.Equal(t, "rate_limit_error", a.Body.Get("error").Get("type").Str())
	s.As("one", "GET", "/api/v2/me", "", 200)
}

// The numbers are the operator's: with an unlimited key, or one that may see them and nothing else.
func TestMetricsRequireAnOperatorsKey(t *testing.T) {
	s := apitest.New(t)
	require.Equal(t, 401, s.Request("GET", "/metrics", "", "").Status)
	require.Equal(t, 401, s.Request("GET", "/metrics", "anonymous", "").Status)
	require.Contains(t, s.Get("/metrics").Text, "easel_runs_active 0")
	require.Equal(t, 403, s.Request("GET", "/metrics", "two", "").Status, "another tenant's key")
	for tenant, want := range map[string]int{"one": 200, "two": 403} {
		key := tenant + "-scraper"
		_, _, err := s.Store.Keys.Create(
			t.Context(), store.Key{Tenant: tenant, User: tenant, Scopes: []string{"metrics"}}, key,
		)
		require.NoError(t, err)
		require.Equal(t, want, s.Request("GET", "/metrics", key, "").Status)
		for _, path := range []string{"/api/v1/agents", "/api/v2/runs", "/api/v2/secrets", "/v1/system/version"} {
			require.Equal(t, 403, s.Request("GET", path, key, "").Status, path)
		}
	}
	_, _, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", User: "one", Scopes: []string{"read", "run", "edit", "admin", "host"}},
		"limited",
	)
	require.NoError(t, err)
	require.Equal(t, 403, s.Request("GET", "/metrics", "limited", "").Status)
	made := s.As("one", "POST", "/api/v2/keys", `{"name":"prometheus","scopes":["metrics"]}`, 201)
	require.Equal(t, 200, s.Request("GET", "/metrics", made.Get("key").Str(), "").Status)
}

func TestRoleOfUser(t *testing.T) {
	s := apitest.New(t)
	tenant := `{"name":"Three","email":"ann@three.org","password":"correct horse"}`
	made := s.As("one", "POST", "/api/v2/tenants", tenant, 201)
	owner := made.Get("key").Str()
	user := `{"email":"eve@three.org","password":"battery staple","role":"admin"}`
	eve := s.As(owner, "POST", "/api/v2/users", user, 201)
	path := "/api/v2/users/" + eve.Get("id").Str()
	login := s.Request("POST", "/v1/user/login", "", `{"email":"eve@three.org","password":"battery staple"}`)
	auth := login.Header.Get("Authorization")
	mayListKeys := func() int { return s.Request("GET", "/api/v2/keys", "", "", "Authorization", auth).Status }
	makeKey := func(body string) string {
		made := s.Request("POST", "/api/v2/keys", "", body, "Authorization", auth)
		require.Equal(t, 201, made.Status)
		return made.Body.Get("key").Str()
	}
	wide := makeKey(`{"scopes":["read","run","edit","admin","read_traces"]}`)
	narrow := makeKey(`{"scopes":["read"]}`)
	limited := makeKey(`{"scopes":["admin"]}`)

	s.As(wide, "PUT", path, `{"role":"king"}`, 422)
	s.As(narrow, "PUT", path, `{"role":"owner"}`, 403)
	s.As(limited, "PUT", path, `{"role":"owner"}`, 403)
	s.As("two", "PUT", path, `{"role":"normal"}`, 404)
	s.As(owner, "PUT", "/api/v2/users/"+made.Get("owner").Str(), `{"role":"normal"}`, 409)
	require.Equal(t, 200, mayListKeys())

	require.Equal(t, "normal", s.As(owner, "PUT", path, `{"role":"normal"}`, 200).Get("role").Str())
	require.Equal(t, 403, mayListKeys())
	s.As(wide, "GET", "/api/v2/me", "", 401)
	s.As(limited, "GET", "/api/v2/me", "", 401)
	s.As(narrow, "GET", "/api/v2/me", "", 200)

	require.Equal(t, "owner", s.As(owner, "PUT", path, `{"role":"owner"}`, 200).Get("role").Str())
	require.Equal(t, 200, mayListKeys())
	s.As(owner, "PUT", "/api/v2/users/"+made.Get("owner").Str(), `{"role":"normal"}`, 200)
}

// The secret of a sign-in provider stays with its issuer: another one does not get it.
func TestSecretsOfSignInStayWithTheirIssuer(t *testing.T) {
	s := apitest.New(t)
	kept := func(body string) bool {
		a := s.Request("PUT", "/api/v2/oidc/corp", "one", body)
		require.Equal(t, 200, a.Status, a.Text)
		return a.Body.Get("has_secret").True()
	}
	require.True(t, kept(`{"issuer":"https://a.example","client":"easel","secret":"hush"}`))
	require.True(t, kept(`{"issuer":"https://a.example","client":"other"}`))
	require.False(t, kept(`{"issuer":"https://b.example","client":"easel"}`))
}
