package faces_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// shown repeats the question and what was uploaded, and writes a file of it.
var shown = sketch.Canvas(
	`begin Begin {"inputs":{"doc":{"name":"Document","type":"file","optional":true}}} -> Message:A`,
	`Message:A Message {"content":["You said {sys.query} {sys.files} {begin@doc}"],"output_format":"markdown"}`)

// party is somebody who has talked to a canvas, with the ids of what came of it.
type party struct {
	name, token, canvas            string
	user, signature                string // of a signed visitor
	session, run, file, attachment string
}

// proof returns the part of a query by which the party shows who it is.
func (p *party) proof() string {
	if p.signature != "" {
		return "&user_id=" + url.QueryEscape(p.user) + "&user_signature=" + p.signature
	}
	return "&session_id=" + p.session
}

// signed returns the signature of a user id, as the site of an embed token makes it.
func signed(secret, canvas, user string, expires time.Time) string {
	until := strconv.FormatInt(expires.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(canvas + "\n" + until + "\n" + user))
	return until + "." + hex.EncodeToString(mac.Sum(nil))
}

func signingSecret(s *apitest.Site, key, canvas string) string {
	s.T.Helper()
	return s.As(key, "POST", "/api/v2/canvases/"+canvas+"/token/secret", "", 200).Get("secret").Str()
}

func embedToken(s *apitest.Site, tenant, canvas string) string {
	s.T.Helper()
	token, err := s.Store.Betas.For(s.T.Context(), tenant, canvas)
	require.NoError(s.T, err)
	return token.Text
}

// talk uploads a file and sends a question about it, over the routes of pages or, for a member, of
// agents.
func (p *party) talk(s *apitest.Site, path string) {
	s.T.Helper()
	body, kind := apitest.Form(p.name+".txt", "file of "+p.name)
	query := "?x=" + strings.TrimSuffix(p.proof(), "&session_id=")
	a := s.Good(s.Request("POST", "/v1/canvas/upload/"+p.canvas+query, p.token, body, "Content-Type", kind))
	p.file = a.Data().Get("id").Str()
	question := fmt.Sprintf(`{"query":"secret of %s","files":[{"id":%q,"name":"a.txt"}],"user_id":%q,
		"user_signature":%q,"stream":true}`, p.name, p.file, p.user, p.signature)
	a = s.Request("POST", path, p.token, question)
	require.Contains(s.T, a.Text, "file of "+p.name)
	events, _ := a.Events()
	for _, e := range events {
		p.session, p.run = e.Get("session_id").Str(), e.Get("task_id").Str()
		if made := e.Get("data").Get("attachment").Get("doc_id"); made.Truthy() {
			p.attachment = made.Str()
		}
	}
	for _, id := range []string{p.session, p.run, p.attachment} {
		require.Len(s.T, id, 32, a.Text)
	}
}

// visitors are parties of a site: two visitors of a page, two that its site has signed, its owner
// on each face, and visitors of another canvas and of another tenant.
type visitors struct {
	ann, bob, signedAnn, signedBob, owner, ownersBot, other, foreign *party
}

func (v *visitors) all() []*party {
	return []*party{v.ann, v.bob, v.signedAnn, v.signedBob, v.owner, v.ownersBot, v.other, v.foreign}
}

