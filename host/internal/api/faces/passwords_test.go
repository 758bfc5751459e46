package faces_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// A login needs the old password for a new one, whatever its role, and whether a header or a cookie
// holds it; setting it as that of another user is no way around.
func TestPasswordOfALogin(t *testing.T) {
	t.Parallel()
	s := &people{Site: apitest.New(t)}
	for _, role := range []string{app.RoleOwner, app.RoleAdmin, app.RoleNormal} {
		who := s.add(role)
		login, cookie, err := s.Store.Logins.Create(t.Context(), who.User, time.Hour, store.Origin{})
		require.NoError(t, err)
		byCookie := []string{
			"Cookie", api.LoginCookie + "=" + cookie, api.CSRFHeader, login.CSRF, api.PageHeader, api.PageItself,
		}
		for name, send := range map[string]func(path, body string) apitest.Answer{
			"header": func(path, body string) apitest.Answer { return s.Request("PUT", path, who.login, body) },
			"bare": func(path, body string) apitest.Answer {
				return s.Request("PUT", path, "", body, "Authorization", who.login)
			},
			"cookie": func(path, body string) apitest.Answer { return s.Request("PUT", path, "", body, byCookie...) },
		} {
			for _, body := range []string{
				`{"new":"another horse"}`, `{"old":"","new":"another horse"}`,
				`{"old":"wrong horse","new":"another horse"}`,
			} {
				a := send("/api/v2/me/password", body)
				require.Equal(t, 403, a.Status, "%s, %s: %s", role, name, a.Text)
			}
			a := send("/api/v2/users/"+who.User+"/password", `{"new":"another horse"}`)
			require.Equal(t, 403, a.Status, "%s, %s: %s", role, name, a.Text)
		}
		require.Empty(t, s.changes(who), role)
		_, err = s.Store.Users.ByPassword(t.Context(), who.email, "correct horse")
		require.NoError(t, err)
	}
}

// A new password ends every login of the user, and the links with which it could sign in.
func TestNewPasswordEndsLogins(t *testing.T) {
	t.Parallel()
	s := &people{Site: apitest.New(t)}
	owner := s.add(app.RoleOwner)
	for name, change := range map[string]func(who person) int{
		"own": func(who person) int {
			body := `{"old":"correct horse","new":"another horse"}`
			return s.Request("PUT", "/api/v2/me/password", who.login, body).Status
		},
		"by a key": func(who person) int {
			return s.Request("PUT", "/api/v2/me/password", who.whole, `{"new":"another horse"}`).Status
		},
		"by an owner": func(who person) int {
			path := "/api/v2/users/" + who.User + "/password"
			return s.Request("PUT", path, owner.login, `{"new":"another horse"}`).Status
		},
		"removed": func(who person) int {
			return s.Request("DELETE", "/api/v2/users/"+who.User, owner.login, "").Status
		},
	} {
		who, other := s.add(app.RoleAdmin), s.add(app.RoleAdmin)
		_, second, err := s.Store.Logins.Create(t.Context(), who.User, time.Hour, store.Origin{})
		require.NoError(t, err)
		code := s.Services.Accounts.NewSignInCode(who.User, nil)
		others := s.Services.Accounts.NewSignInCode(other.User, nil)
		require.Equal(t, 204, change(who), name)
		for _, login := range []string{who.login, second} {
			require.Equal(t, 401, s.Request("GET", "/api/v2/me", login, "").Status, name)
		}
		_, err = s.Services.Accounts.TakeSignInCode(code)
		require.ErrorIs(t, err, app.ErrNotFound, name)
		user, err := s.Services.Accounts.TakeSignInCode(others)
		require.NoError(t, err)
		require.Equal(t, other.User, user)
		require.Empty(t, s.changes(other))
	}
}
