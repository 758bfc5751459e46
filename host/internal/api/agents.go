package api

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

var agentRoutes = []route{
	{method: "GET", path: "/api/v1/agents", scope: "read", answer: (*API).listAgents},
	{method: "POST", path: "/api/v1/agents", scope: "edit", answer: (*API).createAgent},
	{method: "GET", path: "/api/v1/agents/{id}", scope: "read", answer: (*API).getAgent},
	{method: "PUT", path: "/api/v1/agents/{id}", scope: "edit", answer: (*API).updateAgent},
	{method: "DELETE", path: "/api/v1/agents/{id}", scope: "edit", answer: (*API).deleteAgent},
	{method: "GET", path: "/api/v1/agents/tags", scope: "read", answer: (*API).listTags},
	{method: "PUT", path: "/api/v1/agents/{id}/tags", scope: "edit", answer: (*API).setTags},
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

// page reads paging from the query; a size of 0 is everything.
func (c *call) page(size int, order string, desc bool) (store.Page, error) {
	n, err := c.number("page", 1)
	if err != nil {
		return store.Page{}, err
	}
	if size, err = c.number("page_size", size); err != nil {
		return store.Page{}, err
	}
	p := store.Page{Limit: size, Offset: max(n-1, 0) * size, Order: order, Asc: !c.asked("desc", desc)}
	if by := c.query.Get("orderby"); by != "" {
		p.Order = by
	}
	return p, nil
}

func (a *API) listAgents(c *call) error {
	p, err := c.page(defaultPageSize, "update_time", c.newer())
	if err != nil {
		return err
	}
	f := store.CanvasFilter{Tenants: []string{c.who.tenant}}
	if c.newer() {
		return c.listCanvases(f, p)
	}
	f.ID, f.Title, f.Categories = c.query.Get("id"), c.query.Get("title"), []string{agentCategory}
	list, _, err := a.cfg.Store.Canvases(c.ctx(), f, p)
	if errors.Is(err, store.ErrInvalid) {
		return failed(codeException, "%s", err)
	}
	if err != nil {
		return err
	}
	// The store finds titles in any case; this list is asked for one as it is.
	list = slices.DeleteFunc(list, func(v store.Canvas) bool { return f.Title != "" && v.Title != f.Title })
	if len(list) == 0 && (f.ID != "" || f.Title != "") {
		return failed(codeData, "The agent doesn't exist.")
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = agentRow(v).Value()
	}
	return c.result(engine.List(rows...))
}

// listCanvases answers {canvas, total}, as the editor and the 0.27 dialect
// want it.
func (c *call) listCanvases(f store.CanvasFilter, p store.Page) error {
	f.Keywords = c.query.Get("keywords")
	f.Categories = c.names("canvas_category")
	if v := c.query.Get("canvas_type"); v != "" {
		f.Types = []string{v}
	}
	if ids := c.names("owner_ids"); len(ids) > 0 {
		none, err := c.owners(&f, ids)
		if err != nil {
			return err
		}
		if none {
			return c.ok(engine.Object("canvas", engine.List(), "total", 0))
		}
	}
	if c.query.Get("type") == "filter" {
		return c.countCanvases(f)
	}
	list, total, err := c.pageOf(f, p)
	if errors.Is(err, store.ErrInvalid) {
		return failed(codeException, "%s", err)
	}
	if err != nil {
		return err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = c.canvasRow(v)
	}
	return c.ok(engine.Object("canvas", engine.List(rows...), "total", total))
}

// pageOf gives one page of canvases, with how many there are in all. Tags,
// which the store does not look into, are compared here.
func (c *call) pageOf(f store.CanvasFilter, p store.Page) ([]store.Canvas, int, error) {
	wanted := c.names("tags")
	if len(wanted) == 0 {
		return c.a.cfg.Store.Canvases(c.ctx(), f, p)
	}
	every := p
	every.Limit, every.Offset = 0, 0
	list, _, err := c.a.cfg.Store.Canvases(c.ctx(), f, every)
	if err != nil {
		return nil, 0, err
	}
	list = slices.DeleteFunc(list, func(v store.Canvas) bool {
		return !slices.ContainsFunc(wanted, func(t string) bool { return slices.Contains(v.Tags, t) })
	})
	total := len(list)
	list = list[min(p.Offset, total):]
	if p.Limit > 0 {
		list = list[:min(p.Limit, len(list))]
	}
	return list, total, nil
}

// owners narrows a list to canvases of the given people. Somebody outside the
// tenant owns nothing that could be listed; the 0.27 dialect refuses to ask.
func (c *call) owners(f *store.CanvasFilter, ids []string) (none bool, err error) {
	members, err := c.a.cfg.Store.Members(c.ctx(), c.who.tenant)
	if err != nil {
		return false, err
	}
	known := map[string]bool{c.who.tenant: true, c.who.user: true}
	for _, m := range members {
		known[m.User] = true
	}
	outside := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return known[id] })
	switch {
	case len(outside) > 0 && c.newer():
		return false, refused(codeOperating, "Only authorized owner_ids can be queried.")
	case len(ids) > 0 && len(outside) == len(ids):
		return true, nil
	case len(ids) == 1 && ids[0] != c.who.tenant: // a tenant's id stands for all of it
		f.User = ids[0]
	}
	return false, nil
}

