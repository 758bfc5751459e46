package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/store"
)

// loggedIn makes a user of tenant "one" and logs it in: its cookie, CSRF text
// and the text for the Authorization header.
func (s *site) loggedIn() (cookie, csrf, login string) {
	s.t.Helper()
	ann := store.User{Email: "ann@x.org", Nickname: "Ann"}
	_, err := s.store.CreateMember(s.t.Context(), store.Member{Tenant: "one", Role: roleOwner}, ann, "correct horse")
	require.NoError(s.t, err)
	a := s.good(s.request("POST", "/v1/user/login", "", `{"email":"ann@x.org","password":"correct horse"}`))
	cookie, _, _ = strings.Cut(a.header.Get("Set-Cookie"), ";")
	require.NotEmpty(s.t, cookie)
	return cookie, a.header.Get(csrfHeader), a.header.Get("Authorization")
}

// Addresses that read or change what is an account's, of each dialect.
var cookieRoutes = []struct{ method, path, body string }{
	{"GET", "/api/v2/me", ""},
	{"GET", "/api/v2/canvases", ""},
	{"GET", "/api/v2/keys", ""},
	{"GET", "/api/llm/models", ""},
	{"GET", "/v1/user/info", ""},
	{"GET", "/v1/system/token_list", ""},
	{"GET", "/v1/canvas/list", ""},
	{"GET", "/api/v1/agents", ""},
	{"GET", "/0.27/api/v1/users/me", ""},
	{"GET", "/v1/user/logout", ""},
	{"POST", "/v1/canvas/rm", `{"canvas_ids":[]}`},
	{"POST", "/api/v2/keys", `{}`},
	{"POST", "/api/llm/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`},
	{"POST", "/0.27/api/v1/auth/logout", ""},
}

func TestLoginCookieNeedsThePage(t *testing.T) {
	s := newSite(t)
	cookie, csrf, _ := s.loggedIn()
	foreign := []struct {
		name    string
		headers []string
	}{
		{"no header of the page", nil},
		{"a picture or a link", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "no-cors"}},
		{"an address that a person types", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}},
		{"an unknown mark", []string{pageHeader, "1"}},
		{"another site", []string{pageHeader, pageItself, "Sec-Fetch-Site", "cross-site"}},
		{"another port of the host", []string{pageHeader, pageItself, "Sec-Fetch-Site", "same-site"}},
		{"a foreign origin", []string{pageHeader, pageItself, "Origin", "https://evil.example"}},
		{"no origin of its own", []string{pageHeader, pageItself, "Origin", "null"}},
		{"the host's name in another origin", []string{pageHeader, pageItself, "Origin", s.url + ".evil.example"}},
		{"another port as origin", []string{pageHeader, pageItself, "Origin", "http://127.0.0.1:1"}},
		{"another scheme", []string{pageHeader, pageItself, "Origin", s.url, "X-Forwarded-Proto", "https"}},
		{"an origin that is none", []string{pageHeader, pageItself, "Origin", "file://" + strings.TrimPrefix(s.url, "http://")}},
	}
	for _, r := range cookieRoutes {
		for _, f := range foreign {
			a := s.request(r.method, r.path, "", r.body, append([]string{"Cookie", cookie, csrfHeader, csrf}, f.headers...)...)
			require.Equal(t, 403, a.status, "%s %s: %s: %s", r.method, r.path, f.name, a.text)
			require.NotContains(t, a.text, "csrf\":")
		}
	}
	for _, headers := range [][]string{nil, {"Origin", s.url}, {"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}} {
		for _, r := range cookieRoutes {
			if strings.HasSuffix(r.path, "/logout") {
				continue
			}
			a := s.request(r.method, r.path, "", r.body, append([]string{"Cookie", cookie, csrfHeader, csrf, pageHeader, pageItself}, headers...)...)
			require.Less(t, a.status, 300, "%s %s: %s", r.method, r.path, a.text)
		}
	}
	secure := []string{"Cookie", cookie, pageHeader, pageItself, "X-Forwarded-Proto", "https", "Origin", "https://" + strings.TrimPrefix(s.url, "http://")}
	require.Equal(t, 200, s.request("GET", "/api/v2/me", "", "", secure...).status, "behind a proxy that ends TLS")
}

func TestRunsInThePageReachModelsOnly(t *testing.T) {
	s := newSite(t)
	cookie, csrf, _ := s.loggedIn()
	for _, r := range cookieRoutes {
		want := 403
		if strings.HasPrefix(r.path, "/api/llm/") {
			want = 200
		}
		a := s.request(r.method, r.path, "", r.body, "Cookie", cookie, csrfHeader, csrf, pageHeader, pageRun)
		require.Equal(t, want, a.status, "%s %s: %s", r.method, r.path, a.text)
	}
}

// An EventSource sends no headers of its own.
func TestEventSourceOfThePageReadsEvents(t *testing.T) {
	s := newSite(t)
	cookie, _, _ := s.loggedIn()
	id := s.request("POST", "/api/v2/canvases", "one", `{"title":"t","dsl":`+echo+`}`).body.Get("id").Str()
	run := s.request("POST", "/api/v2/canvases/"+id+"/runs", "one", `{"inputs":{"query":"x"}}`).body.Get("id").Str()
	require.NotEmpty(t, run)
	events := "/api/v2/runs/" + run + "/events"
	require.Equal(t, 200, s.request("GET", events, "", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin").status)
	require.Equal(t, 403, s.request("GET", events, "", "", "Cookie", cookie, "Origin", "https://evil.example").status)
	require.Equal(t, 403, s.request("GET", events, "", "", "Cookie", cookie, "Sec-Fetch-Site", "cross-site").status)
	require.Equal(t, 403, s.request("GET", "/api/v2/runs/"+run, "", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin").status)
}

// Clients of the original send their login as Authorization, from any origin.
func TestAuthorizationNeedsNoPage(t *testing.T) {
	s := newSite(t)
	_, _, login := s.loggedIn()
	for _, headers := range [][]string{nil, {"Origin", "https://ragflow.example", "Sec-Fetch-Site", "cross-site"}} {
		require.Equal(t, 0, s.request("GET", "/v1/user/info", "", "", append([]string{"Authorization", login}, headers...)...).code())
		require.Equal(t, 0, s.request("POST", "/v1/canvas/rm", "one", `{"canvas_ids":[]}`, headers...).code())
	}
}

// The page at /login holds the CSRF text.
func TestLoginPageIsForPeople(t *testing.T) {
	s := newSite(t)
	cookie, csrf, _ := s.loggedIn()
	require.Contains(t, s.request("GET", "/login", "", "", "Cookie", cookie, "Sec-Fetch-Mode", "navigate").text, csrf)
	require.Contains(t, s.request("GET", "/login", "", "", "Cookie", cookie).text, csrf, "a browser without these headers")
	for _, mode := range []string{"cors", "same-origin", "no-cors"} {
		require.NotContains(t, s.request("GET", "/login", "", "", "Cookie", cookie, "Sec-Fetch-Mode", mode).text, csrf, mode)
	}
}
