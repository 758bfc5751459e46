package ragflow_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api/ragflow"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/datasets"
	v2 "github.com/easel-canvas/easel/host/internal/api/v2"
	"github.com/easel-canvas/easel/host/internal/api/webhook"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// The contract of the dialects: at least one row for each of their routes, each with a site's
// separate belongings. A route without a row fails TestContract, so a new route requires a row with
// its responses.

// contract is one request and what is expected.
type contract struct {
	name    string
	dialect string // "old", "new"; "" is both
	method  string
	path    string // {canvas}, {session}, {version}, {message}, {run}, {file}, {server}, {key} are put in, here and in body
	body    string
	as      string // "" is the tenant's key; "anonymous", "beta", "login"
	want    expectation
}

type expectation func(t testing.TB, a apitest.Answer)

// envelope requires the members of an answer and nothing else, in the form of
// the original: sorted, without blanks, in ASCII.
func envelope(t testing.TB, a apitest.Answer, names string) {
	t.Helper()
	require.Equal(t, 200, a.Status, a.Text)
	require.Equal(t, "application/json", a.Header.Get("Content-Type"))
	var got []string
	for name := range a.Body.Fields() {
		got = append(got, name)
	}
	require.Equal(t, strings.Fields(names), got, a.Text)
	require.NotRegexp(t, regexp.MustCompile(`[^\x00-\x7f]`), a.Text)
}

// jsonResult is {code: 0, data, message: "success"} with an object that has
// the given members.
func jsonResult(names string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		envelope(t, a, "code data message")
		require.Equal(t, 0, a.Code(), a.Text)
		require.Equal(t, "success", a.Message())
		apitest.RequireKeys(t, a.Data(), names)
	}
}

// jsonValue is the same with one value, given as JSON.
func jsonValue(want string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		jsonResult("")(t, a)
		require.Equal(t, want, a.Data().JSON())
	}
}

// jsonList is the same with a list of objects that have the given members.
func jsonList(names string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		jsonResult("")(t, a)
		require.Equal(t, engine.KindList, a.Data().Kind(), a.Text)
		require.NotZero(t, a.Data().Len(), a.Text)
		apitest.RequireKeys(t, a.Data().At(0), names)
	}
}

// result is {code: 0, data}: the envelope without a message.
func result(names string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		envelope(t, a, "code data")
		require.Equal(t, 0, a.Code())
		if a.Data().Kind() == engine.KindList {
			require.NotZero(t, a.Data().Len(), a.Text)
			apitest.RequireKeys(t, a.Data().At(0), names)
			return
		}
		apitest.RequireKeys(t, a.Data(), names)
	}
}

// bare is {code: 0} alone.
func bare(t testing.TB, a apitest.Answer) {
	envelope(t, a, "code")
	require.Equal(t, 0, a.Code())
}

// dataError is {code, message}, and data: null for an exception.
func dataError(code int, message string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		if code == 100 {
			envelope(t, a, "code data message")
			require.True(t, a.Data().IsNull())
		} else {
			envelope(t, a, "code message")
		}
		require.Equal(t, code, a.Code())
		require.Contains(t, a.Message(), message)
	}
}

// lacks is the answer to a request without the named members.
func lacks(names string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		require.Equal(t, 200, a.Status)
		require.Equal(t, `{"code":101,"data":null,"message":"required argument are missing: `+names+`; "}`, a.Text)
	}
}

// openError is an error of an agent in OpenAI's form, with the dialect's members added.
func openError(status, code int, message string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		require.Equal(t, status, a.Status, a.Text)
		require.Equal(t, code, a.Code(), a.Text)
		require.Contains(t, a.Message(), message)
		apitest.RequireKeys(t, a.Body.Get("error"), "message type param code")
		require.Equal(t, a.Message(), a.Body.Get("error").Get("message").Str())
	}
}

