package api

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
	"github.com/easel-canvas/easel/host/internal/store"
)

// The contract of the dialects: one row and more for every route of theirs,
// each with a site's belongings of its own. A route without a row fails
// TestContract, so whoever adds one says here what it answers.

// contract is one request and what is expected.
type contract struct {
	name    string
	dialect string // "old", "new"; "" is both
	method  string
	path    string // {canvas}, {session}, {version}, {message}, {run}, {file}, {server}, {key} are put in, here and in body
	body    string
	as      string // "" is the tenant's key; "nobody", "beta", "login"
	want    expectation
}

type expectation func(t testing.TB, a answer)

// keys requires members of an object.
func requireKeys(t testing.TB, v engine.Value, names string) {
	t.Helper()
	for name := range strings.FieldsSeq(names) {
		_, ok := v.Lookup(name)
		require.True(t, ok, "%s is missing in %s", name, v.JSON())
	}
}

// envelope requires the members of an answer and nothing else, in the form of
// the original: sorted, without blanks, in ASCII.
func envelope(t testing.TB, a answer, names string) {
	t.Helper()
	require.Equal(t, 200, a.status, a.text)
	require.Equal(t, "application/json", a.header.Get("Content-Type"))
	var got []string
	for name := range a.body.Fields() {
		got = append(got, name)
	}
	require.Equal(t, strings.Fields(names), got, a.text)
	require.NotRegexp(t, regexp.MustCompile(`[^\x00-\x7f]`), a.text)
}

// jsonResult is {code: 0, data, message: "success"} with an object that has
// the given members.
func jsonResult(names string) expectation {
	return func(t testing.TB, a answer) {
		envelope(t, a, "code data message")
		require.Equal(t, 0, a.code(), a.text)
		require.Equal(t, "success", a.message())
		requireKeys(t, a.data(), names)
	}
}

// jsonValue is the same with one value, given as JSON.
func jsonValue(want string) expectation {
	return func(t testing.TB, a answer) {
		jsonResult("")(t, a)
		require.Equal(t, want, a.data().JSON())
	}
}

// jsonList is the same with a list of objects that have the given members.
func jsonList(names string) expectation {
	return func(t testing.TB, a answer) {
		jsonResult("")(t, a)
		require.Equal(t, engine.KindList, a.data().Kind(), a.text)
		require.NotZero(t, a.data().Len(), a.text)
		requireKeys(t, a.data().At(0), names)
	}
}

// result is {code: 0, data}: the envelope without a message.
func result(names string) expectation {
	return func(t testing.TB, a answer) {
		envelope(t, a, "code data")
		require.Equal(t, 0, a.code())
		if a.data().Kind() == engine.KindList {
			require.NotZero(t, a.data().Len(), a.text)
			requireKeys(t, a.data().At(0), names)
			return
		}
		requireKeys(t, a.data(), names)
	}
}

// bare is {code: 0} alone.
func bare(t testing.TB, a answer) {
	envelope(t, a, "code")
	require.Equal(t, 0, a.code())
}

// dataError is {code, message}, and data: null for an exception.
func dataError(code int, message string) expectation {
	return func(t testing.TB, a answer) {
		if code == codeException {
			envelope(t, a, "code data message")
			require.True(t, a.data().IsNull())
		} else {
			envelope(t, a, "code message")
		}
		require.Equal(t, code, a.code())
		require.Contains(t, a.message(), message)
	}
}

// lacks is the answer to a request without the named members.
func lacks(names string) expectation {
	return func(t testing.TB, a answer) {
		require.Equal(t, 200, a.status)
		require.Equal(t, `{"code":101,"data":null,"message":"required argument are missing: `+names+`; "}`, a.text)
	}
}

// openError is an error of an agent in OpenAI's form, with the dialect's members beside it.
func openError(status, code int, message string) expectation {
	return func(t testing.TB, a answer) {
		require.Equal(t, status, a.status, a.text)
		require.Equal(t, code, a.code(), a.text)
		require.Contains(t, a.message(), message)
		requireKeys(t, a.body.Get("error"), "message type param code")
		require.Equal(t, a.message(), a.body.Get("error").Get("message").Str())
	}
}

