package faces_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/record/dataset"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

// colleague adds a member to tenant one, and returns its key.
func colleague(s *apitest.Site, name, role string) string {
	s.T.Helper()
	require.NoError(s.T, s.Store.Members.Put(s.T.Context(), store.Member{Tenant: "one", User: name, Role: role}))
	key := store.Key{Tenant: "one", User: name, Scopes: app.Scopes}
	_, _, err := s.Store.Keys.Create(s.T.Context(), key, name)
	require.NoError(s.T, err)
	return name
}

// onlyPrivate are belongings without what the whole tenant has: keys, people, secrets, models, MCP
// servers and uploaded files.
func onlyPrivate(b apitest.Belongings) apitest.Belongings {
	u := apitest.Unknown
	b.File, b.Server, b.Key, b.User, b.Secret, b.Provider = u.File, u.Server, u.Key, u.User, u.Secret, u.Provider
	b.Tenant, b.Project = "one", u.Project
	return b
}

// strangers are the keys and tokens of a colleague: in each role, with each scope alone, and of
// pages that embed the colleague's canvas or all of them.
func strangers() map[string]func(*apitest.Site) string {
	out := map[string]func(*apitest.Site) string{}
	for _, role := range []string{app.RoleNormal, app.RoleAdmin, app.RoleOwner} {
		out[role] = func(s *apitest.Site) string { return colleague(s, "bob", role) }
	}
	for _, scope := range []string{app.ScopeRead, app.ScopeRun, app.ScopeEdit, app.ScopeAdmin} {
		out["scope "+scope] = func(s *apitest.Site) string {
			_, text, err := s.Store.Keys.Create(
				s.T.Context(), store.Key{Tenant: "one", User: "bob", Scopes: []string{scope}}, "bobs-"+scope,
			)
			require.NoError(s.T, err)
			return text
		}
	}
	out["embedded page"] = func(s *apitest.Site) string {
		bob := colleague(s, "bob", app.RoleNormal)
		id := s.As(bob, "POST", "/api/v2/canvases", `{"title":"b","dsl":`+apitest.Echo+`}`, 201)
		token, err := s.Store.Betas.For(s.T.Context(), "one", id.Get("id").Str())
		require.NoError(s.T, err)
		return token.Text
	}
	out["embedded page of all"] = func(s *apitest.Site) string {
		bob := colleague(s, "bob", app.RoleOwner)
		return s.Request("POST", "/v1/system/new_token", bob, `{}`).Data().Get("beta").Str()
	}
	return out
}

// TestColleaguesPrivateObjectsAreLikeUnknownOnes calls every route as another member of the tenant,
// and as pages of that member, with the ids of private canvases, datasets, memories and of all that
// belongs to them: the answers are those for ids that nothing has, and nothing is read or changed.
func TestColleaguesPrivateObjectsAreLikeUnknownOnes(t *testing.T) {
	for name, stranger := range strangers() {
		t.Run(name, func(t *testing.T) {
			s := apitest.New(t)
			b := s.FurnishAll()
			before := belongingsOf(t, s, b)
			bob := stranger(s)
			mine, unknownIDs := onlyPrivate(b), onlyPrivate(apitest.Unknown)
			unknownIDs.Canvas, unknownIDs.Session = unknownLike(b.Canvas), unknownLike(b.Session)
			marks := []string{"my secret", b.Title, "dataset of mine"}
			clean := func(a apitest.Answer) string {
				text := sentName.ReplaceAllString(a.Text, "new")
				text = strings.ReplaceAll(text, b.Chunk, apitest.Unknown.Chunk)
				text = strings.ReplaceAll(text, b.Dataset, apitest.Unknown.Dataset)
				for _, id := range []string{
					unknownIDs.Canvas, unknownIDs.Session, b.Document, b.Canvas, b.Session, b.Run, b.Message, b.Version,
					b.Schedule, b.Memory,
				} {
					text = strings.ReplaceAll(text, id, apitest.Nowhere)
				}
				return text
			}
			compared := 0
			apitest.EachRoute(s, func(r api.Route, method string) {
				if r.Need == api.NeedNone || strings.Contains(r.Path, "logout") || tenantWide(r) {
					return
				}
				ask := func(b apitest.Belongings) apitest.Answer {
					body := b.Body()
					if method == "GET" {
						body = ""
					}
					return s.Request(method, b.Fill(r.Path)+b.Query(), bob, body)
				}
				theirs, unknown := ask(mine), ask(unknownIDs)
				for _, mark := range marks {
					require.NotContains(t, theirs.Text, mark, "%s %s", method, r.Path)
				}
				require.Equal(
					t, unknown.Status, theirs.Status, "%s %s: %s / %s", method, r.Path, theirs.Text, unknown.Text,
				)
				if theirs.Code() > 0 || theirs.Status >= 400 {
					compared++
					require.Equal(t, clean(unknown), clean(theirs), "%s %s", method, r.Path)
				}
			})
			require.Greater(t, compared, 40)
			require.Equal(t, before, belongingsOf(t, s, b), "everything is as it was")
		})
	}
}