func newVisitors(s *apitest.Site) *visitors {
	s.T.Helper()
	canvas, second := s.Canvas("shown", shown), s.Canvas("second", shown)
	made := s.Good(s.Request("POST", "/v1/canvas/set", "two", `{"title":"theirs","dsl":`+shown+`}`))
	third := made.Data().Get("id").Str()
	token, hour := embedToken(s, "one", canvas), time.Now().Add(time.Hour)
	secret := signingSecret(s, "one", canvas)
	v := &visitors{
		ann:       &party{name: "ann", token: token, canvas: canvas, user: "same"},
		bob:       &party{name: "bob", token: token, canvas: canvas, user: "same"},
		signedAnn: &party{name: "signed-ann", token: token, canvas: canvas, user: "u ann"},
		signedBob: &party{name: "signed-bob", token: token, canvas: canvas, user: "u bob"},
		owner:     &party{name: "owner", token: "one", canvas: canvas, user: "same"},
		ownersBot: &party{name: "owners-bot", token: "one", canvas: canvas, user: "same"},
		other:     &party{name: "other", token: embedToken(s, "one", second), canvas: second, user: "same"},
		foreign:   &party{name: "foreign", token: embedToken(s, "two", third), canvas: third, user: "same"},
	}
	for _, p := range []*party{v.signedAnn, v.signedBob} {
		p.signature = signed(secret, canvas, p.user, hour)
	}
	for _, p := range v.all() {
		path := "/api/v1/agentbots/" + p.canvas + "/completions"
		if p == v.owner {
			path = "/api/v1/agents/" + p.canvas + "/completions"
		}
		p.talk(s, path)
	}
	return v
}

// naming are the requests to a route that name something of a party, each with its body.
func naming(r api.Route, of *party) map[string]string {
	out := map[string]string{}
	switch path := r.Path; {
	case strings.HasSuffix(path, "/completions"):
		path = strings.Replace(path, "{id}", "{canvas}", 1)
		out[path+"?n=session"] = `{"query":"next","stream":false,"session_id":"` + of.session + `"}`
		for _, id := range []string{of.file, of.attachment} {
			out[path+"?n=file"+id] = `{"query":"read","stream":false,"files":[{"id":"` + id + `","name":"x.txt"}]}`
			out[path+"?n=input"+id] = `{"query":"read","stream":false,
				"inputs":{"doc":{"type":"file","value":{"id":"` + id + `"}}}}`
		}
	case strings.Contains(path, "/attachments/{id}/"):
		for _, id := range []string{of.file, of.attachment} {
			out[strings.Replace(path, "{id}", id, 1)+"?n=1"] = ""
		}
	case strings.HasSuffix(path, "/download"):
		for _, id := range []string{of.file, of.attachment} {
			out[path+"?id="+id+"&created_by=one"] = ""
		}
	case strings.HasSuffix(path, "/trace"):
		for _, id := range []string{of.run, of.session} {
			out[path+"?canvas_id="+of.canvas+"&message_id="+id] = ""
		}
	case strings.Contains(path, "{message}"), strings.Contains(path, "{run}"):
		for _, id := range []string{of.run, of.session} {
			out[strings.NewReplacer("{id}", "{canvas}", "{message}", id, "{run}", id).Replace(path)+"?n=1"] = ""
		}
	case strings.Contains(path, "{sid}"):
		out[strings.NewReplacer("{id}", "{canvas}", "{sid}", of.session).Replace(path)+"?n=1"] = ""
	case strings.HasSuffix(path, "/sessions"):
		out[strings.Replace(path, "{id}", "{canvas}", 1)+"?exp_user_id="+url.QueryEscape(of.user)] = ""
	case strings.Contains(path, "/upload"):
		// What it names is a canvas only.
	case strings.Contains(path, "cancel"), strings.Contains(path, "/tasks/"):
		out[strings.Replace(path, "{task}", of.run, 1)+"?n=1"] = `{"action":"stop"}`
	case strings.HasSuffix(path, "/inputs"), strings.Contains(path, "/getsse/"):
		out[strings.Replace(path, "{id}", of.canvas, 1)+"?n=1"] = ""
	default:
		panic("a new route that such a token opens is thought about here: " + path)
	}
	return out
}

