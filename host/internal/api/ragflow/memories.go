package ragflow

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// memories are the memories of a tenant; their messages are in memory_messages.go.
//
// Source: RAGFlow api/apps/restful_apis/memory_api.py (read for its behaviour).
type memories struct{ *face }

func (m memories) routes() []api.Route {
	const read, edit, run = app.ScopeRead, app.ScopeEdit, app.ScopeRun
	var list []api.Route
	for _, prefix := range []string{"/v1", "/api/v1"} { // the page's and the clients'
		all, one := prefix+"/memories", prefix+"/memories/{memory}"
		messages, message := prefix+"/messages", prefix+"/messages/{entry}"
		list = append(list,
			api.Route{Method: "POST", Path: all, Body: api.BodySmall, Scope: edit, Handler: m.create},
			api.Route{Method: "GET", Path: all, Body: api.BodyNone, Scope: read, Handler: m.list},
			api.Route{Method: "PUT", Path: one, Body: api.BodySmall, Scope: edit, Handler: m.update},
			api.Route{Method: "DELETE", Path: one, Body: api.BodyTiny, Scope: edit, Handler: m.remove},
			api.Route{Method: "GET", Path: one, Body: api.BodyNone, Scope: read, Handler: m.messages},
			api.Route{Method: "GET", Path: one + "/config", Body: api.BodyNone, Scope: read, Handler: m.config},
			api.Route{Method: "POST", Path: messages, Body: api.BodySmall, Scope: run, Handler: m.add},
			api.Route{Method: "GET", Path: messages, Body: api.BodyNone, Scope: read, Handler: m.recent},
			api.Route{Method: "GET", Path: messages + "/search", Body: api.BodyNone, Scope: read, Handler: m.search},
			api.Route{Method: "DELETE", Path: message, Body: api.BodyTiny, Scope: edit, Handler: m.forget},
			api.Route{Method: "PUT", Path: message, Body: api.BodyTiny, Scope: edit, Handler: m.enable},
			api.Route{Method: "GET", Path: message + "/content", Body: api.BodyNone, Scope: read, Handler: m.content},
		)
	}
	return list
}

// truth answers data with the message true, as the original does for memories.
func truth(data engine.Value) api.Response {
	return envelope.With(engine.Bool(true), data)
}

// withNull is a failure whose answer has data null.
func withNull(kind api.Kind, format string, args ...any) *api.Failure {
	f := api.Failed(kind, format, args...)
	f.HasData = true
	return f
}

// memoryError answers the errors of memories in the words of the original.
func memoryError(err error, id string) error {
	var fixed *app.MemoryFixedError
	switch {
	case errors.Is(err, app.ErrNoMemory):
		return withNull(api.KindNoResource, "Memory '%s' not found.", id)
	case errors.As(err, &fixed):
		names := make([]string, len(fixed.Settings))
		for i, name := range fixed.Settings {
			names[i] = map[string]string{"embedding": "'embd_id'", "types": "'memory_type'"}[name]
		}
		return api.Failed(api.KindBadArgument, "Can't update [%s] when memory isn't empty.", strings.Join(names, ", "))
	case errors.Is(err, app.ErrMemorySettings), errors.Is(err, app.ErrMemoryQuery):
		return api.Failed(api.KindBadArgument, "%s", err)
	}
	return err
}

// memoryRow is a memory with all its settings.
func (m memories) memoryRow(ctx context.Context, v app.AgentMemory) engine.Value {
	b := m.shortRow(ctx, v)
	s := &v.Settings
	b.Set("embd_id", engine.String(s.Embedding)).Set("llm_id", engine.String(s.LLM))
	b.Set("memory_size", engine.Int(s.Size)).Set("forgetting_policy", engine.String("FIFO"))
	b.Set("temperature", engine.Float(s.Temperature)).Set("system_prompt", engine.String(s.Prompt()))
	b.Set("user_prompt", api.OrNull(s.UserPrompt))
	return b.Value()
}

// shortRow is a memory as lists have it.
func (m memories) shortRow(ctx context.Context, v app.AgentMemory) *engine.ObjectBuilder {
	s := &v.Settings
	b := engine.NewObject(24)
	b.Set("id", engine.String(v.ID)).Set("name", engine.String(v.Name)).Set("avatar", api.OrNull(s.Avatar))
	b.Set("tenant_id", engine.String(v.Tenant)).Set(
		"owner_name", engine.String(m.Services.Accounts.Nickname(ctx, v.User)),
	)
	b.Set("memory_type", engine.Strings(s.Types...)).Set("storage_type", engine.String("table"))
	b.Set("permissions", engine.String(s.Permission)).Set("description", api.OrNull(s.Description))
	api.SetTimes(b, v.CreateTime, v.UpdateTime)
	return b
}

func checkMemoryName(name string) error {
	trimmed := strings.TrimSpace(name)
	switch {
	case trimmed == "":
		return api.Failed(api.KindBadArgument, "Memory name cannot be empty or whitespace.")
	case len([]rune(trimmed)) > app.LongestMemoryName:
		return api.Failed(api.KindBadArgument, "Memory name '%s' exceeds limit of %d.", trimmed, app.LongestMemoryName)
	}
	return nil
}

// memoryTypes reads the kinds of messages of a body.
func memoryTypes(body *api.Body) ([]string, error) {
	if v := body.Get("memory_type"); v.Kind() != engine.KindList {
		return nil, api.Failed(api.KindBadArgument, "Memory type must be a list.")
	}
	types := body.Texts("memory_type")
	var wrong []string
	for _, name := range types {
		if quoted := "'" + name + "'"; !slices.Contains(app.MemoryKinds, name) && !slices.Contains(wrong, quoted) {
			wrong = append(wrong, quoted)
		}
	}
	if len(wrong) > 0 {
		return nil, api.Failed(api.KindBadArgument, "Memory type '{%s}' is not supported.", strings.Join(wrong, ", "))
	}
	return types, body.Valid()
}

