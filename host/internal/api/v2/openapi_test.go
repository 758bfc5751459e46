package v2_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	v2 "github.com/easel-canvas/easel/host/internal/api/v2"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/apitest"
)

// ownRoutes returns the routes of the face.
func ownRoutes(s *apitest.Site) []api.Route {
	return slices.DeleteFunc(s.API.Routes(), func(r api.Route) bool { return !strings.HasPrefix(r.Path, v2.Prefix) })
}

func params(op engine.Value) (names []string) {
	for _, p := range op.Get("parameters").Elements() {
		names = append(names, p.Get("name").Str())
	}
	return names
}

// described is the served OpenAPI document.
type described struct {
	paths engine.Value
	fault *jsonschema.Resolved
}

func describe(t *testing.T, s *apitest.Site) described {
	t.Helper()
	a := s.Request("GET", "/api/v2/openapi.json", "", "")
	require.Equal(t, 200, a.Status)
	require.Equal(t, "3.1.0", a.Body.Get("openapi").Str())
	return described{a.Body.Get("paths"), resolve(t, a.Body.Get("components").Get("schemas").Get("Error"))}
}

func resolve(t *testing.T, schema engine.Value) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(schema.AppendJSON(nil), &s))
	out, err := s.Resolve(nil)
	require.NoError(t, err)
	return out
}

// check compares a response with the document's description of its status.
func (d described) check(t *testing.T, r *api.Route, method string, a apitest.Answer) {
	t.Helper()
	op := d.paths.Get(r.Path).Get(strings.ToLower(method))
	said := op.Get("responses").Get(strconv.Itoa(a.Status))
	if said.IsNull() {
		require.GreaterOrEqual(t, a.Status, 400, "status %d is not described: %s", a.Status, a.Text)
		validate(t, d.fault, a)
		return
	}
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	content := said.Get("content")
	if content.IsNull() {
		require.Empty(t, a.Text)
		return
	}
	body, ok := content.Lookup(kind)
	require.True(t, ok, "%s is not described: %s", kind, a.Text)
	if kind == "application/json" {
		validate(t, resolve(t, body.Get("schema")), a)
	}
}

func validate(t *testing.T, schema *jsonschema.Resolved, a apitest.Answer) {
	t.Helper()
	var got any
	require.NoError(t, json.Unmarshal([]byte(a.Text), &got), a.Text)
	require.NoError(t, schema.Validate(got), a.Text)
}

func TestOpenAPI(t *testing.T) {
	s := apitest.New(t)
	d := describe(t, s)
	names := map[string]bool{}
	operations := 0
	for path, methods := range d.paths.Fields() {
		for _, op := range methods.Fields() {
			operations++
			name := op.Get("operationId").Str()
			require.False(t, names[name], name)
			names[name] = true
			require.NotEmpty(t, op.Get("summary").Str(), name)
			require.GreaterOrEqual(t, op.Get("responses").Len(), 2, name)
			for part := range strings.SplitSeq(path, "/") {
				if strings.HasPrefix(part, "{") {
					require.Contains(t, params(op), strings.Trim(part, "{}"), name)
				}
			}
		}
	}
	require.Equal(t, len(ownRoutes(s)), operations)
}

