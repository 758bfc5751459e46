package v2

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// canvases are documents, and sessions with them.
type canvases struct{ *app.Services }

// created is the status of an answer that made something.
const created = http.StatusCreated

func (c canvases) operations() []operation {
	const read, edit = app.ScopeRead, app.ScopeEdit
	const all, one = "/api/v2/canvases", "/api/v2/canvases/{id}"
	return []operation{
		handle(operation{
			method: "GET", path: all, body: api.BodyNone, scope: read, name: "listCanvases",
			about: "List canvases, most recently changed first.",
		}, c.list),
		handle(operation{
			method: "POST", path: all, body: api.BodyCanvas, scope: edit, name: "createCanvas", status: created,
			about: "Create a canvas.",
		}, c.add),
		handle(operation{
			method: "GET", path: one, body: api.BodyNone, scope: read, name: "getCanvas",
			about: "Get a canvas with its document.",
		}, c.get),
		handle(operation{
			method: "PUT", path: one, body: api.BodyCanvas, scope: edit, name: "updateCanvas",
			about: "Update the given members of a canvas. With rev, the request fails unless the canvas still has " +
				"that revision.",
		}, c.update),
		handle(operation{
			method: "DELETE", path: one, body: api.BodyTiny, scope: edit, name: "deleteCanvas",
			about: "Delete a canvas with its versions and schedules. Its sessions are kept.",
		}, c.remove),
		handle(operation{
			method: "GET", path: one + "/events", body: api.BodyNone, scope: edit, name: "followCanvas",
			stream: true, events: true,
			about: "Follow a canvas as server-sent events: an event revision with rev and updated, now and after " +
				"each change, and an event people with the others who follow it on this host with page.",
		}, c.events),
		handle(operation{
			method: "POST", path: one + "/validate", body: api.BodyCanvas, scope: read, name: "validateCanvas",
			about: "Validate the saved document, or the one in the request body. The response lists all " +
				"diagnostics, and what becomes readable through the canvas if the caller publishes it.",
		}, c.validate),
		handle(operation{
			method: "POST", path: "/api/v2/validate", body: api.BodyCanvas, scope: read, name: "validateDocument",
			about: "Validate a document that is not stored. The response lists all diagnostics.",
		}, c.validateDocument),
		handle(operation{
			method: "POST", path: one + "/sessions", body: api.BodySmall, scope: app.ScopeRun, name: "createSession",
			about: "Create a session: a conversation with its own copy of the canvas.", status: created,
		}, c.addSession),
		handle(operation{
			method: "GET", path: one + "/sessions/{session}/messages", body: api.BodyNone, scope: read,
			name: "listMessages", about: "List the messages of a session, oldest first, those of 50 turns at a time.",
		}, c.messages),
		handle(operation{
			method: "GET", path: "/api/v2/tags", body: api.BodyNone, scope: read, name: "listTags",
			about: "List the tags of canvases, the most used first.",
		}, c.tags),
		handle(operation{
			method: "GET", path: "/api/v2/components", body: api.BodyNone, scope: read, name: "listComponents",
			about: "List the components that canvases can use, with the schemas of their params.",
		}, c.components),
	}
}

type canvasView struct {
	ID          string         `json:"id"`
	Title       string         `json:"title"`
	Description string         `json:"description"`
	Kind        string         `json:"kind" jsonschema:"agent, or pipeline, which cuts documents"`
	Permission  string         `json:"permission" jsonschema:"who may use it: me for its creator, team for all with a role in its project"`
	Project     string         `json:"project" jsonschema:"id of the project that holds it; empty for the default project"`
	Tags        []string       `json:"tags"`
	Rev         int64          `json:"rev" jsonschema:"increases by one with each change"`
	Created     time.Time      `json:"created"`
	Updated     time.Time      `json:"updated"`
	Published   *publishedView `json:"published,omitempty" jsonschema:"the published version; absent if the canvas is not published"`
	DSL         engine.Value   `json:"dsl,omitzero" jsonschema:"the document; absent in lists. If only its graph is stored, with the components that it draws"`
}

