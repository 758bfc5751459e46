package ragflow

import (
	"context"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/api/ragflow/envelope"
)

// tags counts the tags in use, the most used first.
func (a agents) tags(ctx context.Context, r *api.Request) (api.Response, error) {
	var categories []string
	if v := r.Query.Get("canvas_category"); v != "" {
		categories = []string{v}
	}
	tags, err := a.Services.Canvases.Tags(ctx, r.Who, categories)
	if err != nil {
		return nil, err
	}
	rows := make([]engine.Value, len(tags))
	for i, t := range tags {
		rows[i] = engine.Object("tag", t.Tag, "count", t.Count)
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
	id := r.Params["id"]
	denied := api.Refused(api.KindNotOwner, "Agent not found or no permission.")
	if _, err := a.canvas(ctx, r, id, denied); err != nil {
		return nil, err
	}
	return done(a.Services.Canvases.SetTags(ctx, r.Who, id, given))
}
