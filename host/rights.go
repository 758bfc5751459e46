package host

import (
	"context"
	"fmt"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// rights have the objects that a run may use by name: those of the member for whom it acts. A run
// has one of them, and one for each canvas that runs inside of it with other rights.
type rights struct {
	records *store.Store
	tenant  string
	actor   access.Actor
	key     string // the API key that a member who is present uses; "" for none
	caller  string // pays for model tokens
	run     string // "" when a node is tried alone
	session string
	reader  access.Reader // of documents: who started the run
	timed   bool          // started by a schedule
	visitor store.Visitor
	// trusted means that only runs have written the state with which the run began.
	trusted bool

	mu    sync.Mutex
	known *access.Viewer
}

func (p *ports) rightsOf(j *runs.Job) *rights {
	r := &rights{
		records: p.store, tenant: j.Tenant, actor: j.Actor, caller: j.Caller,
		visitor: j.VisitorKey, run: j.ID, session: j.Session,
		reader: j.Reader, timed: j.Principal.Kind == runs.ByScheduler,
		trusted: j.Keep == runs.KeepSession || j.Actor.Unattended(),
	}
	if j.Actor.As == access.Present {
		r.key = j.Principal.Key()
	}
	return r
}

// of returns the rights of another member in the same run.
func (r *rights) of(a access.Actor) *rights {
	of := &rights{
		records: r.records, tenant: r.tenant, actor: a, caller: r.caller, visitor: r.visitor,
		run: r.run, session: r.session, reader: r.reader, timed: r.timed, trusted: r.trusted,
	}
	if a.As == access.Present {
		of.key = r.key
	}
	return of
}

// viewer returns on whose behalf the run uses objects. The records are read once per run.
func (r *rights) viewer(ctx context.Context) (access.Viewer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known != nil {
		return *r.known, nil
	}
	v, err := r.records.Projects.Acting(ctx, r.tenant, r.actor, r.key)
	if err != nil {
		return v, err
	}
	if v.Reader, err = r.readerNow(ctx); err != nil {
		return v, err
	}
	r.known = &v
	return v, nil
}

// readerNow returns on whose behalf the run reads documents. A schedule names a member, who is
// looked up: it may have left the tenant, or its groups, since the schedule was made.
func (r *rights) readerNow(ctx context.Context) (out access.Reader, err error) {
	if !r.timed || r.reader.User == "" {
		return r.reader, nil
	}
	member, err := r.records.Members.Has(ctx, r.tenant, r.reader.User)
	if err != nil || !member {
		return access.Reader{}, err
	}
	out.User = r.reader.User
	out.Groups, err = r.records.Groups.Of(ctx, r.tenant, out.User)
	return out, err
}

// lacks adds to the error of an object which the run may not use, or which does not exist, what
// helps in an unattended run.
func (r *rights) lacks(err error) error {
	switch r.actor.As {
	case access.Present:
		return err
	case access.Publisher:
		return fmt.Errorf("%w, or the publisher of this canvas has no access to it any more; "+
			"a user with access has to publish the canvas again", err)
	}
	return fmt.Errorf("%w, or the author of this draft has no access to it; "+
		"a user with access has to save or publish the canvas", err)
}

// reach returns the ports by which a run uses what its canvas names.
func (p *ports) reach(r *rights) *engine.Reach {
	return &engine.Reach{
		Retriever: p.sources.Retriever(&retriever{p.datasets, r}),
		Memory:    memoryPort{p.memories, r},
		Canvases:  canvasPort{p, r},
		Enter:     r.enter,
	}
}
