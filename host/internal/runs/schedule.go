package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
)

// schedules keeps the schedules of canvases and their clocks.
type schedules struct {
	store    *store.Store
	clocks   *schedule.Store
	canvases *canvases
	shortest time.Duration // see [Config]
	logger   *slog.Logger
}

// Schedule is a job that is begun again and again, each time as a run of its
// own, by whichever host is free.
//
// The records store keeps it, so it is in backups and ends with its tenant; the
// run log keeps its next time, so that no host has to (schedule_clock.go). What
// happens when the time has come is in schedule_due.go, and what times there are
// in schedule_when.go.
type Schedule struct {
	ID     string
	Tenant string
	Name   string // of the tenant's own choice; no two have the same
	When
	Paused bool
	Job    Job // without ids; those are made for each run

	Rev     int64     // grows by one with each change
	Created time.Time // UTC
	Updated time.Time // UTC
	// Set is when the clock was set to these times, from which a period counts.
	Set time.Time // UTC
}

// scheduleKind is the kind of the items that hold schedules.
const scheduleKind = "schedule"

// mostSchedules is how many one tenant may have.
const mostSchedules = 1000

// scheduleDoc is a schedule as its item holds it.
type scheduleDoc struct {
	When
	Paused bool  `json:"paused,omitempty"`
	Set    int64 `json:"set"` // Unix milliseconds
	Job    Job   `json:"job"`
}

func scheduleOf(v store.Item) (Schedule, error) {
	var d scheduleDoc
	if err := json.Unmarshal(v.Doc, &d); err != nil {
		return Schedule{}, fmt.Errorf("schedule %q: %w", v.ID, err)
	}
	d.Job.Tenant, d.Job.Schedule, d.Job.Source = v.Tenant, v.ID, sourceSchedule
	return Schedule{
		ID: v.ID, Tenant: v.Tenant, Name: v.Name, When: d.When, Paused: d.Paused, Job: d.Job, Rev: v.Rev,
		Created: time.UnixMilli(v.CreateTime).UTC(), Updated: time.UnixMilli(v.UpdateTime).UTC(), Set: time.UnixMilli(d.Set).UTC(),
	}, nil
}

// PutSchedule adds a schedule, which gets an ID, or with Rev changes exactly
// that revision. It returns what is kept.
//
// Errors: [*WhenError]; [ErrCanvas]; [ErrUnpublished]; [ErrSession]; [ErrTooMany];
// [store.ErrNotFound] for the canvas; [store.ErrExists] for the name;
// [store.ErrConflict].
func (ss *schedules) PutSchedule(ctx context.Context, s Schedule) (Schedule, error) {
	if err := ss.checkSchedule(ctx, &s); err != nil {
		return Schedule{}, err
	}
	var old Schedule
	if s.Rev != 0 {
		var err error
		if old, err = ss.Schedule(ctx, s.Tenant, s.ID); err != nil {
			return Schedule{}, err
		}
	}
	// Renaming a schedule does not shift its times.
	if s.Rev == 0 || s.Paused != old.Paused || s.When != old.When {
		s.Set = time.Now()
	}
	s.Job.ID, s.Job.Message, s.Job.Tenant, s.Job.Schedule, s.Job.Source = "", "", "", "", ""
	doc, err := json.Marshal(scheduleDoc{s.When, s.Paused, s.Set.UnixMilli(), s.Job})
	if err != nil {
		return Schedule{}, err
	}
	item, err := ss.store.Items.Put(
		ctx, store.Item{Tenant: s.Tenant, Kind: scheduleKind, ID: s.ID, Name: s.Name, Doc: doc, Rev: s.Rev},
	)
	if err != nil {
		return Schedule{}, err
	}
	kept, err := scheduleOf(item)
	if err != nil {
		return Schedule{}, err
	}
	if err := ss.setClock(ctx, kept, time.Now()); err != nil {
		if s.Rev == 0 {
			err = errors.Join(err, ss.DeleteSchedule(context.WithoutCancel(ctx), kept.Tenant, kept.ID))
		}
		return Schedule{}, err
	}
	return kept, nil
}

// checkSchedule refuses a schedule that could never do anything.
func (ss *schedules) checkSchedule(ctx context.Context, s *Schedule) error {
	if err := s.When.check(time.Now(), ss.shortest); err != nil {
		return err
	}
	s.Job.Keep = KeepNothing
	if s.Job.Fresh {
		s.Job.Session = ""
	} else if s.Job.Session != "" {
		s.Job.Keep = KeepSession
	}
	if s.Rev != 0 && s.Paused {
		return nil // whatever has become of canvas and session, it can be stopped
	}
	s.Job.Tenant = s.Tenant
	c, err := ss.canvases.current(ctx, &s.Job)
	if err != nil {
		return err
	}
	if _, err := ss.canvases.plans.load(c.DSL); err != nil {
		return err
	}
	if id := s.Job.Session; id != "" {
		v, err := ss.store.Sessions.Get(ctx, s.Tenant, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && v.Canvas != c.ID {
			return fmt.Errorf("session %q: %w", id, ErrSession)
		}
		if err != nil {
			return err
		}
	}
	if s.Rev != 0 {
		return nil
	}
	all, err := ss.store.Items.List(ctx, s.Tenant, scheduleKind)
	if err == nil && len(all) >= mostSchedules {
		err = fmt.Errorf("%w: a tenant has at most %d", ErrTooMany, mostSchedules)
	}
	return err
}

// Schedule reads one schedule. Errors: [store.ErrNotFound].
func (ss *schedules) Schedule(ctx context.Context, tenant, id string) (Schedule, error) {
	v, err := ss.store.Items.Get(ctx, tenant, scheduleKind, id)
	if err != nil {
		return Schedule{}, err
	}
	return scheduleOf(v)
}

// Schedules lists the schedules of a tenant, oldest first.
func (ss *schedules) Schedules(ctx context.Context, tenant string) ([]Schedule, error) {
	items, err := ss.store.Items.List(ctx, tenant, scheduleKind)
	if err != nil {
		return nil, err
	}
	out := make([]Schedule, len(items))
	for i, v := range items {
		if out[i], err = scheduleOf(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// DeleteSchedule removes a schedule; runs that it has begun go on.
// Errors: [store.ErrNotFound].
func (ss *schedules) DeleteSchedule(ctx context.Context, tenant, id string) error {
	if err := ss.store.Items.Delete(ctx, tenant, scheduleKind, id); err != nil {
		return err
	}
	return ss.stopClock(ctx, tenant, id)
}

// DeleteSchedules removes the schedules of a canvas, or with canvas "" all of a
// tenant.
func (ss *schedules) DeleteSchedules(ctx context.Context, tenant, canvas string) error {
	list, err := ss.Schedules(ctx, tenant)
	if err != nil {
		return err
	}
	for _, s := range list {
		if canvas != "" && s.Job.Canvas != canvas {
			continue
		}
		if err := ss.DeleteSchedule(ctx, tenant, s.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// LastRun is the newest run of a schedule. Errors: [store.ErrNotFound].
func (ss *schedules) LastRun(ctx context.Context, s *Schedule) (store.Run, error) {
	list, _, err := ss.store.Runs.List(
		ctx, store.RunFilter{Tenant: s.Tenant, Canvas: s.Job.Canvas, Schedule: s.ID}, store.Page{Limit: 1},
	)
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Run{}, err
	}
	return list[0], nil
}
