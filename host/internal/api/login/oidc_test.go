package login_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/app/identity/identitytest"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// company is a site whose operating tenant has the owner ann with a password, and a provider.
type company struct {
	*apitest.Site
	p *identitytest.Provider
}

func newCompany(t *testing.T, change ...func(*app.ProviderConfig)) *company {
	p := identitytest.New(t)
	cfg := app.ProviderConfig{
		ID: "corp", Name: "Corp", Issuer: p.Issuer, Client: "easel", Secret: "hush", Scopes: []string{"email"},
		GroupsClaim: "groups", Roles: map[string]string{"it": "owner", "leads": "admin", "staff": "normal"},
	}
	for _, f := range change {
		f(&cfg)
	}
	s := apitest.New(t, func(c *apitest.Config) { c.SignIn = []app.ProviderConfig{cfg} })
	_, err := s.Store.Tenants.Put(t.Context(), store.Tenant{ID: "one", Name: "One"})
	require.NoError(t, err)
	_, err = s.Store.Users.CreateMember(
		t.Context(), store.Member{Tenant: "one", Role: app.RoleOwner}, store.User{Email: "ann@x.org"}, "correct horse",
	)
	require.NoError(t, err)
	return &company{s, p}
}

func (v *visitor) open(path string) apitest.Answer {
	v.s.T.Helper()
	return v.visit(path, nil)
}

func (v *visitor) send(path string, form url.Values) apitest.Answer {
	v.s.T.Helper()
	var fields []string
	for name := range form {
		fields = append(fields, name, form.Get(name))
	}
	return v.visit(path, nil, fields...)
}

// field returns the value of a hidden field of a page.
func field(t *testing.T, page, name string) string {
	t.Helper()
	found := regexp.MustCompile(`name="` + name + `" value="([^"]+)"`).FindStringSubmatch(page)
	require.Len(t, found, 2, page)
	return found[1]
}

// begin opens the provider's button, and returns where the browser comes back to.
func (v *visitor) begin(c *company, next string) string {
	v.s.T.Helper()
	a := v.open("/login/oidc/corp?next=" + url.QueryEscape(next))
	require.Equal(v.s.T, http.StatusSeeOther, a.Status, a.Text)
	return "/login/oidc/corp/callback?" + c.p.Authorize(a.Header.Get("Location")).Encode()
}

func (v *visitor) signIn(c *company) apitest.Answer {
	v.s.T.Helper()
	return v.open(v.begin(c, "/"))
}

// me is who the browser is logged in as; empty without a login.
func (v *visitor) me() string {
	v.s.T.Helper()
	a := v.open("/api/v2/me")
	return a.Body.Get("email").Str() + " " + a.Body.Get("role").Str()
}

func (c *company) groups(names ...string) {
	c.p.Claims = jwt.MapClaims{"groups": names}
	if names == nil {
		c.p.Claims = nil
	}
}

func TestGroupsGiveRoles(t *testing.T) {
	c := newCompany(t)
	c.p.Claims = jwt.MapClaims{"sub": "bob", "email": "bob@corp.example", "groups": []string{"staff", "unknown"}}
	v := newVisitor(c.Site)
	a := v.signIn(c)
	require.Equal(t, http.StatusSeeOther, a.Status, a.Text)
	require.Equal(t, "/#host", a.Header.Get("Location"))
	require.Equal(t, "bob@corp.example normal", v.me())
	for _, one := range []struct {
		groups any
		want   string
	}{
		{[]string{"staff", "leads"}, "bob@corp.example admin"},
		{nil, "bob@corp.example admin"}, // absent: roles stay
		{[]string{"it"}, "bob@corp.example owner"},
		{[]string{"staff"}, "bob@corp.example normal"},
	} {
		c.p.Claims["groups"] = one.groups
		require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
		require.Equal(t, one.want, v.me())
	}
	c.p.Claims["groups"] = []string{}
	a = newVisitor(c.Site).signIn(c)
	require.Equal(t, http.StatusForbidden, a.Status)
	require.Contains(t, a.Text, "Your groups at the provider give you no access here.")
	require.Equal(t, " ", v.me(), "logins of before have ended")
	delete(c.p.Claims, "groups")
	c.p.Claims["_claim_names"] = map[string]string{"groups": "src1"}
	c.p.Claims["_claim_sources"] = map[string]any{"src1": map[string]string{"endpoint": "https://graph.example/groups"}}
	a = newVisitor(c.Site).signIn(c)
	require.Equal(t, http.StatusForbidden, a.Status)
	require.Contains(t, a.Text, "too many groups")
}

