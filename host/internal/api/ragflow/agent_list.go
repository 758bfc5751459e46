package ragflow

import (
	"context"
	"maps"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Lists of canvases, as the dialects ask for them.

func (a agents) list(ctx context.Context, r *api.Request) (api.Response, error) {
	p, err := r.Query.Page(defaultPageSize, "update_time", a.listsNewestFirst())
	if err != nil {
		return nil, err
	}
	f := app.CanvasFilter{}
	if a.listsCanvases() {
		return a.listCanvases(ctx, r, f, p)
	}
	f.ID, f.Title, f.Categories = r.Query.Get("id"), r.Query.Get("title"), []string{app.AgentCategory}
	named, page := f.ID != "" || f.Title != "", p
	if named {
		page.Limit, page.Offset = 0, 0
	}
	list, _, err := a.Services.Canvases.List(ctx, r.Who, f, page)
	if err != nil {
		return nil, err
	}
	if named {
		// The store finds titles in any case; this list is asked for one as it is.
		list = slices.DeleteFunc(list, func(v app.Canvas) bool { return f.Title != "" && v.Title != f.Title })
		if len(list) == 0 {
			return nil, api.Failed(api.KindNotFound, "The agent doesn't exist.")
		}
		list = app.CutPage(list, p)
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = agentRow(v).Value()
	}
	return envelope.Result(engine.List(rows...)), nil
}

// listCanvases answers {canvas, total}, as the editor and the 0.27 dialect read it.
func (f *face) listCanvases(
	ctx context.Context, r *api.Request, filter app.CanvasFilter, p app.Page,
) (api.Response, error) {
	filter.Keywords = r.Query.Get("keywords")
	filter.Categories = r.Query.Names("canvas_category")
	if v := r.Query.Get("canvas_type"); v != "" {
		filter.Types = []string{v}
	}
	if ids := r.Query.Names("owner_ids"); len(ids) > 0 {
		none, err := f.owners(ctx, r, &filter, ids)
		if err != nil {
			return nil, err
		}
		if none {
			return envelope.OK(engine.Object("canvas", engine.List(), "total", 0)), nil
		}
	}
	if r.Query.Get("type") == "filter" {
		return f.countCanvases(ctx, r, filter)
	}
	filter.Tags = r.Query.Names("tags")
	list, total, err := f.Services.Canvases.List(ctx, r.Who, filter, p)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(list))
	for i, v := range list {
		rows[i] = f.canvasRow(ctx, v)
	}
	return envelope.OK(engine.Object("canvas", engine.List(rows...), "total", total)), nil
}

// owners narrows a list to canvases of the given people. Somebody outside the tenant owns nothing
// that could be listed.
func (f *face) owners(
	ctx context.Context, r *api.Request, filter *app.CanvasFilter, ids []string,
) (none bool, err error) {
	members, err := f.Services.Accounts.Members(ctx, r.Who.Tenant)
	if err != nil {
		return false, err
	}
	known := map[string]bool{r.Who.Tenant: true, r.Who.User: true}
	for _, m := range members {
		known[m.User] = true
	}
	outside := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return known[id] })
	if len(outside) > 0 {
		if err := f.foreignOwners(); err != nil {
			return false, err
		}
	}
	switch {
	case len(outside) == len(ids):
		return true, nil
	case len(ids) == 1 && ids[0] != r.Who.Tenant: // a tenant's id stands for all of it
		filter.User = ids[0]
	}
	return false, nil
}

// countCanvases answers the owners and kinds of canvases with their counts, for lists of filters.
func (f *face) countCanvases(
	ctx context.Context, r *api.Request, filter app.CanvasFilter,
) (api.Response, error) {
	list, total, err := f.Services.Canvases.List(ctx, r.Who, filter, app.Page{Documents: app.NoDocuments})
	if err != nil {
		return nil, err
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
	name := func(id string) string { return f.Services.Accounts.Nickname(ctx, id) }
	itself := func(id string) string { return id }
	counts := engine.Object("owner", of(owners, name), "canvas_category", of(categories, itself))
	return envelope.OK(engine.Object("filter", counts, "total", total)), nil
}
