package faces_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// remembering is a canvas that stores what is said in a memory, and answers with what it finds
// there for user.
func remembering(memory, user string) string {
	return sketch.Canvas("begin Begin -> Retrieval:R",
		`Retrieval:R Retrieval {"memory_ids":["`+memory+`"],"retrieval_from":"memory","user_id":"`+user+
			`","query":"{sys.query}","similarity_threshold":0,"keywords_similarity_weight":1} -> Message:M`,
		`Message:M Message {"content":["Found: {Retrieval:R@formalized_content} for {sys.user_id}, `+
			`{sys.principal.kind} {sys.principal.end_user}"],"memory_ids":["`+memory+`"]}`)
}

func newMemory(s *apitest.Site) string {
	s.T.Helper()
	a := s.Post("/api/v1/memories", `{"name":"m","memory_type":["raw"],"embd_id":"","llm_id":"","permission":"team"}`)
	return s.Good(a).Data().Get("id").Str()
}

// said returns the text of an answer with the id of its session.
func said(s *apitest.Site, a apitest.Answer) (text, session string) {
	s.T.Helper()
	events, _ := a.Events()
	var b strings.Builder
	for _, e := range events {
		session = e.Get("session_id").Str()
		if e.Get("event").Str() == "message" {
			b.WriteString(e.Get("data").Get("content").Str())
		}
	}
	require.NotEmpty(s.T, session, a.Text)
	return b.String(), session
}

// A visitor who states the user id of another one reads none of its memories, whatever user the
// canvas searches for; the same visitor finds its own again.
func TestVisitorsDoNotReadMemoriesOfOthers(t *testing.T) {
	for _, user := range []string{"{sys.user_id}", "", "ann"} {
		t.Run("user_id "+user, func(t *testing.T) {
			s := apitest.New(t)
			canvas := s.Canvas("remembers", remembering(newMemory(s), user))
			token := embedToken(s, "one", canvas)
			bots := "/api/v1/agentbots/" + canvas + "/completions"
			ask := func(path, key, body string) (string, string) { return said(s, s.Request("POST", path, key, body)) }

			_, annsSession := ask(bots, token, `{"query":"zebra code 4711","user_id":"ann"}`)
			_, _ = ask("/api/v1/agents/"+canvas+"/completions", "one", `{"query":"zebra of the owner","user_id":"ann"}`)
			for _, claim := range []string{`"user_id":"ann"`, `"user_id":""`, `"user_id":"one"`, `"user_id":"bob"`} {
				text, _ := ask(bots, token, `{"query":"zebra?",`+claim+`}`)
				require.NotContains(t, text, "4711", claim)
				require.NotContains(t, text, "of the owner", claim)
			}
			text, _ := ask(bots, token, `{"query":"zebra?","session_id":"`+annsSession+`"}`)
			require.Contains(t, text, "4711", "the conversation finds its own")
			require.NotContains(t, text, "of the owner")
		})
	}
}

// What a visitor writes under the user id of another one is not found by the runs of that user: a
// client of the API vouches for the ids it sends, a visitor does not.
func TestVisitorsPutNothingIntoMemoriesOfUsers(t *testing.T) {
	s := apitest.New(t)
	memory := newMemory(s)
	canvas := s.Canvas("remembers", remembering(memory, "{sys.user_id}"))
	bots := "/api/v1/agentbots/" + canvas + "/completions"
	said(s, s.Request("POST", bots, embedToken(s, "one", canvas), `{"query":"zebra is planted","user_id":"ann"}`))
	agents := "/api/v1/agents/" + canvas + "/completions"
	text, _ := said(s, s.Request("POST", agents, "one", `{"query":"zebra?","user_id":"ann"}`))
	require.NotContains(t, text, "planted")
	search := "/api/v1/messages/search?query=zebra&similarity_threshold=0&user_id=ann&memory_id="
	require.NotContains(t, s.Good(s.Get(search+memory)).Text, "planted")
	listed := s.Good(s.Get("/api/v1/memories/" + memory)).Text
	require.Contains(t, listed, `"total_count":2`, "the owner sees it in the memory")
	require.Contains(t, listed, `"user_verified":false`)
}

