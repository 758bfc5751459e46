package api

import (
	"errors"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

var agentRoutes = []route{
	{method: "GET", path: "/api/v1/agents", body: bodyNone, scope: scopeRead, answer: (*API).listAgents},
	{method: "POST", path: "/api/v1/agents", body: bodyCanvas, scope: scopeEdit, answer: (*API).createAgent},
	{method: "GET", path: "/api/v1/agents/{id}", body: bodyNone, scope: scopeRead, answer: (*API).getAgent},
	{method: "PUT", path: "/api/v1/agents/{id}", body: bodyCanvas, scope: scopeEdit, answer: (*API).updateAgent},
	{method: "DELETE", path: "/api/v1/agents/{id}", body: bodyTiny, scope: scopeEdit, answer: (*API).deleteAgent},
	{method: "GET", path: "/api/v1/agents/tags", body: bodyNone, scope: scopeRead, answer: (*API).listTags},
	{method: "PUT", path: "/api/v1/agents/{id}/tags", body: bodySmall, scope: scopeEdit, answer: (*API).setTags},
}

const (
	agentCategory   = "agent_canvas"
	permissionMe    = "me"
	longestTitle    = 255
	defaultPageSize = 30
)

// agentRow is a canvas as the 0.23 dialect lists it.
func agentRow(c store.Canvas) *engine.ObjectBuilder {
	b := engine.NewObject(16)
	b.Set("id", engine.String(c.ID)).Set("title", engine.String(c.Title)).Set("avatar", orNull(c.Avatar))
	b.Set("user_id", engine.String(c.User)).Set("permission", engine.String(c.Permission))
	b.Set("description", orNull(c.Description)).Set("canvas_type", orNull(c.Type))
	b.Set("canvas_category", engine.String(c.Category)).Set("dsl", document(c.DSL))
	setTimes(b, c.CreateTime, c.UpdateTime)
	return b
}

// canvasRow is a canvas as the editor and the 0.27 dialect read it.
func (c *call) canvasRow(v store.Canvas) engine.Value {
	b := agentRow(v)
	b.Set("tenant_id", engine.String(v.Tenant)).Set("nickname", engine.String(c.nickname(v.User)))
	b.Set("tenant_avatar", engine.Null).Set("type", engine.String("agent"))
	b.Set("release", engine.Bool(v.Released)).Set("tags", engine.Strings(v.Tags...)).Set("last_publish_time", engine.Null)
	if c.newer() {
		at := engine.Null
		if v.Published != "" {
			at = engine.Int(v.PublishTime)
		}
		b.Set("last_publish_time", at).Set("release_time", at)
	}
	return b.Value()
}

// nickname is how a user is called; the id serves when nothing is known.
func (c *call) nickname(user string) string {
	u, err := c.a.cfg.Store.User(c.ctx(), user)
	if err != nil || u.Nickname == "" {
		return user
	}
	return u.Nickname
}

// canvas finds a canvas of the caller; none says what to answer when there is
// none, or it is another tenant's.
func (c *call) canvas(id string, none error) (store.Canvas, error) {
	v, err := c.a.cfg.Store.Canvas(c.ctx(), c.who.tenant, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !c.who.mayUse(id) {
		return store.Canvas{}, none
	}
	if err == nil {
		err = c.reserveStored(v.DSL)
	}
	return v, err
}

// dsl is the document of a request that saves it, as bytes; nil when there is none. One without
// nodes is refused: no editor makes it, and nothing could run it.
func (c *call) dsl() ([]byte, error) {
	text, doc, err := c.sentDocument()
	if err == nil && text != nil && !hasNodes(doc) {
		f := refused(codeArgument, `dsl has no components: a canvas needs at least the node "begin", a pipeline "File"`)
		f.param = "dsl"
		return nil, f
	}
	return text, err
}

// hasNodes reports whether a document has components, or a drawing of them that its editor has not
// turned into components yet.
func hasNodes(doc engine.Value) bool {
	filled := func(v engine.Value, kind engine.Kind) bool { return v.Kind() == kind && v.Len() > 0 }
	return filled(doc.Get("components"), engine.KindObject) || filled(doc.Get("graph").Get("nodes"), engine.KindList)
}

// sentDocument is the document of a request, an object or JSON text. What it takes to check and to
// store it is reserved.
func (c *call) sentDocument() (text []byte, doc engine.Value, err error) {
	if c.length > largeStored {
		if err := c.reserve(3*int64(c.length) + c.memory.decoded); err != nil {
			return nil, engine.Null, err
		}
	}
	switch v := c.body.Get("dsl"); v.Kind() {
	case engine.KindNull:
		return nil, engine.Null, nil
	case engine.KindObject:
		return v.AppendJSON(make([]byte, 0, c.length)), v, nil
	case engine.KindString:
		doc, err := c.parse(v.Str())
		if f := (*failure)(nil); errors.As(err, &f) {
			return nil, engine.Null, err
		}
		if err != nil || doc.Kind() != engine.KindObject {
			return nil, engine.Null, refused(codeArgument, "dsl is not a JSON object")
		}
		return []byte(v.Str()), doc, nil
	default:
		return nil, engine.Null, refused(codeArgument, "argument dsl must be an object, not %s", aKind(v.Kind()))
	}
}

// versionTitle names a version that is made now.
func (c *call) versionTitle(title string) string {
	if c.newer() {
		return c.nickname(c.who.user) + "_" + title + "_" + time.Now().Format("2006-01-02 15:04:05")
	}
	return title + "_" + time.Now().Format("2006_01_02_15_04_05")
}

// taken refuses a title that the tenant uses already.
func (c *call) taken(title, category, except string) error {
	f := store.CanvasFilter{Tenants: []string{c.who.tenant}, Title: title}
	if category != "" {
		f.Categories = []string{category}
	}
	list, _, err := c.a.cfg.Store.Canvases(c.ctx(), f, store.Page{Limit: 10, Documents: store.NoDocuments})
	if err != nil {
		return err
	}
	for _, v := range list {
		exact := c.newer() || category != "" || v.Title == title
		if v.ID != except && exact {
			if c.newer() || category != "" {
				return failed(codeData, "%s already exists.", title)
			}
			return failed(codeData, "Agent with title %s already exists.", title)
		}
	}
	return nil
}

// fill takes the members of a body that a canvas has, and in the 0.27 dialect
// whether it is to be published.
func (c *call) fill(v *store.Canvas) {
	set := func(to *string, name string) {
		if !c.body.Get(name).IsNull() {
			*to = c.text(name)
		}
	}
	set(&v.Title, "title")
	v.Title = strings.TrimSpace(v.Title)
	set(&v.Description, "description")
	set(&v.Avatar, "avatar")
	set(&v.Type, "canvas_type")
	set(&v.Category, "canvas_category")
	set(&v.Permission, "permission")
	v.Released = c.flag("release", false) && c.newer()
}

// newCanvas makes the canvas of a body and stores it.
func (c *call) newCanvas(dsl []byte) (store.Canvas, error) {
	v := store.Canvas{Tenant: c.who.tenant, User: c.who.user, Category: agentCategory, Permission: permissionMe, DSL: dsl}
	c.fill(&v)
	if err := c.checkCanvas(&v); err != nil {
		return v, err
	}
	if v.Released {
		if err := c.publishable(dsl); err != nil {
			return v, err
		}
	}
	return c.a.cfg.Store.CreateCanvas(c.ctx(), v, c.versionTitle(v.Title))
}

func (c *call) checkCanvas(v *store.Canvas) error {
	if err := c.valid(); err != nil {
		return err
	}
	if v.Title == "" {
		return refused(codeArgument, "No title in request.")
	}
	if len([]rune(v.Title)) > longestTitle {
		return refused(codeArgument, "The title has more than %d characters.", longestTitle)
	}
	if v.Permission != permissionMe && v.Permission != "team" {
		return refused(codeArgument, "permission must be me or team, not %.40q", v.Permission)
	}
	return nil
}

func (a *API) createAgent(c *call) error {
	dsl, err := c.dsl()
	switch {
	case err != nil:
		return err
	case dsl == nil:
		return refused(codeArgument, "No DSL data in request.")
	}
	title := strings.TrimSpace(c.text("title"))
	if title == "" {
		return refused(codeArgument, "No title in request.")
	}
	category := ""
	if c.newer() {
		if category = c.text("canvas_category"); category == "" {
			category = agentCategory
		}
	}
	if err := c.taken(title, category, ""); err != nil {
		return err
	}
	v, err := c.newCanvas(dsl)
	if err != nil {
		return err
	}
	if c.newer() {
		return c.ok(c.canvasRow(v))
	}
	return c.ok(engine.Bool(true))
}

func (a *API) getAgent(c *call) error {
	v, err := c.canvas(c.params["id"], failed(codeData, noCanvas))
	if err != nil {
		return err
	}
	return c.ok(c.canvasRow(v))
}

func (a *API) updateAgent(c *call) error {
	denied := refused(codeOperating, notOwner)
	if c.newer() {
		denied = refused(codeOperating, notAccess)
	}
	v, err := c.canvas(c.params["id"], denied)
	if err != nil {
		return err
	}
	dsl, err := c.dsl()
	if err != nil {
		return err
	}
	if c.newer() && dsl != nil {
		if _, err := engine.Load(a.cfg.Registry, dsl); err != nil {
			return refused(codeArgument, "%s", err)
		}
	}
	v, err = c.change(v.ID, dsl)
	if err != nil {
		return err
	}
	if c.newer() {
		return c.ok(engine.Object("update_time", v.UpdateTime))
	}
	return c.ok(engine.Bool(true))
}

// change writes the members of a body, and a document when there is one, over
// a canvas.
func (c *call) change(id string, dsl []byte) (store.Canvas, error) {
	old, err := c.a.cfg.Store.Canvas(c.ctx(), c.who.tenant, id)
	if err != nil {
		return old, err
	}
	next := old
	c.fill(&next)
	if err := c.checkCanvas(&next); err != nil {
		return old, err
	}
	if next.Title != old.Title {
		category := ""
		if c.newer() {
			category = next.Category
		}
		if err := c.taken(next.Title, category, id); err != nil {
			return old, err
		}
	}
	version := ""
	if dsl != nil || next.Released {
		version = c.versionTitle(next.Title)
	}
	return c.a.cfg.Store.EditCanvas(c.ctx(), c.who.tenant, id, version, func(v *store.Canvas) error {
		c.fill(v)
		if dsl != nil {
			v.DSL = dsl
		}
		if v.Released {
			return c.publishable(v.DSL)
		}
		return nil
	})
}

func (a *API) deleteAgent(c *call) error {
	denied := refused(codeOperating, notOwner)
	if c.newer() {
		denied = refused(codeOperating, notOwnerNewer)
	}
	if _, err := c.canvas(c.params["id"], denied); err != nil {
		return err
	}
	if err := c.deleteCanvas(c.params["id"]); err != nil {
		return err
	}
	return c.ok(engine.Bool(true))
}
