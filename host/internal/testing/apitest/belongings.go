package apitest

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/webhook"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Belongings are ids of everything tenant one has.
type Belongings struct {
	Title, Canvas, Session, Run, Message, Version, File, Server, Key string
	Memory                                                           string
	User, Secret, Provider, Tenant, Schedule                         string // of FurnishAll
	Dataset, Document, Chunk                                         string // of FurnishDataset
	Project                                                          string // of FurnishAll
}

// furnished counts belongings, so that their titles differ.
var furnished int

// Furnish makes belongings of tenant one.
func (s *Site) Furnish() Belongings {
	s.T.Helper()
	var b Belongings
	furnished++
	b.Title = fmt.Sprintf("mine %d", furnished)
	b.Canvas = s.Canvas(b.Title, Echo)
	b.Version = s.Good(s.Get("/v1/canvas/getlistversion/" + b.Canvas)).Data().At(0).Get("id").Str()
	b.Session = s.Good(s.Post("/api/v1/agents/"+b.Canvas+"/sessions", `{}`)).Data().Get("id").Str()
	a := s.Good(s.Post("/api/v1/agents/"+b.Canvas+"/completions", `{"question":"my secret","stream":false,"session_id":"`+b.Session+`"}`))
	b.Run, b.Message = a.Body.Get("data").Get("task_id").Str(), a.Body.Get("data").Get("message_id").Str()
	body, kind := Form("f.txt", "my secret")
	b.File = s.Good(s.Request("POST", "/v1/canvas/upload/"+b.Canvas, "one", body, "Content-Type", kind)).Data().Get("id").Str()
	b.Server = s.Good(s.Post("/v1/mcp_server/create", `{"name":"`+b.Title+`","url":"http://127.0.0.1:1/","server_type":"sse"}`)).Data().Get("id").Str()
	memory := s.Post("/api/v1/memories", `{"name":"`+b.Title+`","memory_type":["raw"],"embd_id":"","llm_id":""}`)
	b.Memory = s.Good(memory).Data().Get("id").Str()
	s.Good(s.Post("/api/v1/messages", `{"memory_id":"`+b.Memory+
		`","agent_id":"a","session_id":"s","user_input":"my secret","agent_response":""}`))
	keys, err := s.Store.Keys.List(s.T.Context(), "one")
	require.NoError(s.T, err)
	b.Key = keys[0].ID
	return b
}

// FurnishAll adds what takes longer to make.
func (s *Site) FurnishAll() Belongings {
	s.T.Helper()
	b := s.Furnish()
	u, err := s.Store.Users.CreateMember(
		s.T.Context(), store.Member{Tenant: "one", Role: app.RoleOwner},
		store.User{Email: "mine@x.org", Nickname: b.Title}, "my secret password",
	)
	require.NoError(s.T, err)
	s.FurnishDataset(&b)
	project, err := s.Store.Projects.Create(s.T.Context(), store.Project{Tenant: "one", Name: b.Title})
	require.NoError(s.T, err)
	b.Project = project.ID
	b.User, b.Secret, b.Provider, b.Tenant = u.ID, "mine.secret", "mine", "one"
	b.Schedule = s.As("one", "POST", "/api/v2/schedules", `{"canvas":"`+b.Canvas+`","every":"24h","query":"my secret"}`, 201).Get("id").Str()
	require.NoError(s.T, s.Store.Secrets.Put(s.T.Context(), "one", b.Secret, []byte("my secret"), nil))
	require.NoError(s.T, s.Services.Models.Put(s.T.Context(), "one", model.Provider{Name: b.Provider, BaseURL: "http://127.0.0.1:1", Key: "my secret"}))
	return b
}

// FurnishDataset adds a dataset with a document and a chunk.
func (s *Site) FurnishDataset(b *Belongings) {
	s.T.Helper()
	furnished++
	name := fmt.Sprintf("dataset of mine %d", furnished)
	b.Dataset = s.Good(s.Post("/api/v1/datasets", `{"name":"`+name+`"}`)).Data().Get("id").Str()
	documents := "/api/v1/datasets/" + b.Dataset + "/documents"
	body, kind := Form("mine.txt", "my secret")
	b.Document = s.Good(s.Request("POST", documents, "one", body, "Content-Type", kind)).Data().At(0).Get("id").Str()
	a := s.Good(s.Post(documents+"/"+b.Document+"/chunks", `{"content":"my secret chunk"}`))
	b.Chunk = a.Data().Get("chunk").Get("id").Str()
}