// jsonError is {code, data: false, message}.
func jsonError(code int, message string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		envelope(t, a, "code data message")
		require.Equal(t, code, a.Code())
		require.Contains(t, a.Message(), message)
		require.Equal(t, "false", a.Data().JSON())
	}
}

// status401 is the response to a request without a key.
func status401(t testing.TB, a apitest.Answer) {
	require.Equal(t, 401, a.Status)
	require.Equal(t, `{"code":401,"data":null,"message":"<Unauthorized '401: Unauthorized'>"}`, a.Text)
}

// raw is an answer that is no JSON of ours.
func raw(text string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		require.Equal(t, 200, a.Status)
		require.Equal(t, text, a.Text)
	}
}

var (
	nativeFrame = regexp.MustCompile(`^data:\{"event": "[a-z_]+", "message_id": "[0-9a-f]{32}", "created_at": \d+, "task_id": "[0-9a-f]{32}", "data": .*\}$`)
	openFrame   = regexp.MustCompile(`^data: \{"id": ".+", "object": "chat\.completion\.chunk", "created": \d+, "model": ".+", "system_fingerprint": "", "choices": \[.*\]\}$`)
)

// stream is a stream of native frames. Every event has its envelope in order, one task for all, and
// a session if session is set.
func stream(kinds string, session, done bool) expectation {
	return func(t testing.TB, a apitest.Answer) {
		frames := framesOf(t, a, done, "data:[DONE]")
		tasks := map[string]bool{}
		for _, f := range frames {
			require.Regexp(t, nativeFrame, f)
			e, err := engine.ParseJSONText(strings.TrimPrefix(f, "data:"))
			require.NoError(t, err)
			tasks[e.Get("task_id").Str()] = true
			_, has := e.Lookup("session_id")
			require.Equal(t, session, has, f)
			if has {
				require.Regexp(t, `"session_id": "[0-9a-f]{32}"\}$`, f)
			}
		}
		require.Len(t, tasks, 1)
		require.Equal(t, strings.TrimSpace(kinds+map[bool]string{true: " [DONE]"}[done]), a.Kinds())
	}
}

// framesOf cuts a stream into frames: each a line and an empty one.
func framesOf(t testing.TB, a apitest.Answer, done bool, mark string) []string {
	t.Helper()
	require.Equal(t, 200, a.Status)
	require.Equal(t, []string{"text/event-stream; charset=utf-8"}, a.Header.Values("Content-Type"))
	require.Equal(t, "no-cache", a.Header.Get("Cache-Control"))
	require.Equal(t, "no", a.Header.Get("X-Accel-Buffering"))
	require.True(t, strings.HasSuffix(a.Text, "\n\n"), "%q", a.Text)
	frames := strings.Split(strings.TrimSuffix(a.Text, "\n\n"), "\n\n")
	for _, f := range frames {
		require.NotContains(t, f, "\n")
	}
	if done {
		require.Equal(t, mark, frames[len(frames)-1])
		frames = frames[:len(frames)-1]
	}
	return frames
}

// openStream is a stream in OpenAI's form.
func openStream(text string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		said, finish := "", ""
		for _, f := range framesOf(t, a, true, "data: [DONE]") {
			require.Regexp(t, openFrame, f)
			require.Empty(t, finish, "the chunk that ends the text is the last one")
			e, err := engine.ParseJSONText(strings.TrimPrefix(f, "data:"))
			require.NoError(t, err)
			choice := e.Get("choices").At(0)
			said += choice.Get("delta").Get("content").Str()
			finish = choice.Get("finish_reason").Text()
			require.Equal(t, "0", choice.Get("index").JSON())
		}
		require.Equal(t, "stop", finish)
		require.Equal(t, text, said)
	}
}