// Groups of a provider replace those of its sign-in before, and never those of an administrator.
func TestGroupsOfSignIn(t *testing.T) {
	c := newCompany(t)
	c.p.Claims = jwt.MapClaims{"sub": "bob", "email": "bob@corp.example", "groups": []string{"staff", "hr"}}
	v := newVisitor(c.Site)
	require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
	bob := v.open("/api/v2/me").Body.Get("user").Str()
	path := "/api/v2/users/" + bob + "/groups"
	groups := func() string { return c.As("one", "GET", path, "", 200).Get("items").JSON() }
	require.Equal(t, `[{"name":"hr","source":"corp"},{"name":"staff","source":"corp"}]`, groups())
	c.As("one", "PUT", path, `{"groups":["board","hr"]}`, 200)
	both := `[{"name":"board"},{"name":"hr"},{"name":"hr","source":"corp"},{"name":"staff","source":"corp"}]`
	require.Equal(t, both, groups())
	for _, one := range []struct {
		claim any
		want  string
	}{
		{nil, both}, // absent: groups stay
		{[]string{"staff", "a\nb", " x"}, `[{"name":"board"},{"name":"hr"},{"name":"staff","source":"corp"}]`},
		{[]string{"staff"}, `[{"name":"board"},{"name":"hr"},{"name":"staff","source":"corp"}]`},
	} {
		c.p.Claims["groups"] = one.claim
		require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
		require.Equal(t, one.want, groups())
	}
	c.As("one", "PUT", path, `{"groups":["a\nb"]}`, 422)
	c.As("two", "PUT", path, `{"groups":["hr"]}`, 404)
}

// An address never finds an account: a password links it, once.
func TestLinkByPassword(t *testing.T) {
	c := newCompany(t)
	c.groups("leads")
	c.p.Claims["email"] = "ann@x.org"
	v := newVisitor(c.Site)
	a := v.signIn(c)
	require.Equal(t, http.StatusOK, a.Status)
	require.Contains(t, a.Text, "Link your account")
	require.Equal(t, " ", v.me())
	form := url.Values{
		"arrival": {field(t, a.Text, "arrival")}, "email": {"ann@x.org"}, "password": {"wrong"},
		"next": {"//evil.example"},
	}
	a = v.send("/login/oidc/corp/link", form)
	require.Equal(t, http.StatusUnauthorized, a.Status)
	form.Set("arrival", field(t, a.Text, "arrival"))
	form.Set("password", "correct horse")
	a = v.send("/login/oidc/corp/link", form)
	require.Equal(t, http.StatusSeeOther, a.Status, a.Text)
	require.Equal(t, "/#host", a.Header.Get("Location"))
	require.Equal(t, "ann@x.org owner", v.me(), "the role that she had is stronger")

	again := newVisitor(c.Site)
	require.Equal(t, http.StatusSeeOther, again.signIn(c).Status)
	require.Equal(t, "ann@x.org owner", again.me())
	twice := newVisitor(c.Site).send("/login/oidc/corp/link", form)
	require.Equal(t, http.StatusConflict, twice.Status, "linked already")

	c.p.Claims["sub"] = "another person with her address"
	mallory := newVisitor(c.Site)
	require.Contains(t, mallory.signIn(c).Text, "Link your account")
	require.Equal(t, " ", mallory.me())

	form.Set("arrival", "forged")
	require.Equal(t, http.StatusBadRequest, v.send("/login/oidc/corp/link", form).Status)
}

