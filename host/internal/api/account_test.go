package api

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// as makes requests of our own API with a key and requires a status.
func (s *site) as(key, method, path, body string, status int) engine.Value {
	s.t.Helper()
	a := s.request(method, path, key, body)
	require.Equal(s.t, status, a.status, "%s %s: %s", method, path, a.text)
	return a.body
}

func TestTenantsUsersAndKeys(t *testing.T) {
	s := newSite(t)
	made := s.as("one", "POST", "/api/v2/tenants", `{"name":"Three","email":"ann@three.org","password":"correct horse"}`, 201)
	key, tenant := made.Get("key").Str(), made.Get("id").Str()
	require.Len(t, key, len("ragflow-")+43)
	require.Contains(t, s.as("one", "GET", "/api/v2/tenants", "", 200).JSON(), `"name":"Three"`)
	me := s.as(key, "GET", "/api/v2/me", "", 200)
	require.Equal(t, `["read","run","edit","admin"]`, me.Get("scopes").JSON())
	require.Equal(t, "Three", me.Get("tenant_name").Str())
	require.Equal(t, "ann@three.org", me.Get("email").Str())
	require.Equal(t, `["read","run","edit","admin","host","metrics"]`, s.as("one", "GET", "/api/v2/me", "", 200).Get("scopes").JSON())

	t.Run("only the operator sees tenants", func(t *testing.T) {
		s.t = t
		for _, k := range []string{key, "two"} {
			s.as(k, "GET", "/api/v2/tenants", "", 403)
			s.as(k, "POST", "/api/v2/tenants", `{"name":"x"}`, 403)
			s.as(k, "DELETE", "/api/v2/tenants/one", "", 403)
			s.as(k, "POST", "/api/v2/tenants/one/keys", `{}`, 403)
			s.as(k, "POST", "/api/v2/keys", `{"scopes":["host"]}`, 201)
		}
		forged := s.as(key, "POST", "/api/v2/keys", `{"scopes":["host"]}`, 201).Get("key").Str()
		s.as(forged, "GET", "/api/v2/tenants", "", 403)
	})
	t.Run("limited keys stay limited", func(t *testing.T) {
		s.t = t
		admin := s.as(key, "POST", "/api/v2/keys", `{"name":"a","scopes":["admin","read"],"rate":600}`, 201)
		require.EqualValues(t, "600", admin.Get("rate").Text())
		a := admin.Get("key").Str()
		s.as(a, "POST", "/api/v2/keys", `{"scopes":["run"]}`, 403)
		require.Equal(t, `["admin","read"]`, s.as(a, "POST", "/api/v2/keys", `{}`, 201).Get("scopes").JSON())
		s.as(a, "POST", "/api/v2/users", `{"email":"x@three.org","password":"correct horse","role":"owner"}`, 403)
		s.as(a, "PUT", "/api/v2/users/"+made.Get("owner").Str()+"/password", `{"new":"another horse"}`, 403)
		s.as(a, "PUT", "/api/v2/me/password", `{"new":"another horse"}`, 403)
		s.as(a, "POST", "/api/v2/canvases", `{"title":"x","dsl":`+echo+`}`, 403)
		require.Equal(t, 109, s.request("POST", "/v1/user/login", "", `{"email":"x","password":"`+a+`"}`).code(), "a limited key is no login")
		old := s.request("POST", "/v1/system/new_token", a, `{"scopes":["edit"]}`)
		require.Equal(t, 403, old.status)
		for _, body := range []string{`{"scopes":["root"]}`, `{"rate":-1}`, `{"rate":9999999}`, `{"expires":"2001-01-01T00:00:00Z"}`, `{"expires":"soon"}`, `{"name":7}`, `{"nmae":"x"}`} {
			s.as(key, "POST", "/api/v2/keys", body, 422)
		}
	})
	t.Run("keys end", func(t *testing.T) {
		s.t = t
		short := s.as(key, "POST", "/api/v2/keys", `{"expires":"`+time.Now().Add(time.Hour).Format(time.RFC3339)+`"}`, 201)
		require.NotEmpty(t, short.Get("expires").Str())
		k := short.Get("key").Str()
		s.as(k, "GET", "/api/v2/me", "", 200)
		require.NotContains(t, s.as(key, "GET", "/api/v2/keys", "", 200).JSON(), k)
		s.as("two", "DELETE", "/api/v2/keys/"+short.Get("id").Str(), "", 404)
		s.as(key, "DELETE", "/api/v2/keys/"+short.Get("id").Str(), "", 204)
		s.as(k, "GET", "/api/v2/me", "", 401)
	})
	t.Run("people", func(t *testing.T) {
		s.t = t
		bob := s.as(key, "POST", "/api/v2/users", `{"email":"bob@three.org","password":"battery staple"}`, 201)
		require.Equal(t, "normal", bob.Get("role").Str())
		require.Equal(t, "bob", bob.Get("nickname").Str())
		s.as(key, "POST", "/api/v2/users", `{"email":"BOB@three.org","password":"battery staple"}`, 409)
		for _, body := range []string{`{"email":"bob","password":"battery staple"}`, `{"email":"@","password":"battery staple"}`, `{"email":"c@three.org","password":"short"}`, `{"email":"c@three.org","password":"battery staple","role":"king"}`} {
			s.as(key, "POST", "/api/v2/users", body, 422)
		}
		login := s.request("POST", "/v1/user/login", "", `{"email":"bob@three.org","password":"battery staple"}`).header.Get("Authorization")
		as := func(method, path, body string) int {
			return s.request(method, path, "", body, "Authorization", login).status
		}
		require.Equal(t, 201, as("POST", "/api/v2/canvases", `{"title":"x","dsl":`+echo+`}`))
		require.Equal(t, 403, as("GET", "/api/v2/keys", ""), "members work with canvases")
		require.Equal(t, 403, as("PUT", "/api/v2/me/password", `{"old":"wrong","new":"staple battery"}`))
		require.Equal(t, 422, as("PUT", "/api/v2/me/password", `{"old":"battery staple","new":"short"}`))
		require.Equal(t, 204, as("PUT", "/api/v2/me/password", `{"old":"battery staple","new":"staple battery"}`))
		require.Equal(t, 401, as("GET", "/api/v2/me", ""), "a new password ends logins")
		require.Equal(t, 2, s.as(key, "GET", "/api/v2/users", "", 200).Get("items").Len())
		s.as("two", "DELETE", "/api/v2/users/"+bob.Get("id").Str(), "", 404)
		s.as("two", "PUT", "/api/v2/users/"+bob.Get("id").Str()+"/password", `{"new":"stolen horse"}`, 404)
		s.as(key, "PUT", "/api/v2/users/"+bob.Get("id").Str()+"/password", `{"new":"battery again"}`, 204)
		require.Equal(t, 0, s.request("POST", "/v1/user/login", "", `{"email":"bob@three.org","password":"battery again"}`).code())
		s.as(key, "DELETE", "/api/v2/users/"+made.Get("owner").Str(), "", 409)
		require.NoError(t, s.store.PutMember(t.Context(), store.Member{Tenant: "two", User: bob.Get("id").Str(), Role: roleNormal}))
		s.as(key, "PUT", "/api/v2/users/"+bob.Get("id").Str()+"/password", `{"new":"stolen horse"}`, 403)
		require.NoError(t, s.store.DeleteMember(t.Context(), "two", bob.Get("id").Str()))
		s.as(key, "DELETE", "/api/v2/users/"+bob.Get("id").Str(), "", 204)
	})
	t.Run("an unlimited key sets the password of its user", func(t *testing.T) {
		s.t = t
		s.as(key, "PUT", "/api/v2/me/password", `{"new":"a new horse"}`, 204)
		require.Equal(t, 0, s.request("POST", "/v1/user/login", "", `{"email":"ann@three.org","password":"a new horse"}`).code())
		s.as("two", "PUT", "/api/v2/me/password", `{"new":"a new horse"}`, 409)
	})
	t.Run("a tenant goes with all it has", func(t *testing.T) {
		s.t = t
		id := s.as(key, "POST", "/api/v2/canvases", `{"title":"y","dsl":`+slow+`}`, 201).Get("id").Str()
		run := s.as(key, "POST", "/api/v2/canvases/"+id+"/runs", `{}`, 202).Get("id").Str()
		body, kind := form("f.txt", "theirs")
		file := s.good(s.request("POST", "/v1/canvas/upload/"+id, key, body, "Content-Type", kind)).data().Get("id").Str()
		fresh := s.as("one", "POST", "/api/v2/tenants/"+tenant+"/keys", `{"name":"lost"}`, 201).Get("key").Str()
		s.as(fresh, "GET", "/api/v2/canvases/"+id, "", 200)
		s.as("one", "POST", "/api/v2/tenants/"+tenant+"/keys", `{"scopes":["root"]}`, 422)
		s.as("one", "DELETE", "/api/v2/tenants/one", "", 409)
		s.as("one", "DELETE", "/api/v2/tenants/"+tenant, "", 204)
		s.as("one", "DELETE", "/api/v2/tenants/"+tenant, "", 404)
		s.as(key, "GET", "/api/v2/me", "", 401)
		s.as(fresh, "GET", "/api/v2/me", "", 401)
		require.Equal(t, 109, s.request("POST", "/v1/user/login", "", `{"email":"ann@three.org","password":"a new horse"}`).code())
		_, err := s.nats.Files.Stat(t.Context(), tenant+"/"+file)
		require.Error(t, err)
		require.Eventually(t, func() bool { return s.runs.Active() == 0 }, time.Minute, 10*time.Millisecond, "run %s is stopped", run)
	})
	for _, body := range []string{`{}`, `{"name":"x","email":"a@b"}`, `{"name":"x","email":"nobody","password":"correct horse"}`} {
		s.t = t
		s.as("one", "POST", "/api/v2/tenants", body, 422)
	}
	require.NotContains(t, s.as("one", "GET", "/api/v2/tenants", "", 200).JSON(), `"name":"x"`, "nothing is made by half")
}

