package api

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

	"github.com/easel-canvas/easel/host/internal/store"
)

// visitor is a browser without scripts.
type visitor struct {
	s      *site
	client *http.Client
}

func (s *site) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	require.NoError(s.t, err)
	return &visitor{s, &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// visit opens a page, or sends a form to it when there are fields; header and
// fields are pairs.
func (v *visitor) visit(path string, header []string, fields ...string) answer {
	v.s.t.Helper()
	method, body := "GET", url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		method = "POST"
		body.Set(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(v.s.t.Context(), method, v.s.url+path, strings.NewReader(body.Encode()))
	require.NoError(v.s.t, err)
	if method == "POST" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", v.s.url)
	}
	if strings.HasPrefix(path, "/api/") {
		req.Header.Set(pageHeader, pageItself)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return v.s.do(v.client, req)
}

var csrfField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

func TestLoginPage(t *testing.T) {
	s := newSite(t)
	ann, err := s.store.CreateMember(t.Context(), store.Member{Tenant: "one", Role: roleOwner}, store.User{Email: "ann@x.org", Nickname: "Ann"}, "correct horse")
	require.NoError(t, err)
	_, _, err = s.store.CreateKey(t.Context(), store.Key{Tenant: "one", User: ann.ID}, "annskey")
	require.NoError(t, err)
	v := s.visitor()
	a := v.visit("/login?next=/%23canvas", nil)
	require.Equal(t, 200, a.status)
	require.Contains(t, a.header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Contains(t, a.header.Get("Content-Security-Policy"), "frame-ancestors 'none'")
	for _, part := range []string{`<html lang="en">`, `<label for="email">`, `<label for="password">`, `autocomplete="current-password"`, `value="/#canvas"`} {
		require.Contains(t, a.text, part)
	}
	require.NotContains(t, a.text, "<script")
	_, rest, _ := strings.Cut(a.text, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	require.Contains(t, a.header.Get("Content-Security-Policy"), "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", "the policy lets the page's own style in")
	require.Contains(t, v.visit("/login", []string{"Accept-Language", "zh-CN,zh;q=0.9"}).text, "登录")

	a = v.visit("/login", nil, "email", `"><b>x`, "password", "wrong horse")
	require.Equal(t, 401, a.status)
	require.Contains(t, a.text, `role="alert"`)
	require.NotContains(t, a.text, "<b>x")
	for _, origin := range []string{"https://evil.org", "null"} {
		require.Equal(t, 403, v.visit("/login", []string{"Origin", origin}, "email", "ann@x.org", "password", "correct horse").status, "a foreign page logs nobody in")
	}

	a = v.visit("/login", nil, "email", "ann@x.org", "password", "correct horse", "next", "/#canvas")
	require.Equal(t, 303, a.status)
	require.Equal(t, "/#canvas", a.header.Get("Location"))
	cookie := a.header.Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/"} {
		require.Contains(t, cookie, part)
	}
	require.NotContains(t, cookie, "Secure", "over HTTP the browser would drop it")
	me := v.visit("/api/v2/me", nil)
	require.Equal(t, "ann@x.org", me.body.Get("email").Str())
	csrf := me.body.Get("csrf").Str()
	require.NotEmpty(t, csrf, "the page needs it after a reload")

	a = v.visit("/login", nil)
	require.Contains(t, a.text, "ann@x.org")
	field := csrfField.FindStringSubmatch(a.text)[1]
	require.Equal(t, csrf, field)
	require.Equal(t, 403, v.visit("/login/password", nil, "csrf", "forged", "old", "correct horse", "new", "another horse").status)
	require.Equal(t, 403, v.visit("/login/password", []string{"Origin", "https://evil.org"}, "csrf", field, "old", "correct horse", "new", "another horse").status)
	require.Equal(t, 403, v.visit("/login/password", nil, "csrf", field, "old", "wrong", "new", "another horse").status)
	require.Equal(t, 422, v.visit("/login/password", nil, "csrf", field, "old", "correct horse", "new", "short").status)
	a = v.visit("/login/password", nil, "csrf", field, "old", "correct horse", "new", "another horse")
	require.Equal(t, "/login?changed", a.header.Get("Location"))
	require.Contains(t, v.visit("/login?changed", nil).text, `role="status"`)
	require.Equal(t, 401, v.visit("/api/v2/me", nil).status)

	a = v.visit("/login", []string{"X-Forwarded-Proto", "https"}, "email", "", "password", "annskey")
	require.Equal(t, 303, a.status, "a key is enough where there is one user")
	require.Equal(t, "/", a.header.Get("Location"))
	require.Contains(t, a.header.Get("Set-Cookie"), "Secure")
}

func TestLogoutForm(t *testing.T) {
	s := newSite(t)
	_, err := s.store.CreateMember(t.Context(), store.Member{Tenant: "one", Role: roleNormal}, store.User{Email: "bob@x.org"}, "correct horse")
	require.NoError(t, err)
	v := s.visitor()
	require.Equal(t, 401, v.visit("/logout", nil, "csrf", "x").status)
	require.Equal(t, 303, v.visit("/login", nil, "email", "bob@x.org", "password", "correct horse").status)
	require.Equal(t, 403, v.visit("/logout", nil, "csrf", "x").status)
	field := csrfField.FindStringSubmatch(v.visit("/login", nil).text)[1]
	require.Equal(t, 303, v.visit("/logout", nil, "csrf", field).status)
	require.Equal(t, 401, v.visit("/api/v2/me", nil).status)
}

func TestLoginIsThrottled(t *testing.T) {
	s := newSite(t)
	v := s.visitor()
	var last answer
	for range 30 {
		if last = v.visit("/login", nil, "email", "ann@x.org", "password", "guess"); last.status == 429 {
			break
		}
	}
	require.Equal(t, 429, last.status)
	require.NotEmpty(t, last.header.Get("Retry-After"))
	a := s.request("POST", "/v1/user/login", "", `{"email":"other@x.org","password":"guess"}`)
	require.Equal(t, 429, a.status, "one address, whatever the form")
	require.NotEmpty(t, a.header.Get("Retry-After"))
}

func TestNextPlace(t *testing.T) {
	for text, want := range map[string]string{
		"/": "/", "/a?b#c": "/a?b#c", "": "/", "a": "/", "//evil.org": "/", "/\\evil.org": "/", "https://evil.org/": "/", "javascript:alert(1)": "/", "/a\r\nSet-Cookie: x": "/", "/\t/evil.org": "/",
	} {
		require.Equal(t, want, nextPlace(text), "%q", text)
	}
}
