package faces_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A key without scopes may do nothing: not one route takes it, besides those about the caller.
func TestKeyWithoutScopesMayDoNothing(t *testing.T) {
	s := apitest.New(t)
	b := s.FurnishAll()
	_, key, err := s.Store.Keys.Create(t.Context(), store.Key{Tenant: "one", User: "one"}, "")
	require.NoError(t, err)
	own := map[string]bool{ // about the caller
		"/api/v2/me": true, "/api/v2/me/usage": true, "/api/v2/me/password": true,
		"/api/v2/me/logins": true, "/api/v2/me/logins/{login}": true,
		"/v1/user/logout": true, "/api/v1/auth/logout": true,
		"/0.25/v1/user/logout": true, "/0.25/api/v1/auth/logout": true,
		"/0.27/v1/user/logout": true, "/0.27/api/v1/auth/logout": true,
	}
	refused := 0
	apitest.EachRoute(s, func(r api.Route, method string) {
		if r.Need == api.NeedNone || own[r.Path] {
			return
		}
		require.Contains(t, app.Scopes, r.Scope, "%s %s", method, r.Path)
		body := b.Body()
		if method == http.MethodGet {
			body = ""
		}
		a := s.Request(method, b.Fill(r.Path)+b.Query(), key, body)
		require.Equal(t, http.StatusForbidden, a.Status, "%s %s: %s", method, r.Path, a.Text)
		refused++
	})
	require.Greater(t, refused, 300)
	require.Equal(t, "null", s.As(key, "GET", "/api/v2/me", "", 200).Get("scopes").JSON())
	s.As(key, "PUT", "/api/v2/me/password", `{"new":"another horse"}`, 409)
	s.As(key, "DELETE", "/api/v2/me/password", "", 403)
	s.As(key, "GET", "/api/v2/me/logins", "", 403)
	s.As(key, "DELETE", "/api/v2/me/logins/"+apitest.Nowhere, "", 403)
	login := s.Request("POST", "/v1/user/login", "", `{"email":"mine@x.org","password":"`+key+`"}`)
	require.Equal(t, 109, login.Code())
}

// Each scope opens the routes that name it, and no others.
func TestScopesOpenTheirRoutesOnly(t *testing.T) {
	s := apitest.New(t)
	keys := map[string]string{}
	for _, scope := range app.Scopes {
		var err error
		_, keys[scope], err = s.Store.Keys.Create(
			t.Context(), store.Key{Tenant: "one", User: "one", Scopes: []string{scope}}, "",
		)
		require.NoError(t, err)
	}
	opened := map[string]int{}
	apitest.EachRoute(s, func(r api.Route, method string) {
		if r.Need == api.NeedNone || r.Scope == "" {
			return
		}
		path := apitest.Unknown.Fill(r.Path)
		for scope, key := range keys {
			if scope == r.Scope {
				opened[scope]++
				continue
			}
			a := s.Request(method, path, key, "")
			require.Equal(t, http.StatusForbidden, a.Status, "%s %s with %s: %s", method, r.Path, scope, a.Text)
		}
	})
	require.Len(t, opened, len(app.Scopes))
}
