package v2

import (
	"context"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// memories keep what was said in runs for later ones.
type memories struct{ *app.Services }

func (m memories) operations() []operation {
	const read, edit, run = app.ScopeRead, app.ScopeEdit, app.ScopeRun
	const all, one = "/api/v2/memories", "/api/v2/memories/{memory}"
	const messages, message = one + "/messages", one + "/messages/{number}"
	return []operation{
		handle(operation{
			method: "GET", path: all, body: api.BodyNone, scope: read, name: "listMemories",
			about: "List the memories that the caller can see, most recently changed first.",
		}, m.list),
		handle(operation{
			method: "POST", path: all, body: api.BodySmall, scope: edit, name: "createMemory", status: created,
			about: "Create a memory. If the name is taken, a number is added to it.",
		}, m.create),
		handle(operation{
			method: "GET", path: one, body: api.BodyNone, scope: read, name: "getMemory",
			about: "Get a memory.",
		}, m.get),
		handle(operation{
			method: "PUT", path: one, body: api.BodySmall, scope: edit, name: "updateMemory",
			about: "Update the given members of a memory. Its types cannot change while it has messages.",
		}, m.update),
		handle(operation{
			method: "DELETE", path: one, body: api.BodyTiny, scope: edit, name: "deleteMemory",
			about: "Delete a memory with its messages.",
		}, m.remove),
		handle(operation{
			method: "GET", path: messages, body: api.BodyNone, scope: read, name: "listMemoryMessages",
			about: "List the messages of a memory, newest first, including forgotten ones. With query, search it: " +
				"best match first, without forgotten ones.",
		}, m.messages),
		handle(operation{
			method: "POST", path: messages, body: api.BodySmall, scope: run, name: "addMemoryMessage",
			about: "Add an exchange to a memory, and what a model extracts from it.",
		}, m.add),
		handle(operation{
			method: "DELETE", path: message, body: api.BodyTiny, scope: edit, name: "forgetMemoryMessage",
			about: "Forget a message: searches no longer find it, and it is the first to be deleted when the " +
				"memory is full.",
		}, m.forget),
	}
}

type memoryView struct {
	ID           string    `json:"id"`
	Name         string    `json:"name"`
	Types        []string  `json:"types" jsonschema:"types of messages: raw, semantic, episodic, procedural"`
	Model        string    `json:"model" jsonschema:"model that extracts; empty for the default model"`
	Permission   string    `json:"permission" jsonschema:"me or team"`
	Project      string    `json:"project" jsonschema:"id of the project that holds it; empty for the default project"`
	Description  string    `json:"description"`
	Size         int64     `json:"size" jsonschema:"size of messages and vectors in bytes"`
	MaxSize      int64     `json:"max_size" jsonschema:"size limit in bytes, above which the oldest messages are deleted"`
	Temperature  float64   `json:"temperature"`
	SystemPrompt string    `json:"system_prompt" jsonschema:"system prompt of the extraction"`
	UserPrompt   string    `json:"user_prompt" jsonschema:"user prompt of the extraction, before the exchange"`
	Rev          int64     `json:"rev" jsonschema:"increases by one with each change"`
	Created      time.Time `json:"created"`
	Updated      time.Time `json:"updated"`
}

type memoryInput struct {
	Name         *string   `json:"name,omitempty"`
	Types        *[]string `json:"types,omitempty" jsonschema:"types in addition to raw: semantic, episodic, procedural"`
	Model        *string   `json:"model,omitempty"`
	Permission   *string   `json:"permission,omitempty" jsonschema:"me (default) or team"`
	Project      *string   `json:"project,omitempty" jsonschema:"id of its project; empty for the default project"`
	Description  *string   `json:"description,omitempty"`
	MaxSize      *int64    `json:"max_size,omitempty" jsonschema:"1 to 10485760; default 5 MiB"`
	Temperature  *float64  `json:"temperature,omitempty" jsonschema:"0 to 1; default 0.5"`
	SystemPrompt *string   `json:"system_prompt,omitempty" jsonschema:"empty for the built-in prompt"`
	UserPrompt   *string   `json:"user_prompt,omitempty"`
}

// apply writes the members that are given over settings.
func (in *memoryInput) apply(name *string, s *app.MemorySettings) {
	set(name, in.Name)
	set(&s.Types, in.Types)
	set(&s.LLM, in.Model)
	set(&s.Permission, in.Permission)
	set(&s.Project, in.Project)
	set(&s.Description, in.Description)
	set(&s.Size, in.MaxSize)
	set(&s.Temperature, in.Temperature)
	set(&s.SystemPrompt, in.SystemPrompt)
	set(&s.UserPrompt, in.UserPrompt)
}

// set writes a value that is given.
func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func memoryViewOf(v app.AgentMemory) memoryView {
	s := &v.Settings
	return memoryView{
		ID: v.ID, Name: v.Name, Types: s.Types, Model: s.LLM, Permission: s.Permission, Project: v.Project,
		Description: s.Description,
		Size:        v.Size, MaxSize: s.Size, Temperature: s.Temperature, SystemPrompt: s.Prompt(),
		UserPrompt: s.UserPrompt,
		Rev:        v.Rev, Created: timeOf(v.CreateTime), Updated: timeOf(v.UpdateTime),
	}
}

type listMemories struct {
	Who     app.Principal
	Project *string `query:"project" jsonschema:"only memories of the project with this id; empty for the default project"`
}

func (m memories) list(ctx context.Context, in listMemories) (list[memoryView], error) {
	all, err := m.Memories.List(ctx, in.Who.Remembers())
	out := list[memoryView]{Items: make([]memoryView, 0, len(all))}
	for _, v := range all {
		if in.Project == nil || v.Project == *in.Project {
			out.Items = append(out.Items, memoryViewOf(v))
		}
	}
	return out, app.MemoryError(err)
}

type createMemory struct {
	Who  app.Principal
	Body memoryInput
}

func (m memories) create(ctx context.Context, in createMemory) (memoryView, error) {
	name, settings := "", app.NewMemorySettings()
	in.Body.apply(&name, &settings)
	if err := m.Projects.Place(ctx, in.Who, settings.Project); err != nil {
		return memoryView{}, err
	}
	v, err := m.Memories.Create(ctx, in.Who.Remembers(), name, settings)
	return memoryViewOf(v), app.MemoryError(err)
}

type memoryByID struct {
	Who app.Principal
	ID  string `path:"memory"`
}

func (m memories) get(ctx context.Context, in memoryByID) (memoryView, error) {
	v, err := m.Memories.Get(ctx, in.Who.Remembers(), in.ID)
	return memoryViewOf(v), app.MemoryError(err)
}

type updateMemory struct {
	Who  app.Principal
	ID   string `path:"memory"`
	Body memoryInput
}

func (m memories) update(ctx context.Context, in updateMemory) (memoryView, error) {
	if in.Body.Project != nil {
		if err := m.Projects.Place(ctx, in.Who, *in.Body.Project); err != nil {
			return memoryView{}, err
		}
	}
	v, err := m.Memories.Update(ctx, in.Who.Remembers(), in.ID, func(name *string, s *app.MemorySettings) error {
		in.Body.apply(name, s)
		return nil
	})
	return memoryViewOf(v), app.MemoryError(err)
}

func (m memories) remove(ctx context.Context, in memoryByID) (empty, error) {
	return empty{}, app.MemoryError(m.Memories.Delete(ctx, in.Who.Remembers(), in.ID))
}

type memoryMessageView struct {
	Number    int64      `json:"number" jsonschema:"number within its memory, increasing"`
	Kind      string     `json:"kind" jsonschema:"raw, semantic, episodic or procedural"`
	Source    int64      `json:"source,omitempty" jsonschema:"id of the message it was extracted from"`
	Canvas    string     `json:"canvas,omitempty"`
	Session   string     `json:"session,omitempty"`
	User      string     `json:"user,omitempty"`
	Content   string     `json:"content"`
	Score     float64    `json:"similarity,omitempty" jsonschema:"similarity to the query, 0 to 1"`
	Valid     time.Time  `json:"valid" jsonschema:"start of its validity"`
	Invalid   *time.Time `json:"invalid,omitempty"`
	Forgotten *time.Time `json:"forgotten,omitempty"`
	Disabled  bool       `json:"disabled,omitempty" jsonschema:"whether it is forgotten"`
}

func memoryMessageViewOf(v *app.MemoryMessage, similarity float64) memoryMessageView {
	return memoryMessageView{
		Number: v.ID, Kind: v.Kind, Source: v.Source, Canvas: v.Agent, Session: v.Session, User: v.User,
		Content: v.Content, Score: similarity, Valid: timeOf(v.ValidAt), Invalid: timeOrNil(v.InvalidAt),
		Forgotten: timeOrNil(v.ForgetAt), Disabled: v.Disabled,
	}
}

type listMemoryMessages struct {
	Who     app.Principal
	ID      string   `path:"memory"`
	Query   string   `query:"query" jsonschema:"search for messages that match"`
	Canvas  string   `query:"canvas" jsonschema:"only messages of this canvas"`
	Session string   `query:"session" jsonschema:"only messages of this session"`
	User    string   `query:"user" jsonschema:"only messages of this user"`
	Page    app.Page `order:"valid"`
}

func (m memories) messages(ctx context.Context, in listMemoryMessages) (list[memoryMessageView], error) {
	if in.Query != "" {
		return m.search(ctx, in)
	}
	f := app.MemoryFilter{Memories: []string{in.ID}, Session: in.Session, User: in.User}
	if in.Canvas != "" {
		f.Agents = []string{in.Canvas}
	}
	rows, _, err := m.Memories.Messages(ctx, in.Who.Remembers(), f, in.Page)
	out := list[memoryMessageView]{Items: make([]memoryMessageView, len(rows))}
	for i := range rows {
		out.Items[i] = memoryMessageViewOf(&rows[i], 0)
	}
	return out, app.MemoryError(err)
}

// leastSimilarity and wordWeight are the defaults of searches.
const (
	leastSimilarity = 0.2
	wordWeight      = 0.7
)

func (m memories) search(ctx context.Context, in listMemoryMessages) (list[memoryMessageView], error) {
	hits, err := m.Memories.Search(ctx, in.Who.Remembers(), app.MemoryQuery{
		Memories: []string{in.ID}, Agent: in.Canvas, Session: in.Session, User: in.User, Text: in.Query,
		Threshold: leastSimilarity, WordWeight: wordWeight, Limit: in.Page.Offset + in.Page.Limit,
	})
	hits = app.CutPage(hits, in.Page)
	out := list[memoryMessageView]{Items: make([]memoryMessageView, len(hits))}
	for i := range hits {
		out.Items[i] = memoryMessageViewOf(&hits[i].Message, hits[i].Similarity)
	}
	return out, app.MemoryError(err)
}

type addMemoryMessage struct {
	Who  app.Principal
	ID   string `path:"memory"`
	Body struct {
		Input    string `json:"input" jsonschema:"what the user said"`
		Response string `json:"response" jsonschema:"what the agent said"`
		Canvas   string `json:"canvas,omitempty"`
		Session  string `json:"session,omitempty"`
		User     string `json:"user,omitempty"`
	}
}

func (m memories) add(ctx context.Context, in addMemoryMessage) (empty, error) {
	b := &in.Body
	return empty{}, app.MemoryError(m.Memories.Add(ctx, in.Who.Remembers(), []string{in.ID}, app.MemoryExchange{
		User: b.User, Agent: b.Canvas, Session: b.Session, Input: b.Input, Response: b.Response,
	}))
}

type memoryMessageByNumber struct {
	Who    app.Principal
	ID     string `path:"memory"`
	Number string `path:"number"`
}

func (m memories) forget(ctx context.Context, in memoryMessageByNumber) (empty, error) {
	number, err := strconv.ParseInt(in.Number, 10, 64)
	if err != nil {
		return empty{}, app.Missing("message")
	}
	return empty{}, app.MemoryError(m.Memories.Forget(ctx, in.Who.Remembers(), in.ID, number))
}