type canvasList struct {
	Items []canvasView `json:"items"`
	Total int          `json:"total" jsonschema:"number of matches on all pages"`
}

type diagnosticList struct {
	Diagnostics []engine.Diagnostic `json:"diagnostics"`
	Opened      []app.Opened        `json:"opened" jsonschema:"private datasets and memories of the caller that others would read through the canvas if the caller published it; without those that only a run finds out"`
}

type sessionView struct {
	ID       string       `json:"id"`
	Canvas   string       `json:"canvas"`
	User     string       `json:"user"`
	Messages engine.Value `json:"messages"`
	Created  time.Time    `json:"created"`
}

// canvasInput is read member by member: numbers count as texts, and members that are not known are
// ignored.
type canvasInput struct {
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Permission  string   `json:"permission,omitempty" jsonschema:"me for the creator only, or team for all with a role in the project; default me"`
	Project     string   `json:"project,omitempty" jsonschema:"id of its project; empty for the default project"`
	Tags        []string `json:"tags,omitempty" jsonschema:"replace the tags: at most 20 of 50 characters, without commas"`
	DSL         document `json:"dsl,omitempty" jsonschema:"the document of the canvas"`
	Rev         int64    `json:"rev,omitempty" jsonschema:"fail unless the current revision is this one"`

	patch app.CanvasPatch // with the members above
	rev   *int64          // nil when it is not given
}

func (in *canvasInput) readBody(r *api.Request) (err error) {
	if in.DSL, err = r.Document(); err != nil {
		return err
	}
	in.patch = r.Body.CanvasPatch()
	in.patch.DSL, in.patch.Publish = in.DSL, false // publishing is a separate operation
	if in.patch.Title != nil {
		in.Title = *in.patch.Title
	}
	if !r.Body.Get("tags").IsNull() {
		in.Tags = append([]string{}, r.Body.Texts("tags")...)
		in.patch.Tags = &in.Tags
	}
	if rev, given := r.Body.Get("rev").Int(); given {
		in.Rev, in.rev = rev, &rev
	}
	return r.Body.Valid()
}

// documentInput is a document to check.
type documentInput struct {
	DSL document `json:"dsl,omitempty"`
}

func (in *documentInput) readBody(r *api.Request) (err error) {
	in.DSL, _, err = r.SentDocument()
	return err
}

// sessionInput is read member by member.
type sessionInput struct {
	User string `json:"user,omitempty" jsonschema:"user id, the value of sys.user_id"`
	Name string `json:"name,omitempty"`

	Published bool `json:"published,omitempty" jsonschema:"start with a copy of the published version"`
}

func (in *sessionInput) readBody(r *api.Request) error {
	in.User, in.Name, in.Published = r.Body.Text("user"), r.Body.Text("name"), r.Body.Flag("published", false)
	return r.Body.Valid()
}

// canvasViewOf describes a canvas; dsl is null in lists.
func canvasViewOf(v app.Canvas, dsl engine.Value) canvasView {
	out := canvasView{
		ID: v.ID, Title: v.Title, Description: v.Description, Kind: kindAgent, Permission: v.Permission,
		Project: v.Project, Tags: append([]string{}, v.Tags...), Rev: v.Rev,
		Created: timeOf(v.CreateTime), Updated: timeOf(v.UpdateTime), DSL: dsl,
	}
	if v.Category == app.DataflowCategory {
		out.Kind = kindPipeline
	}
	if v.Published != "" {
		out.Published = &publishedView{v.Published, timeOf(v.PublishTime)}
	}
	return out
}

// versionTitle names a version that is made now.
func versionTitle(title string) string { return title + "_" + time.Now().Format("2006_01_02_15_04_05") }

// Kinds of canvases.
const (
	kindAgent    = "agent"
	kindPipeline = "pipeline"
)