// No request of a visitor that names something of another party reads it, whatever the visitor
// states about itself.
func TestVisitorsReadNothingOfOthers(t *testing.T) {
	s := apitest.New(t)
	v := newVisitors(s)
	routes, tried := 0, 0
	apitest.EachRoute(s, func(r api.Route, method string) {
		if r.Need != api.NeedBeta {
			return
		}
		routes++
		for _, by := range []*party{v.bob, v.signedBob, v.other, v.foreign} {
			for _, of := range v.all() {
				if of == by {
					continue
				}
				claims := []string{"", by.proof(), "&user_id=" + url.QueryEscape(of.user), "&session_id=" + of.run}
				if of == v.owner || of == v.ownersBot || of.signature != "" || of.token != by.token {
					// The id of a session identifies visitors without a signature only.
					claims = append(claims, "&session_id="+of.session)
				}
				for path, body := range naming(r, of) {
					for _, claim := range claims {
						tried++
						path := strings.Replace(path, "{canvas}", by.canvas, 1) + claim
						if method == "GET" {
							body = ""
						}
						if strings.Contains(path, "n=session") && of.signature == "" && of.token == by.token {
							continue // as above
						}
						a, what := s.Request(method, path, by.token, body), of.name+" as "+by.name
						for _, secret := range []string{"secret of ", "file of "} {
							require.NotContains(t, a.Text, secret+of.name, "%s: %s %s", what, method, path)
						}
						if strings.HasSuffix(r.Path, "/completions") {
							require.NotEqual(t, 0, a.Code(), "%s: %s %s: %s", what, path, body, a.Text)
						}
					}
				}
			}
		}
	})
	require.Equal(t, 51, routes)
	require.Greater(t, tried, 3000)
}

// Each party reads what is its own, over each route.
func TestVisitorsReadTheirOwn(t *testing.T) {
	s := apitest.New(t)
	v := newVisitors(s)
	shows := regexp.MustCompile(`{sid}|n=file|n=input`)
	apitest.EachRoute(s, func(r api.Route, method string) {
		if r.Need != api.NeedBeta || strings.Contains(r.Path, "cancel") || strings.Contains(r.Path, "/tasks/") {
			return
		}
		for _, p := range []*party{v.ann, v.signedAnn, v.other, v.foreign, v.ownersBot} {
			for path, body := range naming(r, p) {
				if method == "GET" {
					body = ""
				}
				if p.signature == "" && strings.HasSuffix(r.Path, "/sessions") {
					continue // a list is for signed users
				}
				if strings.Contains(path, "events/"+p.session) {
					continue // names a run
				}
				if p.signature == "" { // whose files belong to the conversation
					body = strings.Replace(body, `"query":"read"`, `"query":"read","session_id":"`+p.session+`"`, 1)
				}
				a := s.Request(method, strings.Replace(path, "{canvas}", p.canvas, 1)+p.proof(), p.token, body)
				if a.Code() < 0 {
					require.Equal(t, 200, a.Status, a.Text)
					require.Contains(t, a.Text, "of "+p.name, "%s: %s %s", p.name, method, path)
					continue
				}
				require.Equal(t, 0, a.Code(), "%s: %s %s: %s", p.name, method, path, a.Text)
				if shows.MatchString(r.Path + path) {
					require.Contains(t, a.Text, "of "+p.name, "%s: %s %s", p.name, method, path)
				}
			}
		}
	})
}

// The token of a page opens no route but those, and what needs a key stays closed.
func TestEmbedTokensOpenNoOtherRoute(t *testing.T) {
	s := apitest.New(t)
	b := s.FurnishAll()
	token := embedToken(s, "one", b.Canvas)
	closed := 0
	apitest.EachRoute(s, func(r api.Route, method string) {
		if r.Need == api.NeedBeta || r.Need == api.NeedNone {
			return
		}
		closed++
		body := b.Body()
		if method == "GET" {
			body = ""
		}
		a := s.Request(method, b.Fill(r.Path)+b.Query(), token, body)
		require.NotEqual(t, 0, a.Code(), "%s %s", method, r.Path)
		require.GreaterOrEqual(t, a.Status, 200)
		require.NotContains(t, a.Text, "my secret", "%s %s", method, r.Path)
		require.NotContains(t, a.Text, b.Title, "%s %s", method, r.Path)
	})
	require.Greater(t, closed, 150)
}

