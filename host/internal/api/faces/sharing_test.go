package faces_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// holders writes the answer of listAccess, one way to a role a line.
func (s *rolesSite) holders(key, object string) (lines []string) {
	for _, v := range s.As(key, "GET", "/api/v2/access?object="+object, "", 200).Get("items").Elements() {
		var words []string
		for _, name := range []string{"subject", "name", "role", "through"} {
			words = append(words, v.Get(name).Text())
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// Who has a role is listed with the way to it, for each kind of object, and agrees with the rule.
func TestWhoHasWhichRoleThroughWhat(t *testing.T) {
	s := newRolesSite(t)
	reader := s.roles[access.ViewerRole]
	canvas := "canvas:" + s.b.Canvas
	s.give("user:"+reader, canvas, access.Editor)
	s.give("group:ops", canvas, access.Runner)
	s.give("key:"+s.b.Key, "project:"+s.b.Project, access.ViewerRole)
	lines := s.holders("one", canvas)
	require.Contains(t, lines, "group:ops ops runner grant")
	require.Contains(t, lines, "user:"+reader+" "+s.name(reader)+" editor grant")
	require.Contains(t, lines, "user:"+reader+" "+s.name(reader)+" viewer project")
	require.Contains(t, lines, "user:"+s.b.User+" "+s.name(s.b.User)+" admin tenant")
	for _, of := range []string{"dataset:" + s.b.Dataset, "memory:" + s.b.Memory, "project:" + s.b.Project} {
		through := map[bool]string{true: "grant", false: "project"}[strings.HasPrefix(of, "project:")]
		require.Contains(t, s.holders("one", of), "user:"+reader+" "+s.name(reader)+" viewer "+through, of)
	}
	for _, role := range []access.Role{access.Runner, access.Editor, access.Admin} {
		key := s.roles[role]
		said := s.As(key, "GET", "/api/v2/access?object=memory:"+s.b.Memory, "", 200)
		require.Equal(t, role.String(), said.Get("role").Text())
	}

	// A private canvas is its owner's, and of those to whom it was given.
	s.As("one", "PUT", "/api/v2/canvases/"+s.b.Canvas, `{"permission":"me"}`, 200)
	for _, line := range s.holders("one", canvas) {
		require.Regexp(t, "grant$|owner$", line)
	}
	s.As(s.roles[access.Admin], "GET", "/api/v2/access?object="+canvas, "", 404)

	// In the default project each member is an editor.
	s.As("one", "PUT", "/api/v2/canvases/"+s.b.Canvas, `{"permission":"team","project":""}`, 200)
	require.Contains(t, s.holders("one", canvas), "  editor member")
	s.As("one", "PUT", "/api/v2/grants", `{"subject":"user:`+reader+`","object":"memory:x","role":"editor"}`, 422)
}

func (s *rolesSite) name(user string) string {
	u, err := s.Store.Users.Get(s.T.Context(), user)
	if errors.Is(err, store.ErrNotFound) {
		return "" // some members of this test are no users
	}
	require.NoError(s.T, err)
	if u.Nickname == "" {
		return u.Email
	}
	return u.Nickname
}

// A project that is deleted moves what it holds, in one commit, to one where the caller may make
// objects; without a target it must be empty.
func TestDeletedProjectsMoveWhatTheyHold(t *testing.T) {
	s := newRolesSite(t)
	one := "/api/v2/projects/" + s.b.Project
	s.As("one", "PUT", "/api/v2/secrets/in.project", `{"value":"v","project":"`+s.b.Project+`"}`, 204)
	_, _, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", User: "one", Scopes: app.KeyScopes, Project: &s.b.Project}, "",
	)
	require.NoError(t, err)
	told := s.As("one", "GET", one, "", 200)
	for _, name := range []string{"canvases", "datasets", "memories", "secrets"} {
		require.Equal(t, "1", told.Get("holds").Get(name).Text(), name)
	}
	require.Equal(t, "1", told.Get("keys").Text())
	require.NotEqual(t, "0", told.Get("grants").Text())
	s.As("one", "DELETE", one, "", 409)
	s.As("one", "DELETE", one+"?move_to="+s.b.Project, "", 422)
	s.As("one", "DELETE", one+"?move_to=unknown", "", 404)
	s.As(s.roles[access.Editor], "DELETE", one+"?move_to=", "", 403)
	next := s.project("next")
	s.As(s.roles[access.Admin], "DELETE", one+"?move_to="+next, "", 404) // no role in the target
	require.Equal(t, "1", s.As("one", "GET", one, "", 200).Get("holds").Get("canvases").Text(), "nothing has moved")

	rev, _ := s.As("one", "GET", "/api/v2/canvases/"+s.b.Canvas, "", 200).Get("rev").Int()
	s.As("one", "DELETE", one+"?move_to="+next, "", 204)
	s.As("one", "GET", one, "", 404)
	for path, id := range map[string]string{
		"canvases": s.b.Canvas, "datasets": s.b.Dataset, "memories": s.b.Memory, "secrets": "in.project",
	} {
		if path != "secrets" {
			list := s.As("one", "GET", "/api/v2/"+path+"?project="+next, "", 200).Get("items")
			require.Equal(t, 1, list.Len(), path)
			require.Equal(t, id, list.At(0).Get("id").Text())
			rest := s.As("one", "GET", "/api/v2/"+path+"?project=", "", 200).Get("items").Text()
			require.NotContains(t, rest, id, path)
		}
	}
	require.Equal(t, "1", s.As("one", "GET", "/api/v2/projects/"+next, "", 200).Get("holds").Get("secrets").Text())
	now, _ := s.As("one", "GET", "/api/v2/canvases/"+s.b.Canvas, "", 200).Get("rev").Int()
	require.Greater(t, now, rev, "an edit of the former revision must not move it back")
	s.As(s.roles[access.Editor], "GET", "/api/v2/canvases/"+s.b.Canvas, "", 404)
}

// Canvases are found by their tags; tags that no list could be filtered by are refused.
func TestTagsOfCanvases(t *testing.T) {
	s := apitest.New(t)
	canvas := "/api/v2/canvases/" + s.Canvas("A", apitest.Echo)
	other := "/api/v2/canvases/" + s.Canvas("B", apitest.Echo)
	s.As("one", "PUT", canvas, `{"tags":["sales"," sales ","demo",""]}`, 200)
	s.As("one", "PUT", other, `{"tags":["sales"]}`, 200)
	require.JSONEq(t, `[{"tag":"sales","count":2},{"tag":"demo","count":1}]`,
		s.As("one", "GET", "/api/v2/tags", "", 200).Get("items").Text())
	require.Equal(t, "2", s.As("one", "GET", "/api/v2/canvases?tag=sales", "", 200).Get("total").Text())
	require.Equal(t, "1", s.As("one", "GET", "/api/v2/canvases?tag=demo", "", 200).Get("total").Text())
	s.As("one", "PUT", canvas, `{"description":"d"}`, 200)
	require.JSONEq(t, `["sales","demo"]`, s.As("one", "GET", canvas, "", 200).Get("tags").Text(), "others stay")
	s.As("one", "PUT", canvas, `{"tags":[]}`, 200)
	require.Equal(t, "0", s.As("one", "GET", "/api/v2/canvases?tag=demo", "", 200).Get("total").Text())
	for _, tags := range []string{`["a,b"]`, `["` + strings.Repeat("x", 51) + `"]`, `["` + "a" + `\u0000"]`} {
		s.As("one", "PUT", canvas, `{"tags":`+tags+`}`, 422)
	}
	s.As("one", "GET", "/api/v2/canvases?tag=a,b", "", 400)
}