// tenantWide reports whether a route shows or changes what belongs to the whole tenant.
func tenantWide(r api.Route) bool {
	for _, part := range []string{
		"/secrets", "/mcp", "/providers", "/users", "/system/token", "/v1/api/", "/keys", "/tenant", "/files", "/usage",
		"/plugins", "/models", "/llm",
	} {
		if strings.Contains(r.Path, part) && !strings.Contains(r.Path, "{id}/") {
			return true
		}
	}
	return false
}

// belongingsOf returns the private belongings that their owner sees.
func belongingsOf(t *testing.T, s *apitest.Site, b apitest.Belongings) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, path := range []string{
		"/api/v2/canvases/{id}", "/api/v2/canvases/{id}/versions", "/api/v1/agents/{id}/sessions/{sid}", "/api/v2/runs",
		"/api/v2/runs/{run}", "/api/v2/schedules/{schedule}", "/api/v2/datasets/{dataset}", "/api/v2/memories/{memory}",
		"/api/v1/messages?memory_id={memory}", "/api/v2/datasets/{dataset}/documents/{document}/chunks",
	} {
		a := s.Get(b.Fill(path))
		require.Equal(t, 200, a.Status, "%s: %s", path, a.Text)
		out[path] = a.Text
	}
	return out
}

// A private canvas is missing from each list and count of a colleague, its title is free, and it is
// there again when it is shared; the embed token of a member reaches what that member may use.
func TestPrivateCanvasesInLists(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("Plans", apitest.Echo)
	s.As("one", "POST", "/api/v2/canvases/"+id+"/runs", `{}`, 202)
	s.As("one", "PUT", "/api/v1/agents/"+id+"/tags", `{"tags":["top"]}`, 200)
	s.As("one", "POST", "/api/v2/schedules", `{"canvas":"`+id+`","every":"24h"}`, 201)
	s.Good(s.Post("/api/v1/agents/"+id+"/sessions", `{}`))
	bob := colleague(s, "bob", app.RoleOwner)
	text := func(path string) string { return s.Request("GET", path, bob, "").Text }
	token := func(key string) string {
		return s.Request("POST", "/v1/system/new_token", key, `{}`).Data().Get("beta").Str()
	}
	bots := func(beta string) int { return s.Request("GET", "/api/v1/agentbots/"+id+"/inputs", beta, "").Code() }
	shown := func(want string) {
		t.Helper()
		for path, member := range map[string]string{
			"/api/v2/canvases": "total", "/api/v2/runs": "total", "/v1/canvas/list": "data.total",
			"/0.27/api/v1/agents": "data.total", "/v1/canvas/list?type=filter": "data.total",
		} {
			a := s.Request("GET", path, bob, "")
			v := a.Body
			for part := range strings.SplitSeq(member, ".") {
				v = v.Get(part)
			}
			require.Equal(t, want, v.Text(), "%s: %s", path, a.Text)
		}
	}
	shown("0")
	for _, path := range []string{
		"/api/v2/canvases", "/api/v1/agents", "/v1/canvas/list", "/api/v2/runs", "/api/v2/schedules",
		"/api/v1/agents/tags", "/api/v2/usage?by=canvas", "/v1/canvas/list?type=filter",
	} {
		require.NotContains(t, text(path), id, path)
		require.NotContains(t, text(path), "Plans", path)
		require.NotContains(t, text(path), "top", path)
	}
	require.NotContains(t, s.Request("GET", "/v1/api/stats", bob, "").Text, `,1]`)
	require.Equal(t, 0, bots(token("one")))
	require.NotEqual(t, 0, bots(token(bob)))
	copied := s.Request("POST", "/v1/canvas/set", bob, `{"title":"Plans","dsl":`+apitest.Echo+`}`)
	require.Equal(t, 0, copied.Code(), copied.Text)
	own := copied.Data().Get("id").Str()
	s.As(bob, "POST", "/api/v2/schedules", `{"name":"Plans","canvas":"`+own+`","every":"24h"}`, 201)
	s.As(bob, "DELETE", "/api/v2/canvases/"+own, "", 204)

	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"permission":"team"}`, 200)
	shown("1")
	require.Contains(t, text("/api/v2/schedules"), id)
	require.Equal(t, 0, bots(token(bob)))

	// Runs and sessions of a deleted canvas remain those of who could use it.
	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"permission":"me"}`, 200)
	run := s.Get("/api/v2/runs").Body.Get("items").At(0).Get("id").Str()
	s.As("one", "DELETE", "/api/v2/canvases/"+id, "", 204)
	require.Equal(t, "1", s.Get("/api/v2/runs").Body.Get("total").Text())
	require.Equal(t, 200, s.Get("/api/v2/runs/"+run).Status)
	shown("0")
	require.Equal(t, 404, s.Request("GET", "/api/v2/runs/"+run, bob, "").Status)
}

