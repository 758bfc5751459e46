package faces_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// rolesSite has belongings of tenant one in a project, and a member in each role of it.
type rolesSite struct {
	*apitest.Site
	b     apitest.Belongings
	paths engine.Value           // of the OpenAPI document
	roles map[access.Role]string // keys by role; that of [access.None] is admin of another project
}

func newRolesSite(t *testing.T) *rolesSite {
	t.Helper()
	s := &rolesSite{Site: apitest.New(t), roles: map[access.Role]string{}}
	other := s.project("other")
	mine := s.project("mine")
	s.furnish(mine)
	for role := access.None; role <= access.Admin; role++ {
		name := "member-" + role.String()
		s.roles[role] = colleague(s.Site, name, app.RoleNormal)
		to, given := mine, role
		if role == access.None {
			to, given = other, access.Admin
		}
		s.give("user:"+name, "project:"+to, given)
	}
	return s
}

func (s *rolesSite) project(name string) string {
	s.T.Helper()
	return s.As("one", "POST", "/api/v2/projects", `{"name":"`+name+`"}`, 201).Get("id").Str()
}

func (s *rolesSite) give(subject, object string, role access.Role) {
	s.T.Helper()
	grant := `{"subject":"` + subject + `","object":"` + object + `","role":"` + role.String() + `"}`
	s.As("one", "PUT", "/api/v2/grants", grant, 200)
}

// furnish makes belongings and shares them in a project.
func (s *rolesSite) furnish(project string) {
	s.T.Helper()
	b := s.b
	if b.Canvas == "" {
		b = s.FurnishAll()
	} else {
		made := s.Furnish()
		s.FurnishDataset(&made)
		made.Schedule, made.Secret, made.User = b.Schedule, b.Secret, b.User
		b = made
	}
	b.Project = project
	place := `{"project":"` + project + `","permission":"team"}`
	s.As("one", "PUT", "/api/v2/canvases/"+b.Canvas, place, 200)
	s.As("one", "PUT", "/api/v2/memories/"+b.Memory, place, 200)
	s.As("one", "PATCH", "/api/v2/datasets/"+b.Dataset, `{"project":"`+project+`","team":true}`, 200)
	s.b = b
}

// ask calls a route with the ids of belongings.
func (s *rolesSite) ask(r api.Route, method, key string, b apitest.Belongings) apitest.Answer {
	body, query := b.Body(), b.Query()
	if strings.HasPrefix(r.Path, "/api/v2/") { // which refuses members that are not known
		body, query = s.ownBody(r, method, b), ""
		if r.Path == "/api/v2/grants" || r.Path == "/api/v2/access" {
			query = "?subject=user:one&object=canvas:" + b.Canvas
		}
	}
	if method == http.MethodGet {
		body = ""
	}
	return s.Request(method, b.Fill(r.Path)+query, key, body)
}

// ownBody returns a body of the members that our own API describes for a route.
func (s *rolesSite) ownBody(r api.Route, method string, b apitest.Belongings) string {
	if s.paths.IsNull() {
		s.paths = s.Request("GET", "/api/v2/openapi.json", "", "").Body.Get("paths")
	}
	schema := s.paths.Get(r.Path).Get(strings.ToLower(method)).Get("requestBody").Get("content").
		Get("application/json").Get("schema")
	known := map[string]string{
		"canvas": b.Canvas, "session": b.Session, "title": "stolen", "name": "stolen", "query": "x", "content": "x",
		"question": "x", "description": "stolen", "permission": "team", "role": "admin", "subject": "user:one",
		"object": "canvas:" + b.Canvas, "every": "24h", "node": "Message:A", "input": "x", "response": "x",
		"first": "x", "second": "y", "with": strings.Repeat("f", len(b.Chunk)), "version": b.Version,
	}
	out := engine.Object()
	for name, of := range schema.Get("properties").Fields() {
		kind := of.Get("type").Str()
		if kind == "" { // a list of types, with null for a member that may be left out
			for _, k := range of.Get("type").Elements() {
				if k.Str() != "null" {
					kind = k.Str()
				}
			}
		}
		switch v, ok := known[name]; {
		case name == "project" || name == "pipeline" || name == "user" || name == "cron" || name == "method":
		case name == "dsl":
			dsl, err := engine.ParseJSON([]byte(apitest.Echo))
			require.NoError(s.T, err)
			out = out.With(name, dsl)
		case name == "documents" || name == "datasets":
			id := map[string]string{"documents": b.Document, "datasets": b.Dataset}[name]
			out = out.With(name, engine.List(engine.String(id)))
		case name == "enabled":
			out = out.With(name, engine.Bool(false))
		case name == "approvals":
			out = out.With(name, engine.List(engine.Object("id", "x", "decision", "yes")))
		case ok && kind == "string":
			out = out.With(name, engine.String(v))
		}
	}
	return string(out.AppendJSON(nil))
}