// TestOwnAPIAnswersAsDescribed calls every route of easel's own API, with and
// without a key, and compares the responses with the document. A route that no row
// calls successfully fails it.
func TestOwnAPIAnswersAsDescribed(t *testing.T) {
	s := apitest.New(t)
	server := apitest.Vendor(t)
	_, err := s.Store.Tenants.Put(t.Context(), store.Tenant{ID: "one", Name: "One"})
	require.NoError(t, err)
	ann, err := s.Store.Users.CreateMember(
		t.Context(), store.Member{Tenant: "one", Role: app.RoleOwner}, store.User{Email: "ann@x.org"},
		"correct horse",
	)
	require.NoError(t, err)
	_, key, err := s.Store.Keys.Create(t.Context(), store.Key{Tenant: "one", User: ann.ID, Scopes: app.Scopes}, "")
	require.NoError(t, err)
	d := describe(t, s)
	known := map[string]string{}
	// Each row is method, path and body; >name keeps the id of the answer for {name} in later rows.
	done := map[string]bool{}
	for _, row := range strings.Split(strings.TrimSpace(ownRows), "\n") {
		call, keep, _ := strings.Cut(row, " >")
		for name, id := range known {
			call = strings.ReplaceAll(call, "{"+name+"}", id)
		}
		call = strings.NewReplacer("{vendor}", server.URL+"/v1", "{echo}", apitest.Echo, "{formed}",
			apitest.Formed).Replace(call)
		method, rest, _ := strings.Cut(call, " ")
		path, body, _ := strings.Cut(rest, " ")
		path, streamed := strings.CutSuffix(path, "?stream")
		t.Run(row, func(t *testing.T) {
			s.T = t
			r := s.API.Route(httptest.NewRequest(method, path, nil))
			require.NotNil(t, r)
			var header []string
			var kind string
			if streamed {
				header = []string{"Accept", "text/event-stream"}
			}
			if body == "SOUND" {
				body, kind = apitest.Recording("audio/webm;codecs=opus", "sound")
				header = append(header, "Content-Type", kind)
			}
			if body == "FILE" {
				body, kind = apitest.Form("a.md", "# Returns\n\nGoods can be returned.")
				header = append(header, "Content-Type", kind)
			}
			if r.Need != api.NeedNone {
				refused := s.Request(method, path, "", body)
				require.Equal(t, 401, refused.Status)
				d.check(t, r, method, refused)
				unknown := s.Request(method, path, "wrong", body)
				require.Equal(t, 401, unknown.Status)
				d.check(t, r, method, unknown)
			}
			a := s.Request(method, path, key, body, header...)
			require.Less(t, a.Status, 300, a.Text)
			d.check(t, r, method, a)
			done[method+" "+r.Path] = true
			if keep != "" {
				id := a.Body.Get("id")
				if id.IsNull() {
					id = a.Body.Get("items").At(0).Get("id")
				}
				require.NotEmpty(t, id.Str(), a.Text)
				known[keep] = id.Str()
			}
			requireAudited(t, s, r, method, a)
			if strings.HasSuffix(path, "/runs") && method == "POST" && !streamed {
				s.Watch(path[:strings.Index(path, "/canvases/")]+"/runs/"+a.Body.Get("id").Str()+"/events", "", 0)
			}
			if strings.HasSuffix(path, "/approve") {
				s.Watch("/api/v2/runs/"+a.Body.Get("id").Str()+"/events", "", 0)
			}
			if method != "GET" && len(body) > 2 && body[0] == '{' {
				bad := s.Request(method, path, key, `{"`)
				require.Equal(t, 400, bad.Status)
				d.check(t, r, method, bad)
			}
		})
	}
	s.T = t
	unused := maps.Clone(withoutEntry)
	for _, r := range ownRoutes(s) {
		delete(unused, r.Action)
		if r.Method != "GET" && !r.Audits(r.Method) {
			require.Contains(t, withoutEntry, r.Action, "%s %s changes something and leaves no entry", r.Method, r.Path)
		}
		if !done[r.Method+" "+r.Path] && !slices.Contains(elsewhere, r.Path) {
			t.Errorf("%s %s has no row: call it in ownRows", r.Method, r.Path)
		}
	}
	require.Empty(t, unused, "no such operations")
}

// requireAudited checks that an act has left an entry, unless it is one that leaves none.
func requireAudited(t *testing.T, s *apitest.Site, r *api.Route, method string, a apitest.Answer) {
	t.Helper()
	list, err := s.Store.Audit.List(t.Context(), store.AuditFilter{Tenant: "one", Limit: 1})
	require.NoError(t, err)
	last := ""
	if len(list) > 0 {
		last = list[0].Action
	}
	switch {
	case r.Audits(method):
		require.Equal(t, r.Action, last)
		require.NotEmpty(t, list[0].User)
		require.Equal(t, "127.0.0.1", list[0].Address)
		if id := a.Body.Get("id").Str(); id != "" && method == "POST" {
			require.NotEmpty(t, list[0].Object, "a new object has its id in the log")
		}
	case method != "GET":
		require.Contains(t, withoutEntry, r.Action, "%s %s changes something and leaves no entry", method, r.Path)
	}
}