// Who follows a canvas stops when it is no longer shared.
func TestFollowedCanvasBecomesPrivate(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("Plans", apitest.Echo)
	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"permission":"team"}`, 200)
	bob := colleague(s, "bob", app.RoleNormal)
	done := make(chan apitest.Answer, 1)
	go func() { done <- s.Request("GET", "/api/v2/canvases/"+id+"/events?page=p", bob, "") }()
	follows := func() bool { return len(s.Services.Presence.Others(id, "")) == 1 }
	require.Eventually(t, follows, runstest.Patience, 5*time.Millisecond)
	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"permission":"me"}`, 200)
	require.Equal(t, 200, (<-done).Status, "the stream ends")
}

// A member uses private canvases as far as the scopes of the key allow.
func TestScopesOnOwnCanvases(t *testing.T) {
	s := apitest.New(t)
	id := s.Canvas("Plans", apitest.Echo)
	colleague(s, "bob", app.RoleNormal)
	embeds := app.ScopeAdmin + "," + app.ScopeRead + "," + app.ScopeRun // the token reads and runs
	for _, c := range []struct{ scopes, method, path, body string }{
		{app.ScopeRead, "GET", "/api/v2/canvases/" + id, ""},
		{app.ScopeRead, "GET", "/api/v2/canvases/" + id + "/versions", ""},
		{app.ScopeRun, "POST", "/api/v2/canvases/" + id + "/runs", `{}`},
		{app.ScopeRun, "POST", "/api/v2/canvases/" + id + "/sessions", `{}`},
		{app.ScopeEdit, "PUT", "/api/v2/canvases/" + id, `{"description":"d"}`},
		{app.ScopeEdit, "POST", "/api/v2/canvases/" + id + "/publish", `{}`},
		{embeds, "POST", "/api/v2/canvases/" + id + "/token", `{}`},
	} {
		for user, want := range map[string]int{"one": 2, "bob": 4} {
			limited := store.Key{Tenant: "one", User: user, Scopes: strings.Split(c.scopes, ",")}
			_, key, err := s.Store.Keys.Create(t.Context(), limited, "")
			require.NoError(t, err)
			a := s.Request(c.method, c.path, key, c.body)
			require.Equal(t, want, a.Status/100, "%s %s of %s: %s", c.method, c.path, user, a.Text)
			require.Equal(t, want == 4, a.Status == 404, "%s %s: %s", c.method, c.path, a.Text)
		}
	}
}

// Who follows a run stops when its canvas is no longer shared, as who follows the canvas does.
func TestFollowedRunBecomesPrivate(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Recheck = time.Millisecond })
	id := s.Canvas("Plans", apitest.Slow)
	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"permission":"team"}`, 200)
	bob := colleague(s, "bob", app.RoleNormal)
	run := s.As("one", "POST", "/api/v2/canvases/"+id+"/runs", `{}`, 202).Get("id").Str()
	ended := followed(s, "/api/v2/runs/"+run+"/events", bob)
	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"permission":"me"}`, 200)
	ended()
	require.Equal(t, app.RunActive, s.Get("/api/v2/runs/"+run).Body.Get("status").Str())
	s.Gate <- struct{}{}
	s.Running(0)
}

