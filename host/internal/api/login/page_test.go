package login_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// visitor is a browser without scripts.
type visitor struct {
	s      *apitest.Site
	client *http.Client
}

func newVisitor(s *apitest.Site) *visitor {
	jar, err := cookiejar.New(nil)
	require.NoError(s.T, err)
	return &visitor{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// visit opens a page, or sends a form to it when there are fields; header and
// fields are pairs.
func (v *visitor) visit(path string, header []string, fields ...string) apitest.Answer {
	v.s.T.Helper()
	method, body := "GET", url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		method = "POST"
		body.Set(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(v.s.T.Context(), method, v.s.URL+path, strings.NewReader(body.Encode()))
	require.NoError(v.s.T, err)
	if method == "POST" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", v.s.URL)
	}
	if strings.HasPrefix(path, "/api/") {
		req.Header.Set(api.PageHeader, api.PageItself)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return v.s.Do(v.client, req)
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func TestLoginPage(t *testing.T) {
	s := apitest.New(t)
	ann, err := s.Store.Users.CreateMember(
		t.Context(), store.Member{Tenant: "one", Role: app.RoleOwner},
		store.User{Email: "ann@x.org", Nickname: "Ann"}, "correct horse",
	)
	require.NoError(t, err)
	_, _, err = s.Store.Keys.Create(t.Context(), store.Key{Tenant: "one", User: ann.ID, Scopes: app.Scopes}, "annskey")
	require.NoError(t, err)
	v := newVisitor(s)
	a := v.visit("/login?next=/%23canvas", nil)
	require.Equal(t, 200, a.Status)
	require.Contains(t, a.Header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Contains(t, a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
	for _, part := range []string{`<html lang="en">`, `<label for="email">`, `<label for="password">`, `autocomplete="current-password"`, `value="/#canvas"`} {
		require.Contains(t, a.Text, part)
	}
	require.NotContains(t, a.Text, "<script")
	_, rest, _ := strings.Cut(a.Text, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	require.Contains(t, a.Header.Get("Content-Security-Policy"), "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", "the policy lets the page's own style in")
	require.Contains(t, v.visit("/login", []string{"Accept-Language", "zh-CN,zh;q=0.9"}).Text, "登录")

	a = v.visit("/login", nil, "email", `"><b>x`, "password", "wrong horse")
	require.Equal(t, 401, a.Status)
	require.Contains(t, a.Text, `role="alert"`)
	require.NotContains(t, a.Text, "<b>x")
	for _, origin := range []string{"https://evil.org", "null"} {
		require.Equal(t, 403, v.visit("/login", []string{"Origin", origin}, "email", "ann@x.org", "password", "correct horse").Status, "a foreign page cannot log a user in")
	}

	a = v.visit("/login", nil, "email", "ann@x.org", "password", "correct horse", "next", "/#canvas")
	require.Equal(t, 303, a.Status)
	require.Equal(t, "/#canvas", a.Header.Get("Location"))
	cookie := a.Header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		require.Contains(t, cookie, part)
	}
	require.NotContains(t, cookie, "Secure", "over HTTP the browser would drop it")
	me := v.visit("/api/v2/me", nil)
	require.Equal(t, "ann@x.org", me.Body.Get("email").Str())
	csrf := me.Body.Get("csrf").Str()
	require.NotEmpty(t, csrf, "the page needs it after a reload")

	a = v.visit("/login", nil)
	require.Contains(t, a.Text, "ann@x.org")
	field := csrfField.FindStringSubmatch(a.Text)[1]
	require.Equal(t, csrf, field)
	require.Equal(t, 403, v.visit("/login/password", nil, "csrf", "forged", "old", "correct horse", "new", "another horse").Status)
	require.Equal(t, 403, v.visit("/login/password", []string{"Origin", "https://evil.org"}, "csrf", field, "old", "correct horse", "new", "another horse").Status)
	require.Equal(t, 403, v.visit("/login/password", nil, "csrf", field, "old", "wrong", "new", "another horse").Status)
	require.Equal(t, 422, v.visit("/login/password", nil, "csrf", field, "old", "correct horse", "new", "short").Status)
	a = v.visit("/login/password", nil, "csrf", field, "old", "correct horse", "new", "another horse")
	require.Equal(t, "/login?changed", a.Header.Get("Location"))
	require.Contains(t, v.visit("/login?changed", nil).Text, `role="status"`)
	require.Equal(t, 401, v.visit("/api/v2/me", nil).Status)

	a = v.visit("/login", []string{"X-Forwarded-Proto", "https"}, "email", "", "password", "annskey")
	require.Equal(t, 303, a.Status, "a key is enough where there is one user")
	require.Equal(t, "/#host", a.Header.Get("Location"))
	require.Contains(t, a.Header.Get("Set-Cookie"), "Secure")
}

func TestSignInLink(t *testing.T) {
	s := apitest.New(t)
	owner := store.Member{Tenant: "one", Role: app.RoleOwner}
	ann, err := s.Store.Users.CreateMember(t.Context(), owner, store.User{Email: "ann@x.org"}, "correct horse")
	require.NoError(t, err)
	link := "/login?once=" + s.Services.Accounts.NewSignInCode(ann.ID, nil)
	v := newVisitor(s)
	previews := [][]string{{"Sec-Purpose", "prefetch"}, {"Purpose", "prefetch"}, {"Sec-Fetch-Mode", "cors"}}
	for _, header := range previews {
		require.Equal(t, 200, v.visit(link, header).Status)
	}
	require.Equal(t, 401, v.visit("/api/v2/me", nil).Status, "a preview signs in no user")

	a := v.visit(link, []string{"Sec-Fetch-Mode", "navigate"})
	require.Equal(t, 303, a.Status)
	require.Equal(t, "/#host", a.Header.Get("Location"))
	require.Equal(t, "ann@x.org", v.visit("/api/v2/me", nil).Body.Get("email").Str())

	other := newVisitor(s)
	a = other.visit(link, nil)
	require.Equal(t, 401, a.Status)
	require.Contains(t, a.Text, `role="alert"`)
	require.Equal(t, 401, other.visit("/api/v2/me", nil).Status, "the link is used up")
	require.Equal(t, 401, other.visit("/login?once=", nil).Status)

	gone := "/login?once=" + s.Services.Accounts.NewSignInCode("unknown", nil)
	require.Equal(t, 401, other.visit(gone, nil).Status)
}

func TestLogoutForm(t *testing.T) {
	s := apitest.New(t)
	_, err := s.Store.Users.CreateMember(
		t.Context(), store.Member{Tenant: "one", Role: app.RoleNormal}, store.User{Email: "bob@x.org"},
		"correct horse",
	)
	require.NoError(t, err)
	v := newVisitor(s)
	require.Equal(t, 401, v.visit("/logout", nil, "csrf", "x").Status)
	require.Equal(t, 303, v.visit("/login", nil, "email", "bob@x.org", "password", "correct horse").Status)
	require.Equal(t, 403, v.visit("/logout", nil, "csrf", "x").Status)
	field := csrfField.FindStringSubmatch(v.visit("/login", nil).Text)[1]
	require.Equal(t, 303, v.visit("/logout", nil, "csrf", field).Status)
	require.Equal(t, 401, v.visit("/api/v2/me", nil).Status)
}

func TestLoginIsThrottled(t *testing.T) {
	s := apitest.New(t, apitest.Frozen)
	v := newVisitor(s)
	var last apitest.Answer
	for range 30 {
		if last = v.visit("/login", nil, "email", "ann@x.org", "password", "guess"); last.Status == 429 {
			break
		}
	}
	require.Equal(t, 429, last.Status)
	require.NotEmpty(t, last.Header.Get("Retry-After"))
	a := s.Request("POST", "/v1/user/login", "", `{"email":"other@x.org","password":"guess"}`)
	require.Equal(t, 429, a.Status, "one address, whatever the form")
	require.NotEmpty(t, a.Header.Get("Retry-After"))
}