// A user that the site has signed is known in each conversation, and is somebody else than one with
// the same id that is only claimed.
func TestSignedUsersHaveMemories(t *testing.T) {
	s := apitest.New(t)
	memory := newMemory(s)
	canvas, second := s.Canvas("remembers", remembering(memory, "")), s.Canvas("other", remembering(memory, ""))
	token, secret := embedToken(s, "one", canvas), signingSecret(s, "one", canvas)
	ask := func(canvas, token, body string) (string, string) {
		return said(s, s.Request("POST", "/api/v1/agentbots/"+canvas+"/completions", token, body))
	}
	proof := func(canvas, secret, user string) string {
		signature := signed(secret, canvas, user, time.Now().Add(time.Hour))
		return `"user_id":"` + user + `","user_signature":"` + signature + `"`
	}
	ann := proof(canvas, secret, "ann")
	first, session := ask(canvas, token, `{"query":"zebra code 4711",`+ann+`}`)
	require.Contains(t, first, "for ann, embed ann")
	again, _ := ask(canvas, token, `{"query":"zebra?",`+ann+`}`)
	require.Contains(t, again, "4711", "in another conversation")
	for name, body := range map[string]string{
		"claimed": `"user_id":"ann"`, "another signed user": proof(canvas, secret, "bob"),
	} {
		text, _ := ask(canvas, token, `{"query":"zebra?",`+body+`}`)
		require.NotContains(t, text, "4711", name)
	}
	namesake := proof(second, signingSecret(s, "one", second), "ann")
	text, _ := ask(second, embedToken(s, "one", second), `{"query":"zebra?",`+namesake+`}`)
	require.NotContains(t, text, "4711", "the site of another canvas has users of its own")

	// Another device of the same user.
	query := "?user_id=ann&user_signature=" + signed(secret, canvas, "ann", time.Now().Add(time.Hour))
	list := s.Good(s.Request("GET", "/api/v1/agentbots/"+canvas+"/sessions"+query, token, "")).Data()
	require.Equal(t, "2", list.Get("total").Text())
	require.Contains(t, list.JSON(), session)
	said := s.Good(s.Request("GET", "/api/v1/agentbots/"+canvas+"/sessions/"+session+query, token, "")).Data()
	require.Equal(t, "zebra code 4711", said.Get("messages").At(0).Get("content").Str())
	require.Equal(t, first, said.Get("messages").At(1).Get("content").Str())
	_, continued := ask(canvas, token, `{"query":"on","session_id":"`+session+`",`+ann+`}`)
	require.Equal(t, session, continued)

	// The owner sees whose they are.
	owners := s.Good(s.Get("/api/v1/agents/" + canvas + "/sessions?user_id=ann"))
	require.Contains(t, owners.Text, session)
	require.Contains(t, owners.Text, `"user_verified":true`)
	require.NotContains(t, owners.Text, `"user_verified":false`, "claims are not in the list of ann's")
	runs, _, err := s.Store.Runs.List(t.Context(), store.RunFilter{Tenant: "one", Session: session}, store.Page{})
	require.NoError(t, err)
	run := s.Get("/api/v2/runs/" + runs[0].ID).Body
	require.Equal(t, "true", run.Get("user_verified").Text())
	require.Equal(t, "ann", run.Get("principal").Get("end_user").Str())
}