func TestAttemptBelongsToBrowser(t *testing.T) {
	c := newCompany(t)
	c.groups("staff")
	ann, mallory := newVisitor(c.Site), newVisitor(c.Site)
	stolen := mallory.begin(c, "/")
	for name, v := range map[string]*visitor{
		"a browser that began nothing": newVisitor(c.Site), "one that began another": ann,
	} {
		if v == ann {
			ann.begin(c, "/")
		}
		a := v.open(stolen)
		require.Equal(t, http.StatusBadRequest, a.Status, name)
		require.Contains(t, a.Text, "another browser", name)
		require.Contains(t, a.Header.Get("Content-Type"), "text/html")
		require.Equal(t, " ", v.me(), name)
	}
	require.Equal(t, http.StatusSeeOther, mallory.open(stolen).Status)
	a := mallory.open(stolen)
	require.Equal(t, http.StatusBadRequest, a.Status, "a response is used once")
}

func TestNextOfProvider(t *testing.T) {
	c := newCompany(t)
	c.groups("staff")
	for next, want := range map[string]string{
		"/#host/c/1": "/#host/c/1", "https://evil.example": "/#host", "//evil.example": "/#host",
		`/\evil.example`:      "/#host",
		"javascript:alert(1)": "/#host",
	} {
		v := newVisitor(c.Site)
		a := v.open(v.begin(c, next))
		require.Equal(t, http.StatusSeeOther, a.Status)
		require.Equal(t, want, a.Header.Get("Location"), next)
	}
}

func TestFailuresOfProviderArePages(t *testing.T) {
	c := newCompany(t)
	v := newVisitor(c.Site)
	back := v.begin(c, "/")
	state := back[strings.Index(back, "state=")+len("state="):]
	a := v.open("/login/oidc/corp/callback?error=access_denied&error_description=%3Cscript%3E&state=" + state)
	require.Equal(t, http.StatusUnauthorized, a.Status)
	require.Contains(t, a.Text, "cancelled or refused at the provider")
	require.NotContains(t, a.Text, "<script>")
	require.Contains(t, a.Text, "Log in with Corp", "to start again")
	require.Equal(t, http.StatusNotFound, v.open("/login/oidc/nowhere").Status)
	c.p.Claims = jwt.MapClaims{"nonce": "forged"}
	a = v.signIn(c)
	require.Equal(t, http.StatusUnauthorized, a.Status)
	require.Contains(t, a.Text, "answer is not valid")
	require.NotContains(t, a.Text, "nonce")
	down := newCompany(t, func(cfg *app.ProviderConfig) { cfg.Issuer = "http://127.0.0.1:1" })
	a = newVisitor(down.Site).open("/login/oidc/corp")
	require.Equal(t, http.StatusBadGateway, a.Status)
	require.Contains(t, a.Text, "cannot be reached")
}

func TestLogoutAtProvider(t *testing.T) {
	c := newCompany(t)
	c.p.Metadata = map[string]any{"end_session_endpoint": c.p.URL + "/end"}
	c.groups("staff")
	v := newVisitor(c.Site)
	require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
	a := v.send("/logout", url.Values{"csrf": {field(t, v.open("/login").Text, "csrf")}})
	require.Equal(t, http.StatusOK, a.Status)
	require.Contains(t, a.Text, c.p.URL+"/end?client_id=easel&amp;id_token_hint=")
	require.Equal(t, " ", v.me())
}

// The tenant keeps an owner with a password, whatever groups and requests say.
func TestLastPasswordStays(t *testing.T) {
	c := newCompany(t)
	c.p.Claims = jwt.MapClaims{"sub": "bob", "email": "bob@corp.example", "groups": []string{"it"}}
	v := newVisitor(c.Site)
	require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
	require.Equal(t, "bob@corp.example owner", v.me())
	users := c.As("one", "GET", "/api/v2/users", "", 200).Get("items")
	for _, u := range users.Elements() {
		if u.Get("email").Str() == "ann@x.org" {
			path := "/api/v2/users/" + u.Get("id").Str()
			require.Contains(t, c.As("one", "DELETE", path, "", 409).JSON(), "last_password")
			require.Contains(t, c.As("one", "PUT", path, `{"role":"normal"}`, 409).JSON(), "last_password")
			continue
		}
		refused := c.As("one", "PUT", "/api/v2/users/"+u.Get("id").Str(), `{"role":"normal"}`, 409)
		require.Contains(t, refused.JSON(), "stronger_role")
	}
}
