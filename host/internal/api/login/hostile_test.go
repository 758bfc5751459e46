package login_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

func (c *company) acts(action string) []engine.Value {
	c.T.Helper()
	var out []engine.Value
	for _, v := range c.As("one", "GET", "/api/v2/audit?action="+action, "", 200).Get("items").Elements() {
		out = append(out, v)
	}
	return out
}

// Another site could sign a visitor in as somebody else, at a provider that does not ask.
func TestOtherSitesBeginNoSignIn(t *testing.T) {
	c := newCompany(t)
	for _, site := range []string{"cross-site", "same-site"} {
		v := newVisitor(c.Site)
		from := []string{"Sec-Fetch-Site", site, "Sec-Fetch-Mode", "navigate"}
		a := v.visit("/login/oidc/corp?next=/%23host/c/1", from)
		require.Equal(t, http.StatusSeeOther, a.Status)
		require.Equal(t, "/login?next=%2F%23host%2Fc%2F1", a.Header.Get("Location"))
		require.Empty(t, a.Header.Values("Set-Cookie"))
	}
	for _, site := range []string{"same-origin", "none"} {
		from := []string{"Sec-Fetch-Site", site, "Sec-Fetch-Mode", "navigate"}
		a := newVisitor(c.Site).visit("/login/oidc/corp", from)
		require.Contains(t, a.Header.Get("Location"), c.p.URL)
	}
}

// A login ends although its provider does not answer and the browser has left.
func TestLogoutDoesNotNeedTheProvider(t *testing.T) {
	c := newCompany(t)
	c.p.Claims = jwt.MapClaims{"sub": "bob", "email": "bob@corp.example"}
	added := fmt.Sprintf(`{"issuer":%q,"client":"easel","secret":"hush","new_role":"normal"}`, c.p.Issuer)
	c.As("one", "PUT", "/api/v2/oidc/added", added, 200)
	v := newVisitor(c.Site)
	a := v.open("/login/oidc/added")
	back := c.p.Authorize(a.Header.Get("Location")).Encode()
	require.Equal(t, http.StatusSeeOther, v.open("/login/oidc/added/callback?"+back).Status)
	require.Equal(t, "bob@corp.example normal", v.me())
	csrf := field(t, v.open("/login").Text, "csrf")
	c.As("one", "PUT", "/api/v2/oidc/added", added, 200) // its configuration is read again
	reached := c.p.Hang()
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-reached
		leave()
	}()
	form := strings.NewReader(url.Values{"csrf": {csrf}}.Encode())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/logout", form)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", c.URL)
	res, err := v.client.Do(req)
	if err == nil { // it was answered before the browser left
		require.NoError(t, res.Body.Close())
	}
	require.Equal(t, " ", v.me())
}

// Links, accounts and roles by groups, and new passwords, are in the audit log.
func TestAuditOfIdentities(t *testing.T) {
	c := newCompany(t)
	c.p.Claims = jwt.MapClaims{"sub": "bob", "email": "bob@corp.example", "groups": []string{"staff"}}
	v := newVisitor(c.Site)
	require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
	require.Len(t, c.acts("addUserBySignIn"), 1)
	bob := c.acts("addUserBySignIn")[0].Get("object").Str()
	require.NotEmpty(t, bob)
	require.Len(t, c.acts("setRoleBySignIn"), 1)
	c.p.Claims["groups"] = []string{"it"}
	require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
	require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
	require.Len(t, c.acts("setRoleBySignIn"), 2, "only changes")
	require.Equal(t, bob+"/owner", c.acts("setRoleBySignIn")[0].Get("object").Str())
	require.Equal(t, "oidc:corp", c.acts("setRoleBySignIn")[0].Get("caller").Str())

	c.p.Claims = jwt.MapClaims{"sub": "ann", "email": "ann@x.org"}
	ann := newVisitor(c.Site)
	form := url.Values{
		"arrival": {field(t, ann.signIn(c).Text, "arrival")}, "email": {"ann@x.org"}, "password": {"correct horse"},
	}
	require.Equal(t, http.StatusSeeOther, ann.send("/login/oidc/corp/link", form).Status)
	require.Len(t, c.acts("linkSignIn"), 1)
	require.Equal(t, "oidc:corp", c.acts("linkSignIn")[0].Get("caller").Str())
	require.Equal(t, c.acts("linkSignIn")[0].Get("user").Str(), c.acts("linkSignIn")[0].Get("object").Str())
	require.Equal(t, http.StatusConflict, ann.send("/login/oidc/corp/link", form).Status)
	require.Len(t, c.acts("linkSignIn"), 1, "what failed is no act")

	change := url.Values{
		"csrf": {field(t, ann.open("/login").Text, "csrf")}, "old": {"wrong"}, "new": {"better horse battery"},
	}
	require.NotEqual(t, http.StatusSeeOther, ann.send("/login/password", change).Status)
	require.Empty(t, c.acts("setOwnPassword"))
	change.Set("old", "correct horse")
	require.Equal(t, http.StatusSeeOther, ann.send("/login/password", change).Status)
	require.Len(t, c.acts("setOwnPassword"), 1)
}

// A visitor cannot fill the audit log with sign-ins that fail.
func TestFailedSignInsAreBounded(t *testing.T) {
	c := newCompany(t)
	const tries = 40
	refused := 0
	for range tries {
		v := newVisitor(c.Site)
		back := v.begin(c, "/")
		u, err := url.Parse(back)
		require.NoError(t, err)
		a := v.open("/login/oidc/corp/callback?error=access_denied&state=" + u.Query().Get("state"))
		if a.Status == http.StatusTooManyRequests {
			require.NotEmpty(t, a.Header.Get("Retry-After"))
			refused++
		}
	}
	require.GreaterOrEqual(t, refused, tries/2)
	require.LessOrEqual(t, len(c.acts("signInFailed")), tries/2)
	c.groups("staff")
	v := newVisitor(c.Site)
	require.Equal(t, http.StatusSeeOther, v.send("/login", url.Values{
		"email": {"ann@x.org"}, "password": {"correct horse"},
	}).Status, "passwords are counted apart")
}

// An address that the provider has not verified makes no account: somebody else would have it.
func TestUnverifiedAddressMakesNoAccount(t *testing.T) {
	for _, verified := range []any{false, "false"} {
		c := newCompany(t, func(cfg *app.ProviderConfig) { cfg.NewRole = app.RoleNormal })
		c.p.Claims = jwt.MapClaims{"sub": "eve", "email": "boss@corp.example", "email_verified": verified}
		v := newVisitor(c.Site)
		require.Contains(t, v.signIn(c).Text, "Link your account")
		require.Equal(t, " ", v.me())
		c.p.Claims["email_verified"] = true
		require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
		require.Equal(t, "boss@corp.example normal", v.me())
	}
}
