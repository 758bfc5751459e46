package v2

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// lookEvery is how often a stream looks for a new revision, which another host may have made, and
// for people. The store is asked once for all streams, see [app.Revisions].
const lookEvery = time.Second

type followCanvas struct {
	Who  app.Principal
	ID   string `path:"id"`
	Page string `query:"page" jsonschema:"any id of the page that follows, which others see as present"`
}

// revisionView is the data of an event revision.
type revisionView struct {
	Rev     int64     `json:"rev"`
	Updated time.Time `json:"updated"`
}

// peopleView is the data of an event people.
type peopleView struct {
	Items []personView `json:"items"`
}

type personView struct {
	Name  string `json:"name"`
	Pages int    `json:"pages"`
}

func (c canvases) events(ctx context.Context, in followCanvas) (canvasStream, error) {
	now, err := c.Canvases.Revision(ctx, in.Who, in.ID)
	return canvasStream{c, in, now}, err
}

// canvasStream answers with the revisions of a canvas and who has it open. It lasts until the
// client leaves or the canvas is deleted.
type canvasStream struct {
	c   canvases
	in  followCanvas
	now app.Revision // when it began
}

// Write sends the current state, then each change.
func (a canvasStream) Write(r *api.Request) error {
	ctx := r.HTTP.Context()
	defer a.c.Revisions.Follow(a.in.ID, a.now)()
	if a.in.Page != "" {
		leave := a.c.Presence.Enter(a.in.ID, a.in.Page, a.visitor(ctx))
		defer leave()
	}
	w := &canvasWriter{canvasStream: a, s: r.OpenStream(true)}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for sent := time.Now(); ; {
		before := w.n
		if err := w.look(ctx); err != nil {
			if ctx.Err() == nil {
				r.Logger().Warn("stream of a canvas ended", "canvas", a.in.ID, "err", err)
			}
			return nil
		}
		if w.n > before {
			sent = time.Now()
		} else if time.Since(sent) >= heartbeat {
			w.s.Comment("still here")
			sent = time.Now()
		}
		if w.s.Err() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// visitor is the principal as other people see it.
func (a canvasStream) visitor(ctx context.Context) app.Visitor {
	if user := a.in.Who.User; user != "" {
		return app.Visitor{ID: user, Name: a.c.Accounts.Nickname(ctx, user)}
	}
	return app.Visitor{ID: a.in.Who.Caller, Name: "API key"}
}

// canvasWriter sends what has changed since it looked last.
type canvasWriter struct {
	canvasStream
	s      *api.Stream
	rev    int64
	people []app.Present // nil before the first event
	n      int           // events that were sent
}

func (w *canvasWriter) look(ctx context.Context) error {
	now, err := w.c.Revisions.Of(ctx, w.in.ID)
	if err != nil {
		return err
	}
	if now.Rev != w.rev {
		w.rev = now.Rev
		w.send("revision", revisionView{now.Rev, timeOf(now.Updated)})
	}
	people := w.c.Presence.Others(w.in.ID, w.in.Page)
	if w.people != nil && slices.Equal(people, w.people) {
		return nil
	}
	w.people = people
	view := peopleView{Items: make([]personView, len(people))}
	for i, p := range people {
		view.Items[i] = personView{p.Name, p.Pages}
	}
	w.send("people", view)
	return nil
}

func (w *canvasWriter) send(name string, view any) {
	data, err := json.Marshal(view)
	if err != nil {
		return // a view of ours is JSON
	}
	w.n++
	w.s.Named(strconv.Itoa(w.n), name, data)
}
