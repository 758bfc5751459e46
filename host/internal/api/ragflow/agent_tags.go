package ragflow

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
	"github.com/easel-canvas/easel/host/internal/app"
)

// tags counts the tags in use, the most used first.
func (a agents) tags(ctx context.Context, r *api.Request) (api.Response, error) {
	f := app.CanvasFilter{}
	if v := r.Query.Get("canvas_category"); v != "" {
		f.Categories = []string{v}
	}
	list, _, err := a.Services.Canvases.List(ctx, r.Who, f, app.Page{Documents: app.NoDocuments})
	if err != nil {
		return nil, err
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
	return envelope.OK(engine.List(rows...)), nil
}

// setTags replaces the tags of a canvas: a list, or a text with commas.
func (a agents) setTags(ctx context.Context, r *api.Request) (api.Response, error) {
	var given []string
	if v := r.Body.Get("tags"); v.Kind() == engine.KindString {
		given = strings.Split(v.Str(), ",")
	} else {
		given = r.Body.Texts("tags")
	}
	if err := r.Body.Valid(); err != nil {
		return nil, err
	}
	tags := []string{}
	for _, t := range given {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	id := r.Params["id"]
	denied := api.Refused(api.KindNotOwner, "Agent not found or no permission.")
	if _, err := a.canvas(ctx, r, id, denied); err != nil {
		return nil, err
	}
	return done(a.Services.Canvases.SetTags(ctx, r.Who, id, tags))
}