// about reports whether a route is about one object of the belongings, which its path names.
func about(r api.Route) bool {
	for _, name := range []string{"{id}", "{dataset}", "{memory}", "{project}", "{schedule}", "{sid}", "{session}"} {
		if strings.Contains(r.Path, name) {
			return r.On != "tenant" && r.On != ""
		}
	}
	return false
}

// Each route of each dialect declares what it does with what.
func TestRoutesDeclareTheirActions(t *testing.T) {
	s := apitest.New(t)
	apitest.EachRoute(s, func(r api.Route, method string) {
		if slices.Contains([]string{"/healthz", "/readyz", "/metrics"}, r.Path) {
			return // of the host, without a face
		}
		require.NotEmpty(t, r.On, "%s %s is not declared, see acts.go", method, r.Path)
	})
}

// TestRolesMatrix calls each route with a key of each role: of the project of the object, and of
// another one. For the other project all is as if it did not exist. Who sees an object without the
// role for an action is refused with the role that it needs, and nothing is read or changed.
func TestRolesMatrix(t *testing.T) {
	s := newRolesSite(t)
	require.Eventually(t, func() bool { return !strings.Contains(s.Get("/api/v2/runs").Text, `"pending"`) },
		time.Minute, 10*time.Millisecond, "ended runs are stored")
	before := belongingsOf(t, s.Site, s.b)
	refused, hidden := 0, 0
	nothing := apitest.Unknown
	nothing.Canvas, nothing.Session = unknownLike(s.b.Canvas), unknownLike(s.b.Session)
	mine, unknown := onlyPrivate(s.b), onlyPrivate(nothing)
	apitest.EachRoute(s.Site, func(r api.Route, method string) {
		if r.Need == api.NeedNone || r.On == "tenant" || strings.Contains(r.Path, "logout") {
			return
		}
		// across the line
		theirs, none := s.ask(r, method, s.roles[access.None], mine), s.ask(r, method, s.roles[access.None], unknown)
		require.Equal(t, none.Status, theirs.Status, "%s %s: %s / %s", method, r.Path, theirs.Text, none.Text)
		if !strings.Contains(theirs.Text+none.Text, "already exists") { // made by the call before
			require.Equal(t, none.Code(), theirs.Code(), "%s %s: %s / %s", method, r.Path, theirs.Text, none.Text)
		}
		for _, mark := range []string{"my secret", s.b.Title, "dataset of mine", "needs the role"} {
			require.NotContains(t, theirs.Text, mark, "%s %s", method, r.Path)
		}
		hidden++
		for role := access.ViewerRole; role < r.Act.Needs(); role++ {
			a := s.ask(r, method, s.roles[role], s.b)
			label := method + " " + r.Path + " as " + role.String() + ": " + a.Text
			if r.On == access.Canvas {
				require.NotContains(t, a.Text, "my secret", label)
			}
			if !about(r) {
				continue // lists, and routes whose body names the object: what they change is compared below
			}
			// A log that one may not read is as empty as that of an unknown message.
			emptyLog := strings.HasSuffix(r.Path, "/logs/{message}") && a.Data().Len() == 0
			require.True(t, a.Status >= 400 || a.Code() > 0 || emptyLog, label)
			// These need a form, or a log that there is not.
			bare := strings.HasSuffix(r.Path, "/content") || strings.HasSuffix(r.Path, "/parses/{parse}/rerun")
			if strings.HasPrefix(r.Path, "/api/v2/") && !bare {
				require.Equal(t, http.StatusForbidden, a.Status, label)
			}
			if strings.Contains(a.Text, "needs the role") {
				require.Contains(t, a.Text, "needs the role "+r.Act.Needs().String(), label)
				refused++
			}
		}
	})
	require.Equal(t, before, belongingsOf(t, s.Site, s.b), "everything is as it was")
	require.Greater(t, hidden, 400)
	require.Greater(t, refused, 300)
	t.Logf("%d routes hidden across the line, %d refusals by role", hidden, refused)
}