func openWhole(text string) expectation {
	return func(t testing.TB, a apitest.Answer) {
		apitest.RequireKeys(t, a.Body, "id object created model system_fingerprint param usage choices")
		require.Regexp(t, `^\d+$`, a.Body.Get("created").JSON())
		choice := a.Body.Get("choices").At(0)
		apitest.RequireKeys(t, choice, "message logprobs finish_reason index")
		require.Equal(t, text, choice.Get("message").Get("content").Str())
		apitest.RequireKeys(t, a.Body.Get("usage"), "prompt_tokens completion_tokens total_tokens completion_tokens_details")
	}
}

const (
	agentKeys   = "id title avatar user_id permission description canvas_type canvas_category dsl create_time create_date update_time update_date"
	canvasKeys  = agentKeys + " tenant_id nickname tenant_avatar type release tags last_publish_time"
	sessionKeys = "id agent_id dialog_id user_id name source message messages reference tokens duration round thumb_up errors create_time create_date update_time update_date"
	versionKeys = "id title user_canvas_id description create_time create_date update_time update_date"
	serverKeys  = "id name server_type url description variables create_date update_date"
	tokenKeys   = "tenant_id token beta create_time create_date update_time update_date"
	fileKeys    = "id name size extension mime_type created_by created_at preview_url"
	everyEvent  = "workflow_started node_started node_finished node_started message message message_end node_finished workflow_finished"
	statsKeys   = "pv uv speed tokens round thumb_up"
)

// put fills the names of belongings in.
func put(b apitest.Belongings, text string) string {
	return strings.NewReplacer("{canvas}", b.Canvas, "{session}", b.Session, "{version}", b.Version, "{message}", b.Message, "{run}", b.Run,
		"{file}", b.File, "{server}", b.Server, "{key}", b.Key, "{memory}", b.Memory, "{echo}", apitest.Echo, "{formed}", apitest.Formed, "{title}", b.Title, "{none}", apitest.Nowhere).Replace(text)
}

// others are the routes of the login page and of monitoring, which are tested there.
var others = []string{
	"/login", "/login/password", "/login/oidc/{provider}", "/login/oidc/{provider}/callback",
	"/login/oidc/{provider}/link", "/logout", "/healthz", "/readyz", "/metrics",
}

func TestContract(t *testing.T) {
	s := apitest.New(t, func(c *apitest.Config) {
		c.Templates = []app.Template{{ID: "t", Title: engine.Object("en", "T"), Description: engine.Object("en", "D"), Type: "Example", DSL: []byte(apitest.Echo)}}
	})
	_, err := s.Store.Users.CreateMember(
		t.Context(), store.Member{Tenant: "one", Role: app.RoleOwner},
		store.User{ID: "one", Email: "ann@x.org", Nickname: "Ann"}, "correct horse",
	)
	require.NoError(t, err)
	login := s.Good(s.Request("POST", "/v1/user/login", "", `{"email":"ann@x.org","password":"correct horse"}`)).Header.Get("Authorization")
	tried := map[string]bool{}
	for _, c := range slices.Concat(agentContract, sessionContract, completionContract, botContract, editorContract, fileContract, hookContract, serverContract, accountContract, edgeContract, releaseContract, memoryContract) {
		for _, dialect := range []string{"old", "new"} {
			if c.dialect != "" && c.dialect != dialect {
				continue
			}
			t.Run(dialect+" "+c.method+" "+c.path+" "+c.name, func(t *testing.T) {
				s.T = t
				b := s.Furnish()
				path := put(b, c.path)
				if dialect == "new" {
					path = ragflow.NewerPrefix + path
				}
				r := s.API.Route(httptest.NewRequest(c.method, path, nil))
				require.NotNil(t, r, "no such route")
				tried[c.method+" "+r.Path] = true
				key, header := "one", []string(nil)
				switch c.as {
				case "anonymous":
					key = ""
				case "login":
					key, header = "", []string{"Authorization", login}
				case "beta":
					token, err := s.Store.Betas.For(t.Context(), "one", b.Canvas)
					require.NoError(t, err)
					key = token.Text
				}
				body := put(b, c.body)
				if c.body == "FILE" || c.body == "FILES" {
					var kind string
					body, kind = apitest.Form("ä.txt", "hello")
					if c.body == "FILES" {
						body, kind = forms("a.txt", "b.txt")
					}
					header = append(header, "Content-Type", kind)
				}
				c.want(t, s.Request(c.method, path, key, body, header...))
			})
		}
	}
	s.T = t
	elsewhere := map[string]bool{} // tested in package datasets
	for prefix, d := range map[string]datasets.Dialect{"": datasets.Older(), ragflow.NewerPrefix: datasets.Newer()} {
		for _, r := range datasets.Routes(s.Services, d) {
			elsewhere[prefix+r.Path] = true
		}
	}
	for _, r := range s.API.Routes() {
		if strings.HasPrefix(r.Path, ragflow.MiddlePrefix) {
			continue // agents as at the root, datasets as under /0.27; see TestMiddleDialect
		}
		own := strings.HasPrefix(r.Path, v2.Prefix) || r.PageRun || slices.Contains(others, r.Path) || elsewhere[r.Path]
		for m := range strings.FieldsSeq(strings.ReplaceAll(r.Method, webhook.Methods, "POST")) {
			if !own && !tried[m+" "+r.Path] {
				t.Errorf("%s %s has no row: say in contract_*_test.go what it answers", m, r.Path)
			}
		}
	}
}