func (m memories) create(ctx context.Context, r *api.Request) (api.Response, error) {
	if err := r.Body.Require("name", "memory_type", "embd_id", "llm_id"); err != nil {
		return nil, err
	}
	name, settings := r.Body.Text("name"), app.NewMemorySettings()
	settings.Embedding, settings.LLM = r.Body.Text("embd_id"), r.Body.Text("llm_id")
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	if err := checkMemoryName(name); err != nil {
		return nil, err
	}
	var err error
	if settings.Types, err = memoryTypes(&r.Body); err != nil {
		return nil, err
	}
	v, err := m.Services.Memories.Create(ctx, r.Who.Remembers(), name, settings)
	if err != nil {
		return nil, memoryError(err, "")
	}
	return truth(m.memoryRow(ctx, v)), nil
}

func (m memories) update(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["memory"]
	v, err := m.Services.Memories.Update(ctx, r.Who.Remembers(), id, func(name *string, s *app.MemorySettings) error {
		return changeMemory(&r.Body, name, s)
	})
	if err != nil {
		return nil, memoryError(err, id)
	}
	return truth(m.memoryRow(ctx, v)), nil
}

// changeMemory writes the members of a body over a memory.
func changeMemory(body *api.Body, name *string, s *app.MemorySettings) error {
	given := func(key string) bool { return body.Get(key).Truthy() }
	if _, has := body.Lookup("name"); has {
		if err := checkMemoryName(body.Text("name")); err != nil {
			return err
		}
		*name = body.Text("name")
	}
	if given("permissions") {
		s.Permission = body.Text("permissions")
		if s.Permission != app.MemoryForMe && s.Permission != app.MemoryForTeam {
			return api.Failed(api.KindBadArgument, "Unknown permission '%s'.", s.Permission)
		}
	}
	if given("llm_id") {
		s.LLM = body.Text("llm_id")
	}
	if given("embd_id") {
		s.Embedding = body.Text("embd_id")
	}
	if given("memory_type") {
		types, err := memoryTypes(body)
		if err != nil {
			return err
		}
		s.Types = types
	}
	if err := changeMemoryNumbers(body, s); err != nil {
		return err
	}
	for key, to := range map[string]*string{
		"avatar": &s.Avatar, "description": &s.Description, "system_prompt": &s.SystemPrompt,
		"user_prompt": &s.UserPrompt,
	} {
		if _, has := body.Lookup(key); has {
			*to = body.Text(key)
		}
	}
	return body.Valid()
}

func changeMemoryNumbers(body *api.Body, s *app.MemorySettings) error {
	if v := body.Get("memory_size"); v.Truthy() {
		n, err := strconv.ParseInt(v.Text(), 10, 64)
		if err != nil || n <= 0 || n > app.LargestMemory {
			return api.Failed(api.KindBadArgument, "Memory size should be in range (0, %d] Bytes.", app.LargestMemory)
		}
		s.Size = n
	}
	if v := body.Get("forgetting_policy"); v.Truthy() && v.Text() != "FIFO" {
		return api.Failed(api.KindBadArgument, "Forgetting policy '%s' is not supported.", v.Text())
	}
	if v, has := body.Lookup("temperature"); has {
		n, err := strconv.ParseFloat(v.Text(), 64)
		if err != nil || !(n >= 0 && n <= 1) {
			return api.Failed(api.KindBadArgument, "Temperature should be in range [0, 1].")
		}
		s.Temperature = n
	}
	return nil
}

func (m memories) remove(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["memory"]
	if err := m.Services.Memories.Delete(ctx, r.Who.Remembers(), id); err != nil {
		return nil, memoryError(err, id)
	}
	return truth(engine.Null), nil
}

func (m memories) config(ctx context.Context, r *api.Request) (api.Response, error) {
	id := r.Params["memory"]
	v, err := m.Services.Memories.Get(ctx, r.Who.Remembers(), id)
	if err != nil {
		return nil, memoryError(err, id)
	}
	return truth(m.memoryRow(ctx, v)), nil
}

func (m memories) list(ctx context.Context, r *api.Request) (api.Response, error) {
	p, err := r.Query.Page(50, "", true)
	if err != nil {
		return nil, err
	}
	all, err := m.Services.Memories.List(ctx, r.Who.Remembers())
	if err != nil {
		return nil, err
	}
	types, tenants := listed(r.Query, "memory_type"), listed(r.Query, "tenant_id")
	words, storage := strings.ToLower(r.Query.Get("keywords")), r.Query.Get("storage_type")
	all = slices.DeleteFunc(all, func(v app.AgentMemory) bool {
		ofType := slices.ContainsFunc(types, func(t string) bool { return slices.Contains(v.Settings.Types, t) })
		return len(types) > 0 && !ofType || len(tenants) > 0 && !slices.Contains(tenants, v.Tenant) ||
			storage != "" && storage != "table" || !strings.Contains(strings.ToLower(v.Name), words)
	})
	rows := []engine.Value{}
	for _, v := range app.CutPage(all, p) {
		rows = append(rows, m.shortRow(ctx, v).Value())
	}
	return truth(engine.Object("memory_list", engine.List(rows...), "total_count", len(all))), nil
}

// listed are the values of a parameter that is repeated, or has commas.
func listed(q api.Query, name string) []string {
	var out []string
	for _, v := range q.Values[name] {
		for part := range strings.SplitSeq(v, ",") {
			if part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}
