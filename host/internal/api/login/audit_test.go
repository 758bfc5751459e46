package login_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestSignInsAreInTheAuditLog(t *testing.T) {
	c := newCompany(t)
	v := newVisitor(c.Site)
	acts := func(action string) (out []engine.Value) {
		for _, v := range c.As("one", "GET", "/api/v2/audit?action="+action, "", 200).Get("items").Elements() {
			out = append(out, v)
		}
		return out
	}
	password := url.Values{"email": {"Ann@x.org"}, "password": {"wrong"}}
	require.Equal(t, http.StatusUnauthorized, v.send("/login", password).Status)
	stranger := url.Values{"email": {"eve@x.org"}, "password": {"x"}}
	require.Equal(t, http.StatusUnauthorized, v.send("/login", stranger).Status)
	require.Eventually(t, func() bool { return len(acts("signInFailed")) == 1 }, time.Minute, time.Millisecond)
	require.Equal(t, "password", acts("signInFailed")[0].Get("caller").Str())
	password.Set("password", "correct horse")
	require.Equal(t, http.StatusSeeOther, v.send("/login", password).Status)
	require.Len(t, acts("signIn"), 1)
	require.Equal(t, acts("signInFailed")[0].Get("object").Str(), acts("signIn")[0].Get("user").Str())

	c.p.Claims = jwt.MapClaims{"sub": "bob", "email": "bob@corp.example", "groups": []string{"staff"}}
	require.Equal(t, http.StatusSeeOther, newVisitor(c.Site).signIn(c).Status)
	require.Len(t, acts("signIn"), 2)
	require.Equal(t, "oidc:corp", acts("signIn")[0].Get("caller").Str())
	c.p.Claims["nonce"] = "forged"
	require.Equal(t, http.StatusUnauthorized, newVisitor(c.Site).signIn(c).Status)
	require.Len(t, acts("signInFailed"), 2)
	require.Equal(t, "oidc:corp", acts("signInFailed")[0].Get("caller").Str())
	require.Equal(t, http.StatusBadRequest, v.open("/login/oidc/corp/callback?state=x").Status)
	require.Len(t, acts("signInFailed"), 2, "strangers do not fill the log")
}
