package v2

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

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

// canvasStream sends the revisions of a canvas and the users who have it open. It lasts until the
// client leaves or the canvas is deleted.
type canvasStream struct {
	c   canvases
	in  followCanvas
	now app.Revision // when it began
}

// Write sends the current state, then each change.
func (a canvasStream) Write(r *api.Request) error {
	if isHead(r) {
		return nil
	}
	api.Follow(r, func(ctx context.Context, who app.Principal) error {
		return a.c.Canvases.MayUse(ctx, who, a.in.ID)
	})
	f := a.c.Revisions.Follow(a.in.ID, a.now)
	defer f.Close()
	if a.in.Page != "" {
		leave := a.c.Presence.Enter(a.in.ID, a.in.Page, a.visitor(r.HTTP.Context()))
		defer leave()
	}
	w := &canvasWriter{canvasStream: a, f: f}
	follow(r, slog.String("canvas", a.in.ID), f, w.send)
	return nil
}

// visitor is the principal as other people see it.
func (a canvasStream) visitor(ctx context.Context) app.Visitor {
	if user := a.in.Who.User; user != "" {
		return app.Visitor{ID: user, Name: a.c.Accounts.Nickname(ctx, user)}
	}
	return app.Visitor{ID: a.in.Who.Caller, Name: "API key"}
}

// canvasWriter sends what has changed since it was called last.
type canvasWriter struct {
	canvasStream
	f      *app.CanvasFollower
	rev    int64
	people []app.Present // nil before the first event
}

func (w *canvasWriter) send(s *followStream) error {
	now, err := w.f.Revision()
	if err == nil {
		err = w.in.Who.StillMay(now)
	}
	if err != nil {
		return err
	}
	if now.Rev != w.rev {
		w.rev = now.Rev
		s.event("revision", revisionView{now.Rev, timeOf(now.Updated)})
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
	s.event("people", view)
	return nil
}
