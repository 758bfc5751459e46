package v2_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// An open stream of events ends soon after its key, its login or its permission.
func TestStreamsEndWithTheirPrincipal(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Recheck = time.Millisecond })
	id := s.Canvas("a", apitest.Echo)
	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"permission":"team"}`, 200)
	ann, err := s.Store.Users.CreateMember(
		t.Context(), store.Member{Tenant: "one", Role: app.RoleNormal}, store.User{Email: "ann@x.org"}, "correct horse",
	)
	require.NoError(t, err)
	open := func(text string) *bufio.Reader {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/api/v2/canvases/"+id+"/events", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+text)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { res.Body.Close() })
		require.Equal(t, 200, res.StatusCode)
		in := bufio.NewReader(res.Body)
		_, err = in.ReadString('\n')
		require.NoError(t, err)
		return in
	}
	login := func() string {
		_, text, err := s.Store.Logins.Create(t.Context(), ann.ID, time.Hour, store.Origin{})
		require.NoError(t, err)
		return text
	}
	kept := open("one")
	for name, end := range map[string]func() (*bufio.Reader, func() error){
		"revoked key": func() (*bufio.Reader, func() error) {
			k, text, err := s.Store.Keys.Create(
				t.Context(), store.Key{Tenant: "one", User: "one", Scopes: []string{app.ScopeEdit}}, "",
			)
			require.NoError(t, err)
			return open(text), func() error { return s.Store.Keys.Delete(t.Context(), "one", k.ID) }
		},
		"logout": func() (*bufio.Reader, func() error) {
			text := login()
			return open(text), func() error { return s.Store.Logins.Delete(t.Context(), text) }
		},
		"new password": func() (*bufio.Reader, func() error) {
			return open(login()), func() error {
				return s.Store.Users.SetPassword(t.Context(), ann.ID, "another horse")
			}
		},
		"another role": func() (*bufio.Reader, func() error) {
			return open(login()), func() error {
				return s.Store.Members.Put(t.Context(), store.Member{Tenant: "one", User: ann.ID, Role: "guest"})
			}
		},
		"another group": func() (*bufio.Reader, func() error) {
			return open(login()), func() error {
				return s.Store.Groups.Set(t.Context(), "one", ann.ID, "", access.GroupsOf("hr"))
			}
		},
		"no group any more, by a key": func() (*bufio.Reader, func() error) {
			require.NoError(t, s.Store.Groups.Set(t.Context(), "one", ann.ID, "", access.GroupsOf("hr")))
			_, text, err := s.Store.Keys.Create(
				t.Context(), store.Key{Tenant: "one", User: ann.ID, Scopes: []string{app.ScopeEdit}}, "",
			)
			require.NoError(t, err)
			return open(text), func() error { return s.Store.Groups.Set(t.Context(), "one", ann.ID, "", "") }
		},
	} {
		in, over := end()
		require.NoError(t, over(), name)
		for err == nil { // what was sent before
			_, err = in.ReadString('\n')
		}
		require.Error(t, err, name)
		err = nil
		require.NoError(t, s.Store.Members.Put(
			t.Context(), store.Member{Tenant: "one", User: ann.ID, Role: app.RoleNormal},
		))
	}
	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"title":"b"}`, 200)
	for line := ""; !strings.HasPrefix(line, `data: {"rev":2,`); {
		line, err = kept.ReadString('\n')
		require.NoError(t, err, "a valid one continues")
	}
}