func TestEmbedTokens(t *testing.T) {
	s := newSite(t)
	id := s.canvas("a", echo)
	token := s.as("one", "POST", "/api/v2/canvases/"+id+"/token", "", 200).Get("token").Str()
	require.Equal(t, token, s.as("one", "POST", "/api/v2/canvases/"+id+"/token", "", 200).Get("token").Str())
	s.good(s.request("GET", "/api/v1/agentbots/"+id+"/inputs", token, ""))
	s.as("two", "POST", "/api/v2/canvases/"+id+"/token", "", 404)
	s.as("one", "DELETE", "/api/v2/canvases/"+id+"/token", "", 204)
	s.as("one", "DELETE", "/api/v2/canvases/"+id+"/token", "", 404)
	require.NotEqual(t, 0, s.request("GET", "/api/v1/agentbots/"+id+"/inputs", token, "").code())
}

func TestSecretsAreShownByNameOnly(t *testing.T) {
	s := newSite(t)
	s.as("one", "PUT", "/api/v2/secrets/weather.key", `{"value":"very hush"}`, 204)
	list := s.as("one", "GET", "/api/v2/secrets", "", 200)
	require.Equal(t, "weather.key", list.Get("items").At(0).Get("name").Str())
	require.NotContains(t, list.JSON(), "hush")
	require.Zero(t, s.as("two", "GET", "/api/v2/secrets", "", 200).Get("items").Len())
	s.as("two", "DELETE", "/api/v2/secrets/weather.key", "", 404)
	value, err := s.store.OpenSecret(t.Context(), "one", "weather.key")
	require.NoError(t, err)
	require.Equal(t, "very hush", string(value))
	for path, body := range map[string]string{
		"x": `{"value":""}`, "x%7D": `{"value":"y"}`, "x%01": `{"value":"y"}`, "y": `{"value":7}`, "z": `{}`,
		"h": `{"value":"y","hosts":["https://a.example"]}`, "i": `{"value":"y","hosts":"a.example"}`, "j": `{"value":"y","hosts":[""]}`,
	} {
		s.as("one", "PUT", "/api/v2/secrets/"+path, body, 422)
	}
	hosts := func() string {
		return s.as("one", "GET", "/api/v2/secrets", "", 200).Get("items").At(0).Get("hosts").JSON()
	}
	require.Equal(t, `null`, hosts())
	s.as("one", "PUT", "/api/v2/secrets/weather.key", `{"value":"hush","hosts":["api.example:443","*.example"]}`, 204)
	require.Equal(t, `["api.example:443","*.example"]`, hosts())
	s.as("one", "PUT", "/api/v2/secrets/weather.key", `{"value":"hush again"}`, 204)
	require.Equal(t, `["api.example:443","*.example"]`, hosts(), "a new value stays bound")
	s.as("one", "PUT", "/api/v2/secrets/weather.key", `{"value":"hush","hosts":[]}`, 204)
	require.Equal(t, `null`, hosts())
	s.as("one", "DELETE", "/api/v2/secrets/weather.key", "", 204)
}