// slowRun starts a run that waits, and returns it.
func slowRun(s *apitest.Site, open *sync.WaitGroup, path, token, body string) store.Run {
	s.T.Helper()
	active := store.RunFilter{Tenant: "one", Status: store.RunActive}
	before, _, err := s.Store.Runs.List(s.T.Context(), active, store.Page{})
	require.NoError(s.T, err)
	open.Go(func() { s.Request("POST", path, token, body) })
	for _, run := range s.Running(len(before) + 1) {
		if !slices.ContainsFunc(before, func(b store.Run) bool { return b.ID == run.ID }) {
			return run
		}
	}
	panic("no run began")
}

// A visitor stops no run of members, of signed users, or of another canvas.
func TestVisitorsStopTheirOwnRuns(t *testing.T) {
	s := apitest.New(t)
	canvas, second := s.Canvas("slow", apitest.Slow), s.Canvas("slow too", apitest.Slow)
	token := embedToken(s, "one", canvas)
	signature := signed(signingSecret(s, "one", canvas), canvas, "ann", time.Now().Add(time.Hour))
	bots := func(id string) string { return "/api/v1/agentbots/" + id + "/completions" }
	var open sync.WaitGroup
	start := func(path, token, body string) store.Run { return slowRun(s, &open, path, token, body) }
	own := start(bots(canvas), token, `{"query":"x"}`)
	signedRun := start(bots(canvas), token, `{"query":"x","user_id":"ann","user_signature":"`+signature+`"}`)
	kept := start(bots(canvas), token, `{"query":"x"}`)
	foreign := map[string]store.Run{
		"owner":                         start("/api/v1/agents/"+canvas+"/completions", "one", `{"query":"x"}`),
		"owner over the route of pages": start(bots(canvas), "one", `{"query":"x"}`),
		"signed user":                   signedRun,
		"other canvas":                  start(bots(second), embedToken(s, "one", second), `{"query":"x"}`),
	}
	ways := func(id string) [][2]string {
		return [][2]string{
			{"PUT", "/v1/canvas/cancel/" + id},
			{"POST", "/api/v1/tasks/" + id + "/cancel"},
			{"PATCH", "/api/v1/tasks/" + id},
		}
	}
	for _, run := range foreign {
		for _, id := range []string{run.ID, run.Session} {
			for _, way := range ways(id) {
				for _, claim := range []string{
					"", "?session_id=" + own.Session, "?session_id=" + run.Session, "?user_id=ann",
				} {
					s.Good(s.Request(way[0], way[1]+claim, token, `{"action":"stop"}`))
				}
			}
		}
	}
	s.Good(s.Request("PUT", "/v1/canvas/cancel/"+kept.ID+"?session_id="+own.Session, token, ""))

	s.Good(s.Request("PUT", "/v1/canvas/cancel/"+own.ID+"?session_id="+own.Session, token, ""))
	s.Good(s.Request("PUT", "/v1/canvas/cancel/"+signedRun.ID+"?user_id=ann&user_signature="+signature, token, ""))
	s.Running(len(foreign)) // all but the signed user's, and kept
	for range len(foreign) {
		s.Gate <- struct{}{}
	}
	open.Wait()
	for _, run := range []store.Run{own, signedRun} {
		require.Equal(t, store.RunCanceled, s.Get("/api/v2/runs/"+run.ID).Body.Get("status").Str())
	}
	foreign["a page that names another session"] = kept
	for name, run := range foreign {
		if run.ID != signedRun.ID {
			require.Equal(t, store.RunDone, s.Get("/api/v2/runs/"+run.ID).Body.Get("status").Str(), name)
		}
	}
}