// A signature that is not valid is an error, never a visitor without one.
func TestWrongSignaturesAreRefused(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("a", apitest.Echo)
	token, secret := embedToken(s, "one", canvas), signingSecret(s, "one", canvas)
	soon := time.Now().Add(time.Hour)
	good := signed(secret, canvas, "ann", soon)
	milliseconds := time.Unix(soon.UnixMilli(), 0)
	later, _, _ := strings.Cut(signed(secret, canvas, "ann", soon.Add(time.Hour)), ".")
	_, mac, _ := strings.Cut(good, ".")
	for name, tt := range map[string]struct{ user, signature, want string }{
		"another user":   {"bob", good, "does not match"},
		"no user":        {"", good, "user_id must have"},
		"long user":      {strings.Repeat("x", 257), good, "user_id must have"},
		"another secret": {"ann", signed("guess", canvas, "ann", soon), "does not match"},
		"no secret":      {"ann", signed("", canvas, "ann", soon), "does not match"},
		"token":          {"ann", signed(token, canvas, "ann", soon), "does not match"},
		"another canvas": {"ann", signed(secret, "c", "ann", soon), "does not match"},
		"expired":        {"ann", signed(secret, canvas, "ann", time.Now().Add(-time.Minute)), "expired at"},
		"milliseconds":   {"ann", signed(secret, canvas, "ann", milliseconds), "within 168 hours"},
		"later":          {"ann", later + "." + mac, "does not match"},
		"no time":        {"ann", mac, "EXPIRES.HMAC"},
		"text":           {"ann", "x", "EXPIRES.HMAC"},
		"upper case":     {"ann", strings.ToUpper(good), "does not match"},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"query":"x","stream":false,"user_id":"` + tt.user + `","user_signature":"` + tt.signature + `"}`
			for _, prefix := range []string{"", "/0.27"} {
				a := s.Request("POST", prefix+"/api/v1/agentbots/"+canvas+"/completions", token, body)
				require.NotEqual(t, 0, a.Code())
				require.Contains(t, a.Text, "user_signature")
				require.Contains(t, a.Text, tt.want)
			}
		})
	}
	ok := `{"query":"x","stream":false,"user_id":"ann","user_signature":"` + good + `"}`
	bots := "/api/v1/agentbots/" + canvas + "/completions"
	s.Good(s.Request("POST", bots, token, ok))
	require.NotEqual(t, 0, s.Request("POST", bots, "one", ok).Code(), "a key vouches for its users itself")

	replaced := s.As("one", "PUT", "/api/v2/canvases/"+canvas+"/token/secret", "", 200).Get("secret").Str()
	require.NotEqual(t, secret, replaced)
	require.Equal(t, replaced, signingSecret(s, "one", canvas), "it is shown again")
	require.NotEqual(t, 0, s.Request("POST", bots, token, ok).Code(), "the old secret has ended")
	for _, method := range []string{"POST", "PUT"} {
		a := s.Request(method, "/api/v2/canvases/"+canvas+"/token/secret", "two", "")
		require.Equal(t, 404, a.Status, "another tenant")
	}
	require.NotContains(t, s.Request("GET", "/v1/canvas/getsse/"+canvas, token, "").Text, replaced)
	// A token for all canvases names no canvas that a site could sign for.
	all, err := s.Store.Betas.ForAll(t.Context(), "one", "one")
	require.NoError(t, err)
	require.NotEqual(t, 0, s.Request("POST", bots, all.Text, ok).Code())
}

// Members and API clients do not continue the conversations of visitors, nor the other way round:
// what a visitor has said is part of the state that the next question begins with.
func TestConversationsStayOnTheirSide(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("a", apitest.Echo)
	token := embedToken(s, "one", canvas)
	bots, agents := "/api/v1/agentbots/"+canvas+"/completions", "/api/v1/agents/"+canvas+"/completions"
	_, visitors := said(s, s.Request("POST", bots, token, `{"query":"x","user_id":"ann"}`))
	_, owners := said(s, s.Request("POST", agents, "one", `{"query":"x","user_id":"ann"}`))
	made := s.Good(s.Post("/api/v1/agents/"+canvas+"/sessions", `{}`)).Data().Get("id").Str()
	body := func(session string) string {
		return `{"query":"more","question":"more","stream":false,"session":"` + session + `","session_id":"` + session +
			`","messages":[{"role":"user","content":"more"}],"model":"m"}`
	}
	for _, session := range []string{owners, made} {
		a := s.Request("POST", bots, token, body(session))
		require.NotEqual(t, 0, a.Code(), a.Text)
		require.NotContains(t, a.Text, "You said")
	}
	for _, path := range []string{
		bots, agents, "/0.27" + agents, "/api/v1/agents_openai/" + canvas + "/chat/completions",
		"/api/v2/canvases/" + canvas + "/runs",
	} {
		a := s.Request("POST", path, "one", body(visitors))
		require.False(t, a.Code() == 0 || a.Code() < 0 && a.Status < 300, "%s: %s", path, a.Text)
		require.NotContains(t, a.Text, "You said", path)
	}
	daily := `{"canvas":"` + canvas + `","every":"24h","query":"q","session":"` + visitors + `"}`
	a := s.Request("POST", "/api/v2/schedules", "one", daily)
	require.Equal(t, 404, a.Status, a.Text)
	for _, session := range []string{visitors, owners} {
		v, err := s.Store.Sessions.Get(t.Context(), "one", session)
		require.NoError(t, err)
		require.EqualValues(t, 1, v.Rounds)
	}
	list := s.Good(s.Get("/api/v1/agents/" + canvas + "/sessions?user_id=ann"))
	require.Contains(t, list.Text, owners)
	require.NotContains(t, list.Text, visitors, "claims are not in the list of ann's")
	require.Contains(t, s.Good(s.Get("/api/v1/agents/"+canvas+"/sessions")).Text, visitors, "the owner sees all")
}