func TestRates(t *testing.T) {
	s := newSite(t, func(c *Config) { c.Rate = 1000 })
	tight, _, err := s.store.CreateKey(t.Context(), store.Key{Tenant: "one", User: "one", Rate: 10}, "tight")
	require.NoError(t, err)
	require.EqualValues(t, 10, tight.Rate)
	s.as("tight", "GET", "/api/v2/me", "", 200)
	a := s.request("GET", "/api/v2/me", "tight", "")
	require.Equal(t, 429, a.status)
	require.Equal(t, "rate_limited", a.body.Get("error").Get("code").Str())
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	require.NoError(t, err)
	require.True(t, 1 <= wait && wait <= 6, wait)
	a = s.request("GET", "/api/v1/agents", "tight", "")
	require.Equal(t, 429, a.status, "a key has one rate for everything")
	require.NotEmpty(t, a.header.Get("Retry-After"))
	a = s.request("POST", "/api/llm/chat/completions", "tight", `{"messages":[{"role":"user","content":"x"}]}`)
	require.Equal(t, 429, a.status)
	require.Equal(t, "rate_limit_error", a.body.Get("error").Get("type").Str())
	s.as("one", "GET", "/api/v2/me", "", 200)
}

func TestThrottleForgetsOnlyTheQuiet(t *testing.T) {
	var th throttle
	require.Zero(t, th.take("busy", limit{0.001, 1}))
	for i := range 3 * mostNames {
		require.Zero(t, th.take(fmt.Sprint(i), limit{1e9, 1}))
	}
	require.LessOrEqual(t, len(th.list), mostNames+1)
	require.Positive(t, th.take("busy", limit{0.001, 1}), "a flood of other names releases nobody")
	for i := range 2 * mostNames {
		require.Zero(t, th.take(fmt.Sprint("also busy ", i), limit{0.001, 1}))
	}
	require.LessOrEqual(t, len(th.list), mostNames+1)
}

