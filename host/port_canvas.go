package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// draft names the saved canvas instead of one of its versions.
const draft = "draft"

// canvasPort finds canvases for runs that use them as nodes. A canvas has to be one that the run
// may use; its published version then runs with the rights of its publisher, others as
// [access.Actor.Inside] decides.
type canvasPort struct {
	ports  *ports
	rights *rights
}

// Canvas implements [engine.Canvases].
func (p canvasPort) Canvas(ctx context.Context, q engine.CanvasQuery) (sub engine.SubCanvas, err error) {
	c, err := p.get(ctx, q.ID)
	if err != nil {
		return sub, err
	}
	document := runs.ActorOf(&c)
	switch q.Version {
	case draft:
	case "":
		if c, err = p.ports.canvases().Published(ctx, c); err != nil {
			return sub, fmt.Errorf("%w: publish it, or name a version or %q", err, draft)
		}
		document = runs.ActorOf(&c)
	default:
		v, err := p.version(ctx, q.ID, q.Version)
		if err != nil {
			return sub, err
		}
		c.DSL, c.Version, c.Author = v.DSL, v.ID, v.User
		document = runs.ActorOf(&c)
	}
	if q.Resumed {
		// The document and its rights come from the state of the run. An editor may have written
		// the state of a draft that is run by itself: canvases inside of it get no rights of
		// others.
		if document = access.ParseActor(q.Rights); !p.rights.trusted {
			document = access.Actor{As: access.Author}
		}
	}
	if sub.Canvas, err = p.ports.canvases().Load(c.DSL); err != nil {
		return sub, err
	}
	sub.Rights = document.Text()
	if actor := p.rights.actor.Inside(document); actor != p.rights.actor {
		sub.Reach = p.ports.reach(p.rights.of(actor))
	}
	return sub, nil
}

// get returns a canvas that the run may use. Its error is the same for one that does not exist.
func (p canvasPort) get(ctx context.Context, id string) (store.Canvas, error) {
	viewer, err := p.rights.viewer(ctx)
	if err != nil {
		return store.Canvas{}, err
	}
	c, err := p.ports.store.Canvases.Get(ctx, p.rights.tenant, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !viewer.Can(access.Run, c.Access()) {
		return store.Canvas{}, p.rights.lacks(errors.New("no such canvas in this tenant"))
	}
	return c, err
}

func (p canvasPort) version(ctx context.Context, canvas, name string) (store.Version, error) {
	list, err := p.ports.store.Canvases.Versions(ctx, p.rights.tenant, canvas)
	if err != nil {
		return store.Version{}, err
	}
	for _, v := range list {
		if v.ID == name || v.Title == name {
			return v, nil
		}
	}
	return store.Version{}, fmt.Errorf("no version %q", name)
}