// categorize stores with a document whether it is a pipeline, unless the caller has set it. One
// that does not load keeps what is stored.
func (c canvases) categorize(patch *app.CanvasPatch) {
	if patch.Category != nil || patch.DSL == nil {
		return
	}
	canvas, err := c.Canvases.Load(patch.DSL)
	if err != nil {
		return
	}
	category := app.AgentCategory
	if canvas.IsPipeline() {
		category = app.DataflowCategory
	}
	patch.Category = &category
}

type listCanvases struct {
	Who      app.Principal
	Keywords string   `query:"keywords" jsonschema:"only canvases with these words in the title"`
	Kind     string   `query:"kind" jsonschema:"only agents (agent) or pipelines (pipeline)"`
	Project  *string  `query:"project" jsonschema:"only canvases of the project with this id; empty for the default project"`
	Tag      string   `query:"tag" jsonschema:"only canvases with this tag"`
	Page     app.Page `order:"update_time"`
}

func (c canvases) list(ctx context.Context, in listCanvases) (canvasList, error) {
	filter := app.CanvasFilter{Keywords: in.Keywords, Project: in.Project}
	if in.Tag != "" {
		if strings.Contains(in.Tag, ",") {
			return canvasList{}, badQuery("tag must be one tag, without commas, not %.60q", in.Tag)
		}
		filter.Tags = []string{in.Tag}
	}
	switch in.Kind {
	case "":
	case kindAgent:
		filter.Categories = []string{app.AgentCategory}
	case kindPipeline:
		filter.Categories = []string{app.DataflowCategory}
	default:
		return canvasList{}, badQuery("kind must be %s or %s, not %.40q", kindAgent, kindPipeline, in.Kind)
	}
	rows, total, err := c.Canvases.List(ctx, in.Who, filter, in.Page)
	out := canvasList{Items: make([]canvasView, len(rows)), Total: total}
	for i, v := range rows {
		out.Items[i] = canvasViewOf(v, engine.Null)
	}
	return out, err
}

type tagView struct {
	Tag   string `json:"tag"`
	Count int    `json:"count" jsonschema:"number of canvases that have it"`
}

func (c canvases) tags(ctx context.Context, in byTenant) (list[tagView], error) {
	all, err := c.Canvases.Tags(ctx, in.Who, nil)
	out := list[tagView]{Items: make([]tagView, len(all))}
	for i, v := range all {
		out.Items[i] = tagView(v)
	}
	return out, err
}

type addCanvas struct {
	Who  app.Principal
	Body canvasInput
}

func (c canvases) add(ctx context.Context, in addCanvas) (canvasView, error) {
	if in.Body.DSL == nil || in.Body.Title == "" {
		return canvasView{}, app.BadArgument("title or dsl is missing; expected a title and the document of a canvas")
	}
	c.categorize(&in.Body.patch)
	v, err := c.Canvases.Create(ctx, in.Who, in.Body.patch, versionTitle)
	return canvasViewOf(v, c.Canvases.Document(v.DSL)), err
}

type canvasByID struct {
	Who app.Principal
	ID  string `path:"id"`
}

func (c canvases) get(ctx context.Context, in canvasByID) (canvasView, error) {
	v, err := c.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return canvasView{}, err
	}
	return canvasViewOf(v, c.Canvases.Document(v.DSL)), nil
}

type updateCanvas struct {
	Who  app.Principal
	ID   string `path:"id"`
	Body canvasInput
}

func (c canvases) update(ctx context.Context, in updateCanvas) (canvasView, error) {
	v, err := c.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return canvasView{}, err
	}
	c.categorize(&in.Body.patch)
	v, err = c.Canvases.Edit(ctx, v, app.CanvasEdit{
		CanvasPatch: in.Body.patch, VersionTitle: versionTitle, Rev: in.Body.rev, Author: in.Who,
	})
	if err != nil {
		return canvasView{}, err
	}
	return canvasViewOf(v, c.Canvases.Document(v.DSL)), nil
}

