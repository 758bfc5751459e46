package login_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// call makes a request of the page's script, with the CSRF text of the login.
func (v *visitor) call(method, path string) apitest.Answer {
	v.s.T.Helper()
	csrf := v.open("/api/v2/me").Body.Get("csrf").Str()
	req, err := http.NewRequestWithContext(v.s.T.Context(), method, v.s.URL+path, nil)
	require.NoError(v.s.T, err)
	req.Header.Set(api.PageHeader, api.PageItself)
	req.Header.Set(api.CSRFHeader, csrf)
	req.Header.Set("User-Agent", "test")
	return v.s.Do(v.client, req)
}

func TestLoginsAreListedAndEnded(t *testing.T) {
	c := newCompany(t)
	c.p.Claims = jwt.MapClaims{"sub": "bob", "email": "bob@corp.example", "groups": []string{"staff"}}
	desk, phone, ann := newVisitor(c.Site), newVisitor(c.Site), newVisitor(c.Site)
	for _, v := range []*visitor{desk, phone} {
		require.Equal(t, http.StatusSeeOther, v.signIn(c).Status)
	}
	password := url.Values{"email": {"ann@x.org"}, "password": {"correct horse"}}
	require.Equal(t, http.StatusSeeOther, ann.send("/login", password).Status)

	list := desk.call("GET", "/api/v2/me/logins").Body.Get("items")
	require.Equal(t, 2, list.Len())
	for _, one := range list.Elements() {
		require.Equal(t, "oidc:corp", one.Get("via").Str())
		require.Equal(t, "127.0.0.1", one.Get("address").Str())
		require.NotEmpty(t, one.Get("agent").Str())
		if !one.Get("current").True() {
			other := "/api/v2/me/logins/" + one.Get("id").Str()
			require.Equal(t, 404, ann.call("DELETE", other).Status, "somebody else's")
			require.Equal(t, " ", newVisitor(c.Site).me())
			require.Equal(t, 204, desk.call("DELETE", "/api/v2/me/logins/"+one.Get("id").Str()).Status)
		}
	}
	require.Equal(t, " ", phone.me())
	require.Equal(t, "bob@corp.example normal", desk.me())
	require.Equal(t, 404, desk.call("DELETE", "/api/v2/me/logins/nothing").Status)
	require.Equal(t, "password", ann.call("GET", "/api/v2/me/logins").Body.Get("items").At(0).Get("via").Str())

	var bob string
	for _, u := range ann.call("GET", "/api/v2/users").Body.Get("items").Elements() {
		if u.Get("email").Str() == "bob@corp.example" {
			bob = u.Get("id").Str()
		}
	}
	path := "/api/v2/users/" + bob + "/logins"
	require.Equal(t, 403, desk.call("GET", path).Status, "only an administrator")
	logins := ann.call("GET", path).Body.Get("items")
	require.Equal(t, 1, logins.Len())
	require.Equal(t, 204, ann.call("DELETE", path+"/"+logins.At(0).Get("id").Str()).Status)
	require.Equal(t, " ", desk.me())
	require.Equal(t, http.StatusSeeOther, desk.signIn(c).Status)
	require.Equal(t, 204, ann.call("DELETE", path).Status)
	require.Equal(t, " ", desk.me())
}

func TestRemovePassword(t *testing.T) {
	c := newCompany(t)
	v := newVisitor(c.Site)
	password := url.Values{"email": {"ann@x.org"}, "password": {"correct horse"}}
	require.Equal(t, http.StatusSeeOther, v.send("/login", password).Status)
	require.Contains(t, v.call("DELETE", "/api/v2/me/password").Text, "sign in at a provider once")
	c.groups("it")
	a := newVisitor(c.Site).signIn(c) // ann@corp.example
	require.Equal(t, http.StatusSeeOther, a.Status)
	link := newVisitor(c.Site)
	c.p.Claims["sub"], c.p.Claims["email"] = "ann of x", "ann@x.org"
	password.Set("arrival", field(t, link.signIn(c).Text, "arrival"))
	require.Equal(t, http.StatusSeeOther, link.send("/login/oidc/corp/link", password).Status)
	refused := v.call("DELETE", "/api/v2/me/password")
	require.Equal(t, 409, refused.Status)
	require.Contains(t, refused.Text, "last_password")
	require.Equal(t, 403, c.Request("DELETE", "/api/v2/me/password", "one", "").Status, "not with a key")
	c.As("one", "POST", "/api/v2/users", `{"email":"eve@x.org","password":"battery staple","role":"owner"}`, 201)
	require.Equal(t, 204, v.call("DELETE", "/api/v2/me/password").Status)
	require.Equal(t, http.StatusUnauthorized, newVisitor(c.Site).send("/login", password).Status)
}
