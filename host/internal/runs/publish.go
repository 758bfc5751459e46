package runs

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
	"github.com/easel-canvas/easel/host/internal/store"
)

// canvases reads the documents of canvases and compiles them.
type canvases struct {
	store  *store.Store
	plans  plans
	memory *memlimit.Budget // of documents at work; nil means no bound
}

// Published returns a canvas for its users: with the document and the title of its published
// version instead of the draft's.
//
// Errors: [ErrUnpublished].
func (cs *canvases) Published(ctx context.Context, c store.Canvas) (store.Canvas, error) {
	if c.Published == "" {
		return c, fmt.Errorf("canvas %q: %w", c.ID, ErrUnpublished)
	}
	v, err := cs.store.Canvases.Version(ctx, c.Tenant, c.Published)
	if errors.Is(err, store.ErrNotFound) { // gone with its canvas since that was read
		return c, fmt.Errorf("canvas %q: %w", c.ID, ErrUnpublished)
	}
	c.DSL, c.VersionTitle, c.Version = v.DSL, v.Title, v.ID
	return c, err
}

// ActorOf returns for whom the document of a canvas acts unattended: who published it,
// or the author of the draft.
func ActorOf(c *store.Canvas) access.Actor {
	if c.Version != "" && c.Version == c.Published {
		return access.Actor{User: c.Publisher, As: access.Publisher}
	}
	return access.Actor{User: c.Author, As: access.Author}
}

// Current returns the canvas of a job: with its document as it was saved last, or with the
// published one. Errors: [store.ErrNotFound], [ErrUnpublished].
func (cs *canvases) Current(ctx context.Context, j *Job) (store.Canvas, error) {
	c, err := cs.store.Canvases.Get(ctx, j.Tenant, j.Canvas)
	if err == nil && j.Published {
		c, err = cs.Published(ctx, c)
	}
	return c, err
}
