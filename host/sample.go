package host

import (
	"context"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/store"
)

// The built-in example for new users, and a question that it answers.
const (
	sampleTitle    = "shop"
	sampleQuestion = "How long can I return shoes?"
)

// installTemplates saves the templates as canvases of the first tenant. It is done once, so that
// a deleted sample is not added again.
func (h *Host) installTemplates(ctx context.Context, list []app.Template) error {
	for _, t := range list {
		title := t.Title.Get("en").Text()
		_, taken, err := h.store.Canvases.List(
			ctx, store.CanvasFilter{Viewer: access.All(firstTenantID), Title: title},
			store.Page{Documents: store.NoDocuments},
		)
		if err != nil {
			return err
		}
		if taken > 0 {
			continue // another host was faster
		}
		c := store.Canvas{
			Tenant: firstTenantID, User: firstUserID, Title: title, Description: t.Description.Get("en").Text(),
			Category: "agent_canvas", Permission: "me", DSL: t.DSL,
		}
		if _, err := h.store.Canvases.Create(ctx, c, title); err != nil {
			return fmt.Errorf("example %s: %w", title, err)
		}
	}
	return nil
}

// Sample returns the id of an installed canvas to try, and a question it answers; empty when there
// is none.
func (h *Host) Sample(ctx context.Context) (canvas, question string) {
	list, _, err := h.store.Canvases.List(
		ctx, store.CanvasFilter{Viewer: access.All(firstTenantID), Title: sampleTitle},
		store.Page{Limit: 1, Documents: store.NoDocuments},
	)
	if err != nil || len(list) == 0 {
		return "", ""
	}
	return list[0].ID, sampleQuestion
}
