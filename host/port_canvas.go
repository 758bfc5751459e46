package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// draft names the saved canvas instead of one of its versions.
const draft = "draft"

// canvasPort finds canvases of one tenant for runs that use them as nodes.
type canvasPort struct {
	store  *store.Store
	runs   func() *runs.Runs
	tenant string
}

// Canvas returns the published version of a canvas, or the one that is named by its id or title.
func (p canvasPort) Canvas(ctx context.Context, id, version string) (*engine.Canvas, error) {
	c, err := p.store.Canvases.Get(ctx, p.tenant, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, errors.New("no such canvas in this tenant")
	}
	if err != nil {
		return nil, err
	}
	doc := c.DSL
	switch version {
	case draft:
	case "":
		published, err := p.runs().Published(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%w: publish it, or name a version or %q", err, draft)
		}
		doc = published.DSL
	default:
		if doc, err = p.version(ctx, id, version); err != nil {
			return nil, err
		}
	}
	return p.runs().Load(doc)
}

func (p canvasPort) version(ctx context.Context, canvas, name string) ([]byte, error) {
	list, err := p.store.Canvases.Versions(ctx, p.tenant, canvas)
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		if v.ID == name || v.Title == name {
			return v.DSL, nil
		}
	}
	return nil, fmt.Errorf("no version %q", name)
}
