package app

import (
	"context"
	"errors"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/runs/traces"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Runs start canvases, follow them and stop them.
type Runs struct {
	store    *store.Store
	runs     *runs.Runs
	canvases *Canvases
	ports    func(j *Job) engine.Ports // nil for none
	limits   engine.Limits
	traces   *traces.Traces // nil keeps none
}

// Start accepts a job; it is written when Start returns. Errors: [ErrNotFound], [ErrSession],
// [ErrBusy], [ErrCanvas], [ErrUnpublished], [ErrTooLarge], [ErrMemory], [ErrClosed].
func (s *Runs) Start(ctx context.Context, j Job) (Job, error) {
	j, err := s.runs.Start(ctx, j)
	return j, refused(err)
}

// Follow calls fn with the records of a run after a position, until the run ends or fn returns
// false.
func (s *Runs) Follow(ctx context.Context, run string, after Pos, fn func(Record) bool) error {
	return s.runs.Follow(ctx, run, after, fn)
}

// Place returns where to read the records that a client lacks which has seen those up to a
// position.
func (s *Runs) Place(ctx context.Context, run string, seen Pos, attempt uint64) (Place, error) {
	return s.runs.Place(ctx, run, seen, attempt)
}

// Stored reports whether the records of a run that has ended are still in the run log.
func (s *Runs) Stored(ctx context.Context, run Run) (bool, error) { return s.runs.Kept(ctx, run) }

// Active returns how many runs this host works on.
func (s *Runs) Active() int { return s.runs.Active() }

// Get finds a run that a principal may read, of a canvas that it may use. Errors: [ErrNotFound].
func (s *Runs) Get(ctx context.Context, who Principal, id string) (Run, error) {
	v, err := s.store.Runs.Get(ctx, who.Tenant, id)
	var whose access.Object
	if err == nil {
		whose, err = s.canvases.used(ctx, who, v.Canvas)
	}
	if err == nil && (!who.MayRead(v) || !who.owns(whose, v.User)) {
		err = ErrNotFound
	}
	if err == nil {
		err = mayReadSaid(ctx, s.store, who, v.ID, ErrNotFound)
	}
	if err != nil {
		return Run{}, missing(err, "run")
	}
	return v, nil
}

// List lists runs of the canvases that a principal may use, without their documents, and counts
// those that match; see [store.Page].MostCounted.
func (s *Runs) List(ctx context.Context, who Principal, f RunFilter, p Page) ([]Run, int, error) {
	f.Tenant, f.Viewer, p.Documents = who.Tenant, who.Viewer(), NoDocuments
	if f.Canvas != "" {
		whose, err := s.canvases.used(ctx, who, f.Canvas)
		if errors.Is(err, ErrNotFound) {
			return nil, 0, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if f.Viewer.Can(access.Review, whose) {
			f.Viewer = access.Viewer{} // all of them may be read
		}
	}
	return s.store.Runs.List(ctx, f, p)
}

// Cancel stops a run; one that has ended stays as it is.
func (s *Runs) Cancel(ctx context.Context, run string) error { return s.runs.Cancel(ctx, run) }

// Named returns the runs that a run id, message id or session id names, of canvases that a
// principal may use; see [Principal.MayRead] and [Principal.MayStop].
func (s *Runs) Named(ctx context.Context, who Principal, name string) ([]Run, error) {
	list, err := s.named(ctx, who.Tenant, name)
	if err != nil {
		return nil, err
	}
	var out []Run
	for _, run := range list {
		whose, err := s.canvases.used(ctx, who, run.Canvas)
		if err == nil && !who.owns(whose, run.User) {
			continue
		}
		if err == nil {
			err = mayReadSaid(ctx, s.store, who, run.ID, ErrNotFound)
		}
		if err == nil {
			out = append(out, run)
		}
		var service *Error
		if err != nil && !errors.As(err, &service) {
			return nil, err
		}
	}
	return out, nil
}

func (s *Runs) named(ctx context.Context, tenant, name string) ([]Run, error) {
	for _, find := range []func(ctx context.Context, tenant, id string) (Run, error){
		s.store.Runs.Get, s.store.Runs.OfMessage,
	} {
		run, err := find(ctx, tenant, name)
		if err == nil {
			return []Run{run}, nil
		}
		if !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	f := RunFilter{Tenant: tenant, Session: name, Status: RunActive}
	list, _, err := s.store.Runs.List(ctx, f, Page{Limit: 100})
	return list, err
}

// CancelNamed stops the runs that a name stands for, see Named, as far as a principal may. It does
// not tell whether there were any, so that callers cannot probe for the runs of others.
func (s *Runs) CancelNamed(ctx context.Context, who Principal, name string) error {
	runs, err := s.Named(ctx, who, name)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if run.Status != RunActive || !who.MayStop(run) {
			continue
		}
		if err := s.runs.Cancel(ctx, run.ID); err != nil {
			return err
		}
	}
	return nil
}

// Rerun is from where a run is repeated: from an execution of a node, or from a record.
type Rerun struct {
	Node string
	Nth  int // which execution of the node, 1 is the first
	Seq  uint64
	Pins engine.Value // outputs by node; such a node does not run
}

// ErrNodeOrSeq refuses a rerun from nowhere.
var ErrNodeOrSeq = BadArgument("node and seq are missing; expected one of them")

// Case returns a case of `easel test` of a run that has ended. Errors: [CodeNoCase], [ErrGone].
func (s *Runs) Case(ctx context.Context, run Run) (engine.Value, error) {
	if s.traces != nil {
		if err := s.reserveTrace(ctx, run); err != nil {
			return engine.Null, err
		}
	}
	v, err := s.runs.Case(ctx, run)
	if errors.Is(err, runs.ErrCase) {
		err = Refuse(CodeNoCase, "%v", err)
	}
	return v, err
}

// RerunJob returns the job that repeats a run on a copy of its state for a principal. Errors: those
// of [Error], [ErrRecord], [ErrGone].
func (s *Runs) RerunJob(ctx context.Context, who Principal, run Run, in Rerun) (Job, error) {
	if in.Node == "" && in.Seq == 0 {
		return Job{}, ErrNodeOrSeq
	}
	at := in.Seq
	if in.Node != "" {
		var err error
		if at, err = s.runs.Before(ctx, run.ID, in.Node, max(in.Nth, 1)); err != nil {
			return Job{}, err
		}
	}
	return Job{
		Canvas: run.Canvas, User: run.User, Base: run.ID, At: at, Pins: in.Pins, VisitorKey: run.Visitor,
		Actor: who.Actor().On(run.Actor, in.Pins.Len() > 0),
	}, nil
}

// Debug runs one component of a canvas alone; nothing is stored. The outputs have an _ERROR when
// the component fails. Errors: those of the canvas.
func (s *Runs) Debug(
	ctx context.Context, who Principal, v Canvas, component string, params engine.Value,
) (engine.Value, error) {
	canvas, err := s.runs.Load(v.DSL)
	if err != nil {
		return engine.Null, err
	}
	opt := engine.Options{CanvasID: v.ID, TenantID: who.Tenant, Limits: s.limits}
	if s.ports != nil {
		as := who.Alone()
		as.Canvas, as.Source = v.ID, "debug"
		opt.Ports = s.ports(as)
	}
	started := time.Now()
	out, err := canvas.Debug(ctx, canvas.State(), component, params, opt)
	var failed *engine.NodeError
	if errors.As(err, &failed) {
		out = out.With("_ERROR", engine.String(failed.Err.Error())) // an output like any other to who tries a node
	} else if err != nil {
		return engine.Null, &DebugError{err}
	}
	return out.With("_created_time", engine.Float(float64(started.UnixMicro())/1e6)).
		With("_elapsed_time", engine.Float(time.Since(started).Seconds())), nil
}

// DebugError is the error of a node that cannot be run alone.
type DebugError struct{ Err error }

func (e *DebugError) Error() string { return e.Err.Error() }
func (e *DebugError) Unwrap() error { return e.Err }