// jsonError is {code, data: false, message}.
func jsonError(code int, message string) expectation {
	return func(t testing.TB, a answer) {
		envelope(t, a, "code data message")
		require.Equal(t, code, a.code())
		require.Contains(t, a.message(), message)
		require.Equal(t, "false", a.data().JSON())
	}
}

// status401 is the answer to nobody.
func status401(t testing.TB, a answer) {
	require.Equal(t, 401, a.status)
	require.Equal(t, `{"code":401,"data":null,"message":"<Unauthorized '401: Unauthorized'>"}`, a.text)
}

// raw is an answer that is no JSON of ours.
func raw(text string) expectation {
	return func(t testing.TB, a answer) {
		require.Equal(t, 200, a.status)
		require.Equal(t, text, a.text)
	}
}

var (
	nativeFrame = regexp.MustCompile(`^data:\{"event": "[a-z_]+", "message_id": "[0-9a-f]{32}", "created_at": \d+, "task_id": "[0-9a-f]{32}", "data": .*\}$`)
	openFrame   = regexp.MustCompile(`^data: \{"id": ".+", "object": "chat\.completion\.chunk", "created": \d+, "model": ".+", "system_fingerprint": "", "choices": \[.*\]\}$`)
)

// stream is a stream of native frames. Every event has its envelope in order,
// one task for all, and a session where session says so.
func stream(kinds string, session, done bool) expectation {
	return func(t testing.TB, a answer) {
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
		require.Equal(t, strings.TrimSpace(kinds+map[bool]string{true: " [DONE]"}[done]), a.kinds())
	}
}