// The owner resumes and repeats a run of a visitor: it uses files and memories of the visitor only.
func TestResumedRunsStayTheVisitors(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("a", apitest.Formed)
	bots := "/api/v1/agentbots/" + canvas + "/completions"
	_, session := said(s, s.Request("POST", bots, embedToken(s, "one", canvas), `{"query":"x"}`))
	paused, _, err := s.Store.Runs.List(t.Context(), store.RunFilter{Tenant: "one", Session: session}, store.Page{})
	require.NoError(t, err)
	resume := "/api/v2/runs/" + paused[0].ID + "/resume"
	a := s.Request("POST", resume, "one", `{"inputs":{"city":"Oslo"}}`, "Accept", "text/event-stream")
	require.Contains(t, a.Text, "City Oslo")
	resumed := a.Header.Get(api.RunHeader)
	again := s.As("one", "POST", "/api/v2/runs/"+resumed+"/rerun", `{"node":"Message:A"}`, 202).Get("id").Str()
	list, _, err := s.Store.Runs.List(t.Context(), store.RunFilter{Tenant: "one", Canvas: canvas}, store.Page{})
	require.NoError(t, err)
	require.Len(t, list, 3)
	for _, run := range list {
		require.Equal(t, store.VisitorOfSession(session), run.Visitor, run.ID == again)
	}
}

// A trace is read with the id of the session, not with that of the run alone.
func TestVisitorsTraceTheirOwnRuns(t *testing.T) {
	s := apitest.New(t)
	canvas := s.Canvas("a", apitest.Echo)
	token := embedToken(s, "one", canvas)
	for id, visitor := range map[string]store.Visitor{
		"mine": store.VisitorOfSession("s1"), "theirs": store.VisitorOfSession("s2"),
		"signed": store.VisitorOfUser(canvas, "ann"), "members": "",
	} {
		e, err := s.Log.Claim(t.Context(), runlog.Run{ID: id})
		require.NoError(t, err)
		require.NoError(t, s.Store.Runs.Start(t.Context(), store.Run{
			ID: id, Tenant: "one", Canvas: canvas, Session: "of " + id, Message: "m " + id, Source: "bot",
			Visitor: visitor,
		}))
		_, err = e.Append(t.Context(), runlog.Record{Kind: "tool_finished", Data: []byte(
			`{"event":"tool_finished","data":{"component_id":"Agent:A","tool":"T","tool_name":"used"}}`)})
		require.NoError(t, err)
		defer func() { require.NoError(t, e.End(t.Context())) }()
	}
	read := func(id, claim string) engine.Value {
		var out engine.Value
		for _, path := range []string{
			"/v1/canvas/trace?canvas_id=" + canvas + "&message_id=" + id,
			"/api/v1/agentbots/" + canvas + "/logs/" + id + "?x=1",
		} {
			out = s.Good(s.Request("GET", path+claim, token, "")).Data()
		}
		return out
	}
	require.Contains(t, read("mine", "&session_id=s1").JSON(), "used")
	require.Contains(t, read("m%20mine", "&session_id=s1").JSON(), "used")
	for _, id := range []string{"theirs", "m%20theirs", "of%20theirs", "signed", "members", "of%20members"} {
		for _, claim := range []string{"", "&session_id=s1", "&session_id=of%20members", "&user_id=ann"} {
			require.Equal(t, "{}", read(id, claim).JSON(), id+claim)
		}
	}
}