// withoutEntry are operations that are no GET and are not in the audit log, with the reason.
var withoutEntry = map[string]string{
	"createSession": "a conversation", "addMemoryMessage": "a conversation",
	"startRun": "in the history of runs", "cancelRun": "in the history of runs", "rerun": "in the history of runs",
	"resume": "in the history of runs", "validateCanvas": "reads", "validateDocument": "reads",
	"debugNode":      "nothing is stored",
	"webhookPresets": "reads", "listTables": "reads", "search": "reads", "listMCPTools": "reads",
	"testProvider": "reads", "findLocalProviders": "reads", "previewChunks": "reads",
	"pluginFetch": "a part of a run in the page", "callTool": "a part of a run in the page",
	"speak": "calls a model", "transcribe": "calls a model",
}

// elsewhere lists routes that need more than this package has: tested with the code that answers
// them.
var elsewhere = []string{
	"/api/v2/plugins/grant", "/api/v2/plugins/{plugin}/fetch", "/api/v2/plugins/{plugin}/settings",
	"/api/v2/plugins/{plugin}/file", "/api/v2/me/password",
	"/api/v2/me/logins/{login}", "/api/v2/users/{user}/logins/{login}",
	"/api/v2/datasets/{dataset}/events", "/api/v2/canvases/{id}/events",
	"/api/v2/tools/{component}/call",
	"/api/v2/datasets/{dataset}/parses/{parse}", "/api/v2/datasets/{dataset}/parses/{parse}/rerun",
}