// Each route of our own API about an object takes the role that it declares: not less is needed.
func TestRolesMatrixAllows(t *testing.T) {
	s := newRolesSite(t)
	called := 0
	apitest.EachRoute(s.Site, func(r api.Route, method string) {
		if !about(r) || r.Need == api.NeedNone || strings.HasPrefix(r.Path, "/0.2") || r.Scope == app.ScopeAdmin ||
			r.Events {
			return
		}
		a := s.ask(r, method, s.roles[r.Act.Needs()], s.b)
		require.NotContains(t, a.Text, "needs the role", "%s %s as %s", method, r.Path, r.Act.Needs())
		called++
		for _, path := range []string{
			"/api/v2/canvases/{id}", "/api/v2/datasets/{dataset}", "/api/v2/memories/{memory}",
		} {
			if s.Get(s.b.Fill(path)).Status != 200 {
				s.furnish(s.b.Project)
				break
			}
		}
	})
	require.Greater(t, called, 80)
}

// A runner reads and continues its own conversations only, in lists and counts too; a reviewer all.
func TestRunnersReadTheirOwnConversations(t *testing.T) {
	s := newRolesSite(t)
	runner, reviewer, reader := s.roles[access.Runner], s.roles[access.Reviewer], s.roles[access.ViewerRole]
	canvas := "/api/v2/canvases/" + s.b.Canvas
	own := s.As(runner, "POST", canvas+"/sessions", `{}`, 201).Get("id").Str()
	run := s.As(runner, "POST", canvas+"/runs", `{"query":"hello","session":"`+own+`"}`, 202).Get("id").Str()
	s.Running(0)
	theirs := canvas + "/sessions/" + s.b.Session + "/messages"
	s.As(runner, "GET", canvas+"/sessions/"+own+"/messages", "", 200)
	s.As(runner, "GET", theirs, "", 404)
	s.As(reviewer, "GET", theirs, "", 200)
	s.As(reader, "GET", theirs, "", 403)
	s.As(runner, "GET", "/api/v2/runs/"+run, "", 200)
	s.As(runner, "GET", "/api/v2/runs/"+s.b.Run, "", 404)
	s.As(reviewer, "GET", "/api/v2/runs/"+s.b.Run, "", 200)
	for _, query := range []string{"", "?canvas=" + s.b.Canvas} {
		require.Equal(t, "1", s.As(runner, "GET", "/api/v2/runs"+query, "", 200).Get("total").Text(), query)
		require.Equal(t, "2", s.As(reviewer, "GET", "/api/v2/runs"+query, "", 200).Get("total").Text(), query)
	}
	require.Equal(t, "0", s.As(reader, "GET", "/api/v2/runs", "", 200).Get("total").Text())
	list := func(key string) string {
		return s.Request("GET", "/api/v1/agents/"+s.b.Canvas+"/sessions", key, "").Text
	}
	require.NotContains(t, list(runner), s.b.Session)
	require.Contains(t, list(runner), own)
	require.Contains(t, list(reviewer), s.b.Session)
	taken := s.Request("POST", canvas+"/runs", runner, `{"query":"x","session":"`+s.b.Session+`"}`)
	require.Equal(t, 404, taken.Status, taken.Text)
	said := s.Request("POST", "/api/v1/agents/"+s.b.Canvas+"/completions", runner,
		`{"question":"x","stream":false,"session_id":"`+s.b.Session+`"}`)
	require.NotEqual(t, 0, said.Code(), said.Text)
}

