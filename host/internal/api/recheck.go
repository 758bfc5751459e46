package api

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/host/internal/app"
)

// defaultRecheck is the time for which an event stream may continue after its key or login has
// ended.
const defaultRecheck = 15 * time.Second

// Follow sets what the open stream of events of a request checks from time to time, with the roles
// that the principal has then: with [app.ErrNotFound] or an [app.Error] the principal may not use
// any more what it follows, and the stream ends.
func Follow(r *Request, may func(ctx context.Context, who app.Principal) error) {
	r.follows.Store(&may)
}

// recheck ends a stream of events, which may last for days, when its principal may not read it any
// more: the key was revoked or has expired, the login has ended, the role or the groups changed.
// It replaces the context of the request. A check that cannot be made is made again later.
func (a *API) recheck(r *Request) (stop func()) {
	ctx, end := context.WithCancel(r.HTTP.Context())
	r.HTTP = r.HTTP.WithContext(ctx)
	every := a.cfg.Recheck
	if every == 0 {
		every = defaultRecheck
	}
	var timer *time.Timer
	ready := make(chan struct{})
	timer = time.AfterFunc(every, func() {
		<-ready
		who, err := a.principal(r)
		if err == nil {
			err = a.permit(r.Route.Scope, who)
		}
		if err == nil && who.Groups != r.Who.Groups {
			end() // what it reads follows from the groups with which it began; the client connects again
			return
		}
		if may := r.follows.Load(); err == nil && may != nil {
			now, failed := a.cfg.Services.Projects.Viewing(ctx, who)
			now.Act, now.Visitor, now.EndUser = r.Route.Act, r.Who.Visitor, r.Who.EndUser
			var service *app.Error
			if failed == nil {
				failed = (*may)(ctx, now)
			}
			if errors.Is(failed, app.ErrNotFound) || errors.As(failed, &service) {
				end()
				return
			}
		}
		var refused *Failure
		if errors.As(err, &refused) {
			end()
		} else if ctx.Err() == nil {
			timer.Reset(every)
		}
	})
	close(ready)
	return func() {
		end()
		timer.Stop()
	}
}