// framesOf cuts a stream into frames: each a line and an empty one.
func framesOf(t testing.TB, a answer, done bool, mark string) []string {
	t.Helper()
	require.Equal(t, 200, a.status)
	require.Equal(t, []string{"text/event-stream; charset=utf-8"}, a.header.Values("Content-Type"))
	require.Equal(t, "no-cache", a.header.Get("Cache-Control"))
	require.Equal(t, "no", a.header.Get("X-Accel-Buffering"))
	require.True(t, strings.HasSuffix(a.text, "\n\n"), "%q", a.text)
	frames := strings.Split(strings.TrimSuffix(a.text, "\n\n"), "\n\n")
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
	return func(t testing.TB, a answer) {
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
	return func(t testing.TB, a answer) {
		requireKeys(t, a.body, "id object created model system_fingerprint param usage choices")
		require.Regexp(t, `^\d+$`, a.body.Get("created").JSON())
		choice := a.body.Get("choices").At(0)
		requireKeys(t, choice, "message logprobs finish_reason index")
		require.Equal(t, text, choice.Get("message").Get("content").Str())
		requireKeys(t, a.body.Get("usage"), "prompt_tokens completion_tokens total_tokens completion_tokens_details")
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
func (b belongings) put(text string) string {
	return strings.NewReplacer("{canvas}", b.canvas, "{session}", b.session, "{version}", b.version, "{message}", b.message, "{run}", b.run,
		"{file}", b.file, "{server}", b.server, "{key}", b.key, "{echo}", echo, "{formed}", formed, "{title}", b.title, "{none}", nowhere).Replace(text)
}

func TestContract(t *testing.T) {
	s := newSite(t, func(c *Config) {
		c.Templates = []Template{{ID: "t", Title: engine.Object("en", "T"), Description: engine.Object("en", "D"), Type: "Example", DSL: []byte(echo)}}
	})
	_, err := s.store.CreateMember(t.Context(), store.Member{Tenant: "one", Role: roleOwner}, store.User{Email: "ann@x.org", Nickname: "Ann"}, "correct horse")
	require.NoError(t, err)
	login := s.good(s.request("POST", "/v1/user/login", "", `{"email":"ann@x.org","password":"correct horse"}`)).header.Get("Authorization")
	tried := map[string]bool{}
	for _, c := range slices.Concat(agentContract, sessionContract, completionContract, botContract, editorContract, fileContract, hookContract, serverContract, accountContract, edgeContract, releaseContract) {
		for _, dialect := range []string{"old", "new"} {
			if c.dialect != "" && c.dialect != dialect {
				continue
			}
			t.Run(dialect+" "+c.method+" "+c.path+" "+c.name, func(t *testing.T) {
				s.t = t
				b := s.furnish()
				path := b.put(c.path)
				if dialect == "new" {
					path = newerPrefix + path
				}
				r, _, _ := s.api.routes.find(httptest.NewRequest(c.method, path, nil))
				require.NotNil(t, r, "no such route")
				tried[c.method+" "+r.path] = true
				key, header := "one", []string(nil)
				switch c.as {
				case "nobody":
					key = ""
				case "login":
					key, header = "", []string{"Authorization", login}
				case "beta":
					token, err := s.store.BetaFor(t.Context(), "one", b.canvas)
					require.NoError(t, err)
					key = token.Text
				}
				body := b.put(c.body)
				if c.body == "FILE" || c.body == "FILES" {
					var kind string
					body, kind = form("ä.txt", "hello")
					if c.body == "FILES" {
						body, kind = forms("a.txt", "b.txt")
					}
					header = append(header, "Content-Type", kind)
				}
				c.want(t, s.request(c.method, path, key, body, header...))
			})
		}
	}
	s.t = t
	for _, r := range allRoutes() {
		own := r.doc != nil || r.llm || slices.ContainsFunc(slices.Concat(pageRoutes, healthRoutes), func(o route) bool { return o.path == r.path })
		for m := range strings.FieldsSeq(strings.ReplaceAll(r.method, webhookMethods, "POST")) {
			if !own && !tried[m+" "+r.path] {
				t.Errorf("%s %s has no row: say in contract_*_test.go what it answers", m, r.path)
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

// both gives a row per dialect.
func both(c contract, older, newer expectation) []contract {
	o, n := c, c
	o.dialect, o.want = "old", older
	n.dialect, n.want = "new", newer
	return []contract{o, n}
}

func TestEveryRouteHasTheUsualErrors(t *testing.T) {
	s := newSite(t)
	a := s.get("/v1/nothing/here")
	require.Equal(t, 404, a.status)
	require.Equal(t, `{"code":404,"data":null,"error":"Not Found","message":"Not Found: /v1/nothing/here"}`, a.text)
	require.Equal(t, "Not Found: /api/v1/nothing", s.get("/0.27/api/v1/nothing").message(), "the prefix is part of the base URL")
	require.Equal(t, "Not Found: /0.27x", s.get("/0.27x").message())
	a = s.request("DELETE", "/v1/canvas/list", "one", "")
	require.Equal(t, 200, a.status)
	require.Equal(t, `{"code":100,"data":null,"message":"<MethodNotAllowed '405: Method Not Allowed'>"}`, a.text)
	a = s.request("DELETE", "/api/v2/models", "one", "")
	require.Equal(t, http.StatusMethodNotAllowed, a.status)
	require.Equal(t, "bad_method", a.body.Get("error").Get("code").Str())
	a = s.get("/api/v2/nothing")
	require.Equal(t, 404, a.status)
	require.Equal(t, "no_route", a.body.Get("error").Get("code").Str())
	for _, body := range []string{`[]`, `"x"`, `7`, `{`} {
		require.Equal(t, 100, s.post("/v1/canvas/set", body).code(), body)
	}
	a = s.request("POST", "/v1/canvas/set", "one", "title=x&dsl="+strings.ReplaceAll(echo, "&", "%26"), "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, 0, a.code(), "what is no JSON is read as a form: %s", a.text)
}

// forms is a multipart body with several files.
func forms(names ...string) (body, contentType string) {
	const mark = "xxMARKxx"
	for _, n := range names {
		body += fmt.Sprintf("--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=%q\r\nContent-Type: text/plain\r\n\r\nhello\r\n", mark, n)
	}
	return body + "--" + mark + "--\r\n", "multipart/form-data; boundary=" + mark
}