// Unknown are ids that no tenant has.
var Unknown = Belongings{
	Canvas: Nowhere, Session: Nowhere, Run: Nowhere, Message: Nowhere, Version: Nowhere, File: Nowhere, Server: Nowhere, Key: Nowhere,
	User: Nowhere, Secret: Nowhere, Provider: Nowhere, Tenant: Nowhere, Schedule: Nowhere,
	Dataset: "d94a8dc02c9711f0930f7fbc369eab6d", Document: Nowhere, Chunk: "0000000000000000",
	Memory: Nowhere, Project: Nowhere,
}

// Fill puts ids into the parameters of a path.
func (b Belongings) Fill(path string) string {
	mcp := strings.Contains(path, "mcp")
	return strings.NewReplacer(
		"{sid}", b.Session, "{session}", b.Session, "{vid}", b.Version, "{message}", b.Message, "{task}", b.Run, "{run}", b.Run, "{wait}", b.Run, "{component}", "Message:A", "{token}", b.Key, "{key}", b.Key,
		"{dataset}", b.Dataset, "{document}", b.Document, "{chunk}", b.Chunk,
		"{log}", b.Document, "{parse}", Nowhere, "{index}", "graph", "{image}", Nowhere,
		"{user}", b.User, "{name}", b.Secret, "{provider}", b.Provider, "{tenant}", b.Tenant, "{schedule}", b.Schedule, "{plugin}", b.Provider,
		"{project}", b.Project, "{memory}", b.Memory, "{entry}", b.Memory+":1", "{number}", "1", "{login}", Nowhere,
		"{id}", map[bool]string{true: b.Server, false: b.idFor(path)}[mcp],
	).Replace(path)
}

func (b Belongings) idFor(path string) string {
	switch {
	case strings.Contains(path, "/runs/"):
		return b.Run
	case strings.Contains(path, "/attachments/"):
		return b.File
	}
	return b.Canvas
}

// Body names everything of the owner at once; each route takes what it knows.
func (b Belongings) Body() string {
	return fmt.Sprintf(`{"id":%q,"agent_id":%q,"canvas_id":%q,"canvas_ids":[%q],"session_id":%q,"session":%q,"ids":[%q],
		"component_id":"Message:A","params":{},"memory_id":[%q],"user_input":"x","agent_response":"x","status":false,
		"mcp_id":%q,"mcp_ids":[%q],"tool_name":"x","arguments":{},"tools":[],"tokens":[%q],"tenant_id":"one",
		"title":"stolen","permission":"team","name":"new%d","url":"http://127.0.0.1:1/","server_type":"sse","action":"stop","timeout":1,
		"dsl":%s,"model":"m","messages":[{"role":"user","content":"x"}],"question":"x","node":"Message:A","inputs":{},"query":"x","stream":false}`,
		b.Canvas, b.Canvas, b.Canvas, b.Canvas, b.Session, b.Session, b.Session,
		b.Memory, b.Server, b.Server, b.Key, time.Now().UnixNano(), Echo)
}

// Query names them in a query.
func (b Belongings) Query() string {
	return fmt.Sprintf("?id=%s&component_id=Message:A&canvas_id=%s&message_id=%s&mcp_id=%s"+
		"&created_by=one&user_id=one&memory_id=%s", b.Canvas, b.Canvas, b.Message, b.Server, b.Memory)
}

// EachRoute calls a test with every route and a method that it takes.
func EachRoute(s *Site, f func(r api.Route, method string)) {
	for _, r := range s.API.Routes() {
		for m := range strings.FieldsSeq(strings.ReplaceAll(r.Method, webhook.Methods, "GET POST")) {
			f(r, m)
		}
	}
}

// As makes requests of our own API with a key and requires a status.
func (s *Site) As(key, method, path, body string, status int) engine.Value {
	s.T.Helper()
	a := s.Request(method, path, key, body)
	require.Equal(s.T, status, a.Status, "%s %s: %s", method, path, a.Text)
	return a.Body
}

// Running waits until so many runs are under way.
func (s *Site) Running(n int) []store.Run {
	s.T.Helper()
	var runs []store.Run
	require.Eventually(s.T, func() bool {
		var err error
		runs, _, err = s.Store.Runs.List(
			s.T.Context(), store.RunFilter{Tenant: "one", Status: store.RunActive}, store.Page{},
		)
		return err == nil && len(runs) == n
	}, time.Minute, time.Millisecond)
	return runs
}
