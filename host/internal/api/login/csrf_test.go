package login_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// foreignSites are headers that browsers send with requests which another site causes.
var foreignSites = map[string][]string{
	"an origin":                 {"Origin", "https://evil.example"},
	"an origin without a name":  {"Origin", "null"},
	"another port":              {"Origin", "http://127.0.0.1:1"},
	"a script of another site":  {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"},
	"a script of a sibling":     {"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"},
	"a script that hides":       {"Origin", "null", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"},
	"a form of another site":    {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"},
	"a form of a sibling":       {"Origin", "http://evil.127.0.0.1", "Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate"},
	"a form without its origin": {"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"},
}

// A foreign page must not put its own login, or any other, into the browser of a visitor.
func TestOtherSitesSetNoLoginCookie(t *testing.T) {
	s := loginSite(t)
	for name, headers := range foreignSites {
		for i, path := range loginPaths[:4] {
			if i > 0 && !strings.Contains(name, "script of another") && !strings.Contains(name, "form of another") {
				continue // one route for the rest
			}
			for kind, body := range map[string]string{
				"application/json": `{"email":"ann@x.org","password":"correct horse"}`, "text/plain": `{"email":"ann@x.org","password":"correct horse","a":"="}`,
				"application/x-www-form-urlencoded": "email=ann@x.org&password=correct+horse",
			} {
				if kind != "application/json" && (i > 0 || name != "an origin") {
					continue
				}
				a := s.Request("POST", path, "", body, append([]string{"Content-Type", kind}, headers...)...)
				require.Empty(t, a.Header.Values("Set-Cookie"), "%s %s %s", path, name, kind)
				if strings.HasPrefix(name, "a form") {
					require.Equal(t, http.StatusForbidden, a.Status, name)
					continue
				}
				require.NotEmpty(t, s.Good(a).Header.Get("Authorization"), "pages of the original on another origin log in by header")
			}
		}
	}
	for _, headers := range [][]string{nil, {"Origin", s.URL}, {"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}} {
		a := s.Good(s.Request("POST", loginPaths[0], "", `{"email":"ann@x.org","password":"correct horse"}`, headers...))
		require.Contains(t, a.Header.Get("Set-Cookie"), api.LoginCookie+"=")
	}
}

// Where --cors names origins, pages of others cannot even try passwords.
func TestOriginsThatMayNotCallMayNotLogIn(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Origins = []string{"https://good.example"} })
	login := func(headers ...string) int {
		return s.Request("POST", "/v1/user/login", "", `{"email":"ann@x.org","password":"a guess"}`, headers...).Status
	}
	for range 30 {
		require.Equal(t, http.StatusForbidden, login("Origin", "https://evil.example"))
		require.Equal(t, http.StatusForbidden, login("Sec-Fetch-Site", "cross-site"))
	}
	require.Equal(t, http.StatusOK, login("Origin", "https://good.example", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "cors"))
	require.Equal(t, http.StatusOK, login())
}

func TestLogoutLeavesOtherLogins(t *testing.T) {
	s := loginSite(t)
	logIn := func() (cookie, csrf, text string) {
		a := s.Good(s.Request("POST", "/v1/user/login", "", `{"email":"ann@x.org","password":"correct horse"}`))
		cookie, _, _ = strings.Cut(a.Header.Get("Set-Cookie"), ";")
		return cookie, a.Header.Get(api.CSRFHeader), a.Header.Get("Authorization")
	}
	cookie, csrf, _ := logIn()
	alive := func() bool {
		return s.Request("GET", "/api/v2/me", "", "", "Cookie", cookie, api.PageHeader, api.PageItself).Status == http.StatusOK
	}
	logouts := []struct{ method, path string }{
		{"GET", "/v1/user/logout"},
		{"HEAD", "/v1/user/logout"},
		{"POST", "/v1/user/logout"},
		{"POST", "/api/v1/auth/logout"},
		{"GET", "/0.27/v1/user/logout"},
		{"POST", "/0.27/api/v1/auth/logout"},
	}
	for _, r := range logouts {
		for _, headers := range [][]string{
			{api.PageHeader, api.PageItself},
			{api.PageHeader, api.PageItself, api.CSRFHeader, "forged"},
			{api.CSRFHeader, csrf},
			{api.PageHeader, api.PageItself, api.CSRFHeader, csrf, "Origin", "https://evil.example"},
		} {
			a := s.Request(r.method, r.path, "", "", append([]string{"Cookie", cookie}, headers...)...)
			require.Equal(t, http.StatusForbidden, a.Status, "%s %s %q", r.method, r.path, headers)
			require.Empty(t, a.Header.Values("Set-Cookie"))
		}
		_, _, other := logIn()
		for _, token := range []string{other, "one"} {
			a := s.Request(r.method, r.path, "", "", "Authorization", token, "Cookie", cookie, "Origin", "https://evil.example")
			require.Equal(t, http.StatusOK, a.Status, "%s %s", r.method, r.path)
			require.Empty(t, a.Header.Values("Set-Cookie"), "the login that ends is not the cookie's")
		}
		require.Equal(t, http.StatusUnauthorized, s.Request("GET", "/v1/user/info", "", "", "Authorization", other).Status, "it has ended")
		require.True(t, alive(), "%s %s", r.method, r.path)
	}
	for _, r := range logouts {
		cookie, csrf, _ = logIn()
		a := s.Request(r.method, r.path, "", "", "Cookie", cookie, api.PageHeader, api.PageItself, api.CSRFHeader, csrf)
		require.Equal(t, http.StatusOK, a.Status)
		require.Contains(t, a.Header.Get("Set-Cookie"), api.LoginCookie+"=;")
		require.False(t, alive())
	}
}

// A GET that starts a run is no plain reading either.
func TestWebhookTestByCookieNeedsTheCSRFText(t *testing.T) {
	s := apitest.New(t)
	cookie, csrf, _ := s.LoggedIn()
	id := s.Canvas("w", apitest.Hook(`"security":{"auth_type":"none","allow_anonymous":true,"rate_limit":{"limit":1000,"per":"second"}}`))
	for _, path := range []string{"/api/v1/webhook_test/" + id, "/0.27/api/v1/agents/" + id + "/webhook/test"} {
		for _, method := range []string{"GET", "POST"} {
			require.Equal(t, http.StatusForbidden, s.Request(method, path, "", "", "Cookie", cookie, api.PageHeader, api.PageItself).Status)
			require.Equal(t, http.StatusOK, s.Request(method, path, "", "", "Cookie", cookie, api.PageHeader, api.PageItself, api.CSRFHeader, csrf).Status)
		}
	}
}