// The strongest of all roles counts, whether of the member, a key, the project or the object; a key
// of a project uses nothing else.
func TestGrantsAddUp(t *testing.T) {
	s := newRolesSite(t)
	canvas := "/api/v2/canvases/" + s.b.Canvas
	rename := func(key string, status int) { t.Helper(); s.As(key, "PUT", canvas, `{"description":"d"}`, status) }
	reader, outsider := s.roles[access.ViewerRole], s.roles[access.None]
	rename(reader, 403)
	s.give("user:"+reader, "canvas:"+s.b.Canvas, access.Editor)
	rename(reader, 200)
	s.As(reader, "DELETE", canvas, "", 403)
	rename(outsider, 404)
	keys, err := s.Store.Keys.List(t.Context(), "one")
	require.NoError(t, err)
	for _, k := range keys {
		if k.User == outsider {
			s.give("key:"+k.ID, "project:"+s.b.Project, access.ViewerRole)
		}
	}
	rename(outsider, 403)
	s.As("one", "DELETE", "/api/v2/grants?subject=user:"+reader+"&object=canvas:"+s.b.Canvas, "", 204)
	rename(reader, 403)
	// A key that is limited to a project, of an admin of the tenant.
	_, limited, err := s.Store.Keys.Create(
		t.Context(), store.Key{Tenant: "one", User: "one", Scopes: app.RAGFlowScopes, Project: &s.b.Project}, "",
	)
	require.NoError(t, err)
	rename(limited, 200)
	elsewhere := s.Canvas("Elsewhere", apitest.Echo)
	s.As(limited, "GET", "/api/v2/canvases/"+elsewhere, "", 404)
	require.Equal(t, "1", s.As(limited, "GET", "/api/v2/canvases", "", 200).Get("total").Text())
	require.Equal(t, "1", s.As(limited, "GET", "/api/v2/datasets", "", 200).Get("total").Text())
	s.As(limited, "POST", "/api/v2/canvases", `{"title":"x","dsl":`+apitest.Echo+`}`, 404)
	s.As(limited, "POST", "/api/v2/canvases", `{"title":"x","project":"`+s.b.Project+`","dsl":`+apitest.Echo+`}`, 201)
}

// In the default project a member may do what members could before there were roles.
func TestMembersEditTheDefaultProject(t *testing.T) {
	s := apitest.New(t)
	bob := colleague(s, "bob", app.RoleNormal)
	b := s.FurnishAll()
	s.As("one", "PUT", "/api/v2/canvases/"+b.Canvas, `{"permission":"team"}`, 200)
	s.As("one", "PATCH", "/api/v2/datasets/"+b.Dataset, `{"team":true}`, 200)
	s.As(bob, "PUT", "/api/v2/canvases/"+b.Canvas, `{"description":"d"}`, 200)
	s.As(bob, "POST", "/api/v2/canvases/"+b.Canvas+"/publish", `{}`, 200)
	s.As(bob, "GET", "/api/v2/runs/"+b.Run, "", 200)
	s.As(bob, "PUT", "/api/v2/secrets/"+b.Secret, `{"value":"v"}`, 204)
	s.As(bob, "DELETE", "/api/v2/secrets/"+b.Secret, "", 204)
	s.As(bob, "DELETE", "/api/v2/datasets/"+b.Dataset, "", 204)
	s.As(bob, "DELETE", "/api/v2/canvases/"+b.Canvas, "", 204)
}