// The visitor of an embedding page stops with its token.
func TestFollowedRunOfAVisitorEnds(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) { c.Recheck = time.Millisecond })
	id := s.Canvas("Plans", apitest.Slow)
	token := embedToken(s, "one", id)
	ctx, leave := context.WithCancel(t.Context())
	body := strings.NewReader(`{"query":"x","stream":true}`)
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/api/v1/agentbots/"+id+"/completions", body)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	session := res.Header.Get(api.SessionHeader)
	s.Running(1)
	run := s.Get("/api/v2/runs").Body.Get("items").At(0).Get("id").Str()
	ended := followed(s, "/api/v1/agentbots/"+id+"/events/"+run+"?session_id="+session, token)
	s.As("one", "DELETE", "/api/v2/canvases/"+id+"/token", "", 204)
	ended()
	leave()
	require.NoError(t, res.Body.Close())
	s.Gate <- struct{}{}
	s.Running(0)
}

// followed opens a stream of events; the function it returns waits until the host ends it.
func followed(s *apitest.Site, path, key string) (ended func()) {
	s.T.Helper()
	req, err := http.NewRequestWithContext(s.T.Context(), "GET", s.URL+path, nil)
	require.NoError(s.T, err)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.T, err)
	s.T.Cleanup(func() { res.Body.Close() })
	require.Equal(s.T, 200, res.StatusCode)
	return func() {
		over := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, res.Body)
			close(over)
		}()
		select {
		case <-over:
		case <-time.After(runstest.Patience):
			s.T.Error("the stream continues")
		}
	}
}

// The logs of a shared dataset do not show the private canvas that is its pipeline.
func TestLogsHidePrivatePipelines(t *testing.T) {
	s := apitest.New(t)
	s.StopParsing()
	ctx := t.Context()
	id := s.Canvas("Secret plans", apitest.Echo)
	bob := colleague(s, "bob", app.RoleNormal)
	who := app.For(access.Viewer{Tenant: "one", User: "one"})
	ds, err := s.Services.Datasets.Create(ctx, who, dataset.Dataset{Name: "d", Team: true, Pipeline: id})
	require.NoError(t, err)
	d, err := s.Services.Datasets.Upload(ctx, who, ds.ID, app.Upload{Name: "a.txt", Body: strings.NewReader("x")})
	require.NoError(t, err)
	require.NoError(t, s.Store.Ingestion.Queue(ctx, "one", ds.ID, d.ID))
	v, err := s.Store.Ingestion.Claim(ctx, store.Claim{
		Lease: "l", Until: time.Now().Add(time.Hour).UnixMilli(), File: func(*store.Document) string { return "f" },
	})
	require.NoError(t, err)
	v.State = dataset.Done
	_, err = s.Store.Ingestion.Finish(ctx, store.Finished{
		Document: v, Ran: dataset.Ran{Title: "Secret plans", Canvas: []byte(apitest.Echo)},
	})
	require.NoError(t, err)
	logs, _, err := s.Store.ParseLogs.List(ctx, store.ParseLogFilter{Tenant: "one", Dataset: ds.ID}, store.Page{})
	require.NoError(t, err)
	require.Len(t, logs, 1)
	log := logs[0].ID
	read := func(key string) (all string) {
		for _, path := range []string{
			"/v1/kb/list_pipeline_logs?kb_id=" + ds.ID, "/v1/kb/pipeline_log_detail?log_id=" + log,
			"/api/v1/datasets/" + ds.ID + "/ingestions", "/0.27/api/v1/datasets/" + ds.ID + "/ingestions/" + log,
			"/api/v2/datasets/" + ds.ID + "/parses", "/api/v2/datasets/" + ds.ID + "/parses/" + log,
		} {
			method, body := "GET", ""
			if strings.Contains(path, "list_pipeline") {
				method, body = "POST", "{}"
			}
			all += s.Request(method, path, key, body).Text
		}
		return all
	}
	require.Contains(t, read("one"), "You said")
	require.Contains(t, read("one"), "Secret plans")
	require.NotContains(t, read(bob), "You said")
	require.NotContains(t, read(bob), "Secret plans")
	s.As("one", "PUT", "/api/v2/canvases/"+id, `{"permission":"team"}`, 200)
	require.Contains(t, read(bob), "You said")
}