// countCanvases answers whose canvases and of which kinds there are, for
// whoever offers filters.
func (c *call) countCanvases(f store.CanvasFilter) error {
	list, total, err := c.a.cfg.Store.Canvases(c.ctx(), f, store.Page{})
	if err != nil {
		return err
	}
	owners, categories := map[string]int{}, map[string]int{}
	for _, v := range list {
		owners[v.User]++
		categories[v.Category]++
	}
	of := func(counts map[string]int, label func(id string) string) engine.Value {
		rows := engine.List()
		for _, id := range slices.Sorted(maps.Keys(counts)) {
			rows = rows.Append(engine.Object("id", id, "label", label(id), "count", counts[id]))
		}
		return rows
	}
	itself := func(id string) string { return id }
	filter := engine.Object("owner", of(owners, c.nickname), "canvas_category", of(categories, itself))
	return c.ok(engine.Object("filter", filter, "total", total))
}

// canvas finds a canvas of the caller; none says what to answer when there is
// none, or it is another tenant's.
func (c *call) canvas(id string, none error) (store.Canvas, error) {
	v, err := c.a.cfg.Store.Canvas(c.ctx(), c.who.tenant, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !c.who.mayUse(id) {
		return store.Canvas{}, none
	}
	return v, err
}

// dsl is the document of a request, an object or JSON text, as bytes.
func (c *call) dsl() ([]byte, error) {
	switch v := c.body.Get("dsl"); v.Kind() {
	case engine.KindNull:
		return nil, nil
	case engine.KindObject:
		return v.AppendJSON(nil), nil
	case engine.KindString:
		doc, err := engine.ParseJSONText(v.Str())
		if err != nil || doc.Kind() != engine.KindObject {
			return nil, refused(codeArgument, "The dsl is no JSON object.")
		}
		return []byte(v.Str()), nil
	default:
		return nil, refused(codeArgument, "argument dsl must be an object, not %s", aKind(v.Kind()))
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
	list, _, err := c.a.cfg.Store.Canvases(c.ctx(), f, store.Page{Limit: 10})
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

// fill takes the members of a body that a canvas has.
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
	if !c.body.Get("release").IsNull() {
		v.Released = c.flag("release", v.Released)
	}
}

// newCanvas makes the canvas of a body and stores it.
func (c *call) newCanvas(dsl []byte) (store.Canvas, error) {
	v := store.Canvas{Tenant: c.who.tenant, User: c.who.user, Category: agentCategory, Permission: permissionMe, DSL: dsl}
	c.fill(&v)
	if err := c.checkCanvas(&v); err != nil {
		return v, err
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
	if dsl != nil {
		version = c.versionTitle(next.Title)
	}
	return c.a.cfg.Store.EditCanvas(c.ctx(), c.who.tenant, id, version, func(v *store.Canvas) error {
		c.fill(v)
		if dsl != nil {
			v.DSL = dsl
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

// listTags counts the tags in use, the most used first.
func (a *API) listTags(c *call) error {
	f := store.CanvasFilter{Tenants: []string{c.who.tenant}}
	if v := c.query.Get("canvas_category"); v != "" {
		f.Categories = []string{v}
	}
	list, _, err := a.cfg.Store.Canvases(c.ctx(), f, store.Page{})
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, v := range list {
		for _, t := range v.Tags {
			counts[t]++
		}
	}
	tags := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	rows := make([]engine.Value, len(tags))
	for i, t := range tags {
		rows[i] = engine.Object("tag", t, "count", counts[t])
	}
	return c.ok(engine.List(rows...))
}

// setTags replaces the tags of a canvas: a list, or a text with commas.
func (a *API) setTags(c *call) error {
	var given []string
	if v := c.body.Get("tags"); v.Kind() == engine.KindString {
		given = strings.Split(v.Str(), ",")
	} else {
		given = c.texts("tags")
	}
	if err := c.valid(); err != nil {
		return err
	}
	tags := []string{}
	for _, t := range given {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	if _, err := c.canvas(c.params["id"], refused(codeOperating, "Agent not found or no permission.")); err != nil {
		return err
	}
	_, err := a.cfg.Store.EditCanvas(c.ctx(), c.who.tenant, c.params["id"], "", func(v *store.Canvas) error {
		v.Tags = tags
		return nil
	})
	if err != nil {
		return err
	}
	return c.ok(engine.Bool(true))
}