func (c canvases) remove(ctx context.Context, in canvasByID) (empty, error) {
	return empty{}, c.Canvases.Delete(ctx, in.Who, in.ID)
}

type validate struct {
	Who  app.Principal
	ID   string `path:"id"`
	Body documentInput
}

func (c canvases) validate(ctx context.Context, in validate) (diagnosticList, error) {
	v, err := c.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return diagnosticList{}, err
	}
	dsl := []byte(in.Body.DSL)
	if dsl == nil {
		dsl = v.DSL
	}
	return c.diagnostics(ctx, in.Who, dsl)
}

func (c canvases) diagnostics(ctx context.Context, who app.Principal, dsl []byte) (out diagnosticList, err error) {
	out.Diagnostics, out.Opened, err = c.Canvases.Diagnostics(ctx, who, dsl)
	if out.Diagnostics == nil {
		out.Diagnostics = []engine.Diagnostic{}
	}
	if out.Opened == nil {
		out.Opened = []app.Opened{}
	}
	return out, err
}

type validateDocument struct {
	Who  app.Principal
	Body documentInput
}

func (c canvases) validateDocument(ctx context.Context, in validateDocument) (diagnosticList, error) {
	if in.Body.DSL == nil {
		return diagnosticList{}, app.BadArgument("dsl is missing; expected the document of a canvas")
	}
	return c.diagnostics(ctx, in.Who, in.Body.DSL)
}

type addSession struct {
	Who  app.Principal
	ID   string `path:"id"`
	Body sessionInput
}

func (c canvases) addSession(ctx context.Context, in addSession) (sessionView, error) {
	v, err := c.Canvases.Get(ctx, in.Who, in.ID)
	if err == nil {
		v, err = c.Canvases.Chosen(ctx, v, in.Body.Published)
	}
	if err != nil {
		return sessionView{}, err
	}
	user := in.Body.User
	if user == "" {
		user = in.Who.User
	}
	s, err := c.Sessions.Create(ctx, app.NewSession{
		Canvas: v, User: user, Name: in.Body.Name, Source: app.SourceOwn, Greet: true,
	})
	return sessionView{s.ID, s.Canvas, s.User, api.DocumentOf(s.Messages), timeOf(s.CreateTime)}, err
}

// pageTurns is the number of turns on a page of messages.
const pageTurns = 50

type listMessages struct {
	Who     app.Principal
	ID      string `path:"id"`
	Session string `path:"session"`
	After   string `query:"after" jsonschema:"next of the previous page"`
}

type messageList struct {
	Items []engine.Value `json:"items" jsonschema:"message with role, content and id; created_at of answers in seconds"`
	Next  string         `json:"next,omitempty" jsonschema:"value of after for the next page; absent on the last page"`
}

func (c canvases) messages(ctx context.Context, in listMessages) (messageList, error) {
	after, err := strconv.ParseInt(cmp.Or(in.After, "-1"), 10, 64)
	if err != nil || after < -1 {
		return messageList{}, app.BadArgument(
			"argument after must be the next of a page of this list, not %.80q", in.After,
		)
	}
	turns, more, err := c.Sessions.Messages(ctx, in.Who, in.ID, in.Session, after, pageTurns)
	if err != nil {
		return messageList{}, err
	}
	out := messageList{Items: []engine.Value{}}
	for _, t := range turns {
		for _, m := range api.DocumentOf(t).Elements() {
			out.Items = append(out.Items, m)
		}
	}
	if more > 0 {
		out.Next = strconv.FormatInt(after+pageTurns, 10)
	}
	return out, nil
}

// componentList is the palette of canvases.
type componentList struct {
	Items []engine.Value `json:"items" jsonschema:"description of a component: name, docs, params, inputs and outputs"`
}

func (c canvases) components(context.Context, struct{}) (componentList, error) {
	var out componentList
	for _, s := range c.Registry.Specs() {
		if !s.Hidden {
			out.Items = append(out.Items, s.Describe())
		}
	}
	return out, nil
}
