package api

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// listTags counts the tags in use, the most used first.
func (a *API) listTags(c *call) error {
	f := store.CanvasFilter{Tenants: []string{c.who.tenant}}
	if v := c.query.Get("canvas_category"); v != "" {
		f.Categories = []string{v}
	}
	list, _, err := a.cfg.Store.Canvases(c.ctx(), f, store.Page{Documents: store.NoDocuments})
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
