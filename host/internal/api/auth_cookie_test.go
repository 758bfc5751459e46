package api_test

import (
	"strings"
	"testing"

	"github.com/easel-canvas/easel/host/internal/api"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

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
	s := apitest.New(t)
	cookie, csrf, _ := s.LoggedIn()
	foreign := []struct {
		name    string
		headers []string
	}{
		{"without Fetch Metadata headers", nil},
		{"an image or a link", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "no-cors"}},
		{"a typed address", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}},
		{"an unknown Sec-Fetch-Site", []string{api.PageHeader, "1"}},
		{"another site", []string{api.PageHeader, api.PageItself, "Sec-Fetch-Site", "cross-site"}},
		{"another port of the host", []string{api.PageHeader, api.PageItself, "Sec-Fetch-Site", "same-site"}},
		{"a foreign origin", []string{api.PageHeader, api.PageItself, "Origin", "https://evil.example"}},
		{"an empty Origin", []string{api.PageHeader, api.PageItself, "Origin", "null"}},
		{"the host name inside another origin", []string{api.PageHeader, api.PageItself, "Origin", s.URL + ".evil.example"}},
		{"another port in the origin", []string{api.PageHeader, api.PageItself, "Origin", "http://127.0.0.1:1"}},
		{
			"another scheme in the origin",
			[]string{api.PageHeader, api.PageItself, "Origin", s.URL, "X-Forwarded-Proto", "https"},
		},
		{"an invalid origin", []string{api.PageHeader, api.PageItself, "Origin", "file://" + strings.TrimPrefix(s.URL, "http://")}},
	}
	for _, r := range cookieRoutes {
		for _, f := range foreign {
			a := s.Request(r.method, r.path, "", r.body, append([]string{"Cookie", cookie, api.CSRFHeader, csrf}, f.headers...)...)
			require.Equal(t, 403, a.Status, "%s %s: %s: %s", r.method, r.path, f.name, a.Text)
			require.NotContains(t, a.Text, "csrf\":")
		}
	}
	for _, headers := range [][]string{nil, {"Origin", s.URL}, {"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}} {
		for _, r := range cookieRoutes {
			if strings.HasSuffix(r.path, "/logout") {
				continue
			}
			a := s.Request(r.method, r.path, "", r.body, append([]string{"Cookie", cookie, api.CSRFHeader, csrf, api.PageHeader, api.PageItself}, headers...)...)
			require.Less(t, a.Status, 300, "%s %s: %s", r.method, r.path, a.Text)
		}
	}
	secure := []string{"Cookie", cookie, api.PageHeader, api.PageItself, "X-Forwarded-Proto", "https", "Origin", "https://" + strings.TrimPrefix(s.URL, "http://")}
	require.Equal(t, 200, s.Request("GET", "/api/v2/me", "", "", secure...).Status, "behind a proxy that ends TLS")
}

func TestRunsInThePageReachModelsOnly(t *testing.T) {
	s := apitest.New(t)
	cookie, csrf, _ := s.LoggedIn()
	for _, r := range cookieRoutes {
		want := 403
		if strings.HasPrefix(r.path, "/api/llm/") {
			want = 200
		}
		a := s.Request(r.method, r.path, "", r.body, "Cookie", cookie, api.CSRFHeader, csrf, api.PageHeader, api.PageRun)
		require.Equal(t, want, a.Status, "%s %s: %s", r.method, r.path, a.Text)
	}
}

// An EventSource cannot set headers.
func TestEventSourceOfThePageReadsEvents(t *testing.T) {
	s := apitest.New(t)
	cookie, _, _ := s.LoggedIn()
	canvas := `{"title":"t","permission":"team","dsl":` + apitest.Echo + `}`
	id := s.Request("POST", "/api/v2/canvases", "one", canvas).Body.Get("id").Str()
	run := s.Request("POST", "/api/v2/canvases/"+id+"/runs", "one", `{"inputs":{"query":"x"}}`).Body.Get("id").Str()
	require.NotEmpty(t, run)
	events := "/api/v2/runs/" + run + "/events"
	require.Equal(t, 200, s.Request("GET", events, "", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin").Status)
	require.Equal(t, 403, s.Request("GET", events, "", "", "Cookie", cookie, "Origin", "https://evil.example").Status)
	require.Equal(t, 403, s.Request("GET", events, "", "", "Cookie", cookie, "Sec-Fetch-Site", "cross-site").Status)
	require.Equal(t, 403, s.Request("GET", "/api/v2/runs/"+run, "", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin").Status)
}

// Clients of the original send their login as Authorization, from any origin.
func TestAuthorizationNeedsNoPage(t *testing.T) {
	s := apitest.New(t)
	_, _, login := s.LoggedIn()
	for _, headers := range [][]string{nil, {"Origin", "https://ragflow.example", "Sec-Fetch-Site", "cross-site"}} {
		require.Equal(t, 0, s.Request("GET", "/v1/user/info", "", "", append([]string{"Authorization", login}, headers...)...).Code())
		require.Equal(t, 0, s.Request("POST", "/v1/canvas/rm", "one", `{"canvas_ids":[]}`, headers...).Code())
	}
}

// The page at /login contains the CSRF text.
func TestLoginPageIsForPeople(t *testing.T) {
	s := apitest.New(t)
	cookie, csrf, _ := s.LoggedIn()
	require.Contains(t, s.Request("GET", "/login", "", "", "Cookie", cookie, "Sec-Fetch-Mode", "navigate").Text, csrf)
	require.Contains(t, s.Request("GET", "/login", "", "", "Cookie", cookie).Text, csrf, "a browser without these headers")
	for _, mode := range []string{"cors", "same-origin", "no-cors"} {
		require.NotContains(t, s.Request("GET", "/login", "", "", "Cookie", cookie, "Sec-Fetch-Mode", mode).Text, csrf, mode)
	}
}