func TestNetworks(t *testing.T) {
	for remote, want := range map[string]string{
		"10.1.2.3:99": "10.1.2.3", "[::ffff:10.1.2.3]:99": "10.1.2.3", "[2001:db8:1:2:3:4:5:6]:99": "2001:db8:1:2::/64", "pipe": "invalid IP",
	} {
		require.Equal(t, want, networkOf(proxies(nil).client(&http.Request{RemoteAddr: remote})))
	}
}

func TestCORS(t *testing.T) {
	ask := func(s *site, method, origin string) http.Header {
		return s.request(method, "/api/v1/agents", "one", "", "Origin", origin).header
	}
	s := newSite(t)
	require.Equal(t, "*", ask(s, "GET", "https://any.org").Get("Access-Control-Allow-Origin"))
	s = newSite(t, func(c *Config) { c.Origins = []string{"https://good.org"} })
	h := ask(s, "OPTIONS", "https://good.org")
	require.Equal(t, "https://good.org", h.Get("Access-Control-Allow-Origin"))
	require.Contains(t, h.Get("Access-Control-Allow-Headers"), "Authorization")
	require.Equal(t, "Origin", h.Get("Vary"))
	for _, origin := range []string{"https://bad.org", "https://good.org.bad.org", "http://good.org", "null", ""} {
		h := ask(s, "GET", origin)
		require.Empty(t, h.Get("Access-Control-Allow-Origin"), origin)
		require.Empty(t, h.Get("Access-Control-Allow-Credentials"), origin)
	}
	s = newSite(t, func(c *Config) { c.Origins = []string{"none"} })
	require.Empty(t, ask(s, "GET", "https://good.org").Get("Access-Control-Allow-Origin"))
	require.NoError(t, CheckOrigins([]string{"*", "none", "https://a.org", "http://localhost:5173"}))
	for _, bad := range []string{"", "a.org", "https://a.org/", "ftp://a.org", "https://", "https://a.org/x"} {
		require.Error(t, CheckOrigins([]string{bad}), bad)
	}
}

// The numbers are the operator's: with an unlimited key, or one that may see them and nothing else.
func TestMetricsAreTheOperators(t *testing.T) {
	s := newSite(t)
	require.Equal(t, 401, s.request("GET", "/metrics", "", "").status)
	require.Equal(t, 401, s.request("GET", "/metrics", "nobody", "").status)
	require.Contains(t, s.get("/metrics").text, "easel_runs_active 0")
	require.Equal(t, 403, s.request("GET", "/metrics", "two", "").status, "another tenant's key")
	for tenant, want := range map[string]int{"one": 200, "two": 403} {
		key := tenant + "-scraper"
		_, _, err := s.store.CreateKey(t.Context(), store.Key{Tenant: tenant, User: tenant, Scopes: []string{"metrics"}}, key)
		require.NoError(t, err)
		require.Equal(t, want, s.request("GET", "/metrics", key, "").status)
		for _, path := range []string{"/api/v1/agents", "/api/v2/runs", "/api/v2/secrets", "/v1/system/version"} {
			require.Equal(t, 403, s.request("GET", path, key, "").status, path)
		}
	}
	_, _, err := s.store.CreateKey(t.Context(), store.Key{Tenant: "one", User: "one", Scopes: []string{"read", "run", "edit", "admin", "host"}}, "limited")
	require.NoError(t, err)
	require.Equal(t, 403, s.request("GET", "/metrics", "limited", "").status)
	made := s.as("one", "POST", "/api/v2/keys", `{"name":"prometheus","scopes":["metrics"]}`, 201)
	require.Equal(t, 200, s.request("GET", "/metrics", made.Get("key").Str(), "").status)
}