// rows repeats a row for paths that answer alike.
func rows(c contract, paths ...string) []contract {
	out := make([]contract, len(paths))
	for i, p := range paths {
		out[i] = c
		out[i].path = p
	}
	return out
}

// both returns a row per dialect.
func both(c contract, older, newer expectation) []contract {
	o, n := c, c
	o.dialect, o.want = "old", older
	n.dialect, n.want = "new", newer
	return []contract{o, n}
}

func TestEveryRouteHasTheUsualErrors(t *testing.T) {
	s := apitest.New(t)
	a := s.Get("/v1/nothing/here")
	require.Equal(t, 404, a.Status)
	require.Equal(t, `{"code":404,"data":null,"error":"Not Found","message":"Not Found: /v1/nothing/here"}`, a.Text)
	require.Equal(t, "Not Found: /api/v1/nothing", s.Get("/0.27/api/v1/nothing").Message(), "the prefix is part of the base URL")
	require.Equal(t, "Not Found: /0.27x", s.Get("/0.27x").Message())
	a = s.Request("DELETE", "/v1/canvas/list", "one", "")
	require.Equal(t, 200, a.Status)
	require.Equal(t, `{"code":100,"data":null,"message":"<MethodNotAllowed '405: Method Not Allowed'>"}`, a.Text)
	a = s.Request("DELETE", "/api/v2/models", "one", "")
	require.Equal(t, http.StatusMethodNotAllowed, a.Status)
	require.Equal(t, "bad_method", a.Body.Get("error").Get("code").Str())
	a = s.Get("/api/v2/nothing")
	require.Equal(t, 404, a.Status)
	require.Equal(t, "no_route", a.Body.Get("error").Get("code").Str())
	for _, body := range []string{`[]`, `"x"`, `7`, `{`} {
		require.Equal(t, 100, s.Post("/v1/canvas/set", body).Code(), body)
	}
	a = s.Request("POST", "/v1/canvas/set", "one", "title=x&dsl="+strings.ReplaceAll(apitest.Echo, "&", "%26"), "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, 0, a.Code(), "what is no JSON is read as a form: %s", a.Text)
}

// forms is a multipart body with several files.
func forms(names ...string) (body, contentType string) {
	const mark = "xxMARKxx"
	for _, n := range names {
		body += fmt.Sprintf("--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=%q\r\nContent-Type: text/plain\r\n\r\nhello\r\n", mark, n)
	}
	return body + "--" + mark + "--\r\n", "multipart/form-data; boundary=" + mark
}