const ownRows = `
GET /api/v2/me
PATCH /api/v2/me {"nickname":"Ann"}
GET /api/v2/me/usage
POST /api/v2/canvases {"title":"a","dsl":{echo},"permission":"team"} >canvas
GET /api/v2/canvases?keywords=a&page=1&page_size=10
GET /api/v2/canvases/{canvas}
PUT /api/v2/canvases/{canvas} {"description":"d","rev":1}
GET /api/v2/canvases/{canvas}/versions >version
GET /api/v2/canvases/{canvas}/versions/{version}
PATCH /api/v2/canvases/{canvas}/versions/{version} {"title":"first"}
POST /api/v2/canvases/{canvas}/publish {"rev":2}
POST /api/v2/canvases/{canvas}/publish {"version":"{version}"}
POST /api/v2/canvases/{canvas}/sessions {"published":true}
POST /api/v2/canvases/{canvas}/runs {"query":"x","published":true}
POST /api/v2/canvases/{canvas}/validate {"dsl":{"components":{}}}
POST /api/v2/validate {"dsl":{"components":{}}}
POST /api/v2/hook-presets {"security":{}}
POST /api/v2/databases/tables {"params":{"db_type":"sqlite","database":"shop.db"}}
GET /api/v2/databases/files
GET /api/v2/script-languages
POST /api/v2/script-languages/python/install
POST /api/v2/canvases/{canvas}/debug {"node":"begin"}
POST /api/v2/canvases/{canvas}/sessions {"user":"u","name":"n"} >session
GET /api/v2/canvases/{canvas}/sessions/{session}/messages
POST /api/v2/canvases/{canvas}/runs {"query":"x","session":"{session}"} >run
POST /api/v2/canvases/{canvas}/runs?stream {"query":"x"}
GET /api/v2/runs?canvas={canvas}&status=succeeded
GET /api/v2/runs?source=v2
GET /api/v2/runs/{run}
GET /api/v2/runs/{run}/case
GET /api/v2/runs/{run}/events?after=2-1
GET /api/v2/runs/{run}/trace
GET /api/v2/runs/{run}/document
PUT /api/v2/settings/traces {"days":7}
GET /api/v2/settings/traces
GET /api/v2/traces/usage
POST /api/v2/runs/{run}/cancel
POST /api/v2/runs/{run}/rerun {"node":"Message:A"}
POST /api/v2/schedules {"canvas":"{canvas}","cron":"30 7 * * mon-fri","zone":"Europe/Berlin","query":"x","inputs":{"a":1},"session":"{session}"} >schedule
GET /api/v2/schedules?canvas={canvas}
GET /api/v2/schedules/{schedule}
PUT /api/v2/schedules/{schedule} {"paused":true,"session":"new"}
DELETE /api/v2/schedules/{schedule}
POST /api/v2/canvases {"title":"form","dsl":{formed},"permission":"team"} >form
POST /api/v2/canvases/{form}/runs {"query":"x"} >paused
GET /api/v2/inbox?state=open&mine=1
POST /api/v2/runs/{paused}/approve {"approvals":[{"id":"approval:X","decision":"no"}]} >again
POST /api/v2/inbox/{again}/answer {"inputs":{"city":"Oslo"}}
POST /api/v2/canvases/{form}/runs {"query":"x"} >paused
POST /api/v2/runs/{paused}/resume {"inputs":{"city":"Oslo"}}
GET /api/v2/components
GET /api/v2/plugins
GET /api/v2/openapi.json
POST /api/v2/canvases/{canvas}/token
POST /api/v2/canvases/{canvas}/token/secret
PUT /api/v2/canvases/{canvas}/token/secret
DELETE /api/v2/canvases/{canvas}/token
GET /api/v2/users
POST /api/v2/users {"email":"bob@x.org","password":"battery staple","role":"admin"} >bob
PUT /api/v2/users/{bob} {"role":"normal"}
PUT /api/v2/users/{bob}/password {"new":"staple battery"}
PUT /api/v2/users/{bob}/groups {"groups":["hr"]}
GET /api/v2/users/{bob}/groups
GET /api/v2/subjects
GET /api/v2/users/{bob}/logins
DELETE /api/v2/users/{bob}/logins
GET /api/v2/users/{bob}/belongings
DELETE /api/v2/users/{bob}?hand_over_to=
GET /api/v2/me/logins
PUT /api/v2/oidc/corp {"issuer":"https://login.corp.example","client":"easel","secret":"hush"}
GET /api/v2/oidc
DELETE /api/v2/oidc/corp
GET /api/v2/audit?action=createUser&before=1000
GET /api/v2/audit/export
GET /api/v2/audit/check
POST /api/v2/keys {"name":"k","scopes":["read","run"],"rate":60,"expires":"2099-01-01T00:00:00Z"} >key
GET /api/v2/keys
PUT /api/v2/keys/{key} {"rate":30,"tokens_per_day":1000}
DELETE /api/v2/keys/{key}
POST /api/v2/tenants {"name":"Three"} >tenant
GET /api/v2/tenants
PUT /api/v2/tenants/{tenant} {"tokens_per_day":1000}
POST /api/v2/tenants/{tenant}/keys {"scopes":["read"]}
DELETE /api/v2/tenants/{tenant}
POST /api/v2/memories {"name":"m","types":["raw"],"permission":"team"} >memory
GET /api/v2/memories
GET /api/v2/memories/{memory}
PUT /api/v2/memories/{memory} {"description":"d","max_size":100000}
POST /api/v2/memories/{memory}/messages {"input":"q","response":"r","session":"s"}
GET /api/v2/memories/{memory}/messages?query=q&session=s
DELETE /api/v2/memories/{memory}/messages/1
DELETE /api/v2/memories/{memory}
POST /api/v2/mcp-servers {"name":"m","url":"http://127.0.0.1:1/mcp","headers":{"Authorization":"x"}} >server
GET /api/v2/mcp-servers
PUT /api/v2/mcp-servers/{server} {"description":"d","headers":{"Authorization":""}}
POST /api/v2/mcp-servers/{server}/tools
DELETE /api/v2/mcp-servers/{server}
GET /api/v2/usage?by=day
GET /api/v2/usage?by=canvas&from=2026-11-01&to=2026-11-30
GET /api/v2/usage?by=model
GET /api/v2/health
PUT /api/v2/secrets/a.b {"value":"v"}
GET /api/v2/secrets
DELETE /api/v2/secrets/a.b
PUT /api/v2/providers/Vendor {"api":"openai","base_url":"{vendor}","key":"sk-vendor","headers":{"X-Team":"sk-team"},"limits":{"concurrency":4},"models":[{"name":"small","context":100,"tools":true,"limits":{"tokens_per_minute":100000}},{"name":"tts","kind":"speech"},{"name":"stt","kind":"transcription"}]}
GET /api/v2/providers
POST /api/v2/providers/Vendor/test {"model":"small"}
GET /api/v2/providers/Vendor/models
GET /api/v2/models/learned
DELETE /api/v2/providers/Vendor/learned?model=small
GET /api/v2/provider-presets
POST /api/v2/local-providers {}
GET /api/v2/models
POST /api/v2/models/speech {"text":"Hello."}
POST /api/v2/models/transcription SOUND
PUT /api/v2/models/default {"chat":"small@Vendor"}
GET /api/v2/models/default
PUT /api/v2/models/aliases {"aliases":{"gpt@Elsewhere":"small@Vendor"}}
GET /api/v2/models/aliases
PUT /api/v2/models/prices {"prices":{"small@Vendor":{"input":1,"output":2}}}
GET /api/v2/models/prices
DELETE /api/v2/providers/Vendor
POST /api/v2/datasets {"name":"d","method":"naive","config":{"chunk_token_num":64}} >dataset
GET /api/v2/datasets?name=d&page=1&page_size=10
GET /api/v2/datasets?words=d
GET /api/v2/chunk-methods
GET /api/v2/datasets/{dataset}
PATCH /api/v2/datasets/{dataset} {"description":"x","team":true}
POST /api/v2/datasets/{dataset}/documents FILE >document
GET /api/v2/datasets/{dataset}/documents?state=unparsed&words=a
GET /api/v2/datasets/{dataset}/documents/{document}
PATCH /api/v2/datasets/{dataset}/documents/{document} {"metadata":{"author":"ann"}}
PUT /api/v2/datasets/{dataset}/access {"enforce":false,"default":["group:hr"]}
PUT /api/v2/datasets/{dataset}/access/documents {"documents":["{document}"],"access":["all","user:ann"]}
GET /api/v2/datasets/{dataset}/documents/{document}/content
PUT /api/v2/datasets/{dataset}/documents/{document}/content FILE
POST /api/v2/datasets/{dataset}/documents/{document}/preview {"method":"one"}
GET /api/v2/datasets/{dataset}/canvases
PATCH /api/v2/datasets/{dataset}/documents {"documents":["{document}","none"],"enabled":true}
POST /api/v2/datasets/{dataset}/documents/{document}/chunks {"content":"Gift cards","keywords":["voucher"]} >chunk
GET /api/v2/datasets/{dataset}/documents/{document}/chunks?words=gift&enabled=true
GET /api/v2/datasets/{dataset}/documents/{document}/chunks/{chunk}
PATCH /api/v2/datasets/{dataset}/documents/{document}/chunks/{chunk} {"content":"Gift vouchers"}
POST /api/v2/datasets/{dataset}/documents/{document}/chunks/{chunk}/split {"first":"Gift","second":"vouchers"} >second
POST /api/v2/datasets/{dataset}/documents/{document}/chunks/{chunk}/merge {"with":"{second}","content":"Gift vouchers"}
GET /api/v2/datasets/{dataset}/parses?document={document}&state=done
GET /api/v2/datasets/{dataset}/metadata
PATCH /api/v2/datasets/{dataset}/metadata {"set":[{"key":"year","value":2026}],"delete":[{"key":"author"}]}
POST /api/v2/search {"datasets":["{dataset}"],"question":"gift","highlight":true}
DELETE /api/v2/datasets/{dataset}/documents/{document}/chunks/{chunk}
POST /api/v2/datasets/{dataset}/parse {"documents":["{document}","none"]}
POST /api/v2/datasets/{dataset}/cancel {"documents":["none"]}
DELETE /api/v2/datasets/{dataset}/documents {"documents":["none"]}
DELETE /api/v2/datasets/{dataset}/documents/{document}
DELETE /api/v2/datasets/{dataset}
POST /api/v2/projects {"name":"p"} >project
GET /api/v2/projects
PUT /api/v2/projects/{project} {"name":"q"}
PUT /api/v2/grants {"subject":"group:ops","object":"project:{project}","role":"editor"}
GET /api/v2/grants?object=project:{project}
DELETE /api/v2/grants?object=project:{project}&subject=group:ops
GET /api/v2/access?object=project:{project}
GET /api/v2/projects/{project}
GET /api/v2/tags
DELETE /api/v2/projects/{project}?move_to=
DELETE /api/v2/canvases/{canvas}
PUT /api/v2/me/password {"new":"another horse"}
`
