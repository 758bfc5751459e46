package api

import (
	"maps"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Lists of canvases, as the dialects ask for them.

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
	named, page := f.ID != "" || f.Title != "", p
	if named {
		page.Limit, page.Offset = 0, 0
	}
	list, _, err := a.cfg.Store.Canvases(c.ctx(), f, page)
	if err != nil {
		return err
	}
	if named {
		// The store finds titles in any case; this list is asked for one as it is.
		list = slices.DeleteFunc(list, func(v store.Canvas) bool { return f.Title != "" && v.Title != f.Title })
		if len(list) == 0 {
			return failed(codeData, "The agent doesn't exist.")
		}
		list = cut(list, p)
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
	f.Tags = c.names("tags")
	list, total, err := c.a.cfg.Store.Canvases(c.ctx(), f, p)
	if err != nil {
		return err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = c.canvasRow(v)
	}
	return c.ok(engine.Object("canvas", engine.List(rows...), "total", total))
}

// cut is a page of a list that is held whole.
func cut[T any](list []T, p store.Page) []T {
	list = list[min(p.Offset, len(list)):]
	if p.Limit > 0 {
		list = list[:min(p.Limit, len(list))]
	}
	return list
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

// countCanvases answers the owners and kinds of canvases with their counts, for
// lists of filters.
func (c *call) countCanvases(f store.CanvasFilter) error {
	list, total, err := c.a.cfg.Store.Canvases(c.ctx(), f, store.Page{Documents: store.NoDocuments})
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
