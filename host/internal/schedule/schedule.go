// Package schedule begins runs of canvases at set times.
//
// A [Schedule] is a job that is started repeatedly, each time as a separate run, by any free host.
// The records store keeps schedules, so they are in backups and end with their tenant. The run log
// keeps the next time of each as a [Clock], so that no host has to remember it (clocks.go,
// next.go). [Schedules.Due] decides about a run whose time has come (due.go). [When] defines the
// times (when.go, cron.go). With a plugin that is a trigger, a schedule begins a run for each item
// that the plugin returns, at its times or for requests (trigger.go).
package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// ErrTooMany rejects a schedule of a tenant that has the maximum already.
var ErrTooMany = errors.New("too many schedules")

// Config configures [New]. All but Triggers, Shortest and Logger are required.
type Config struct {
	Store  *store.Store
	Clocks *Clocks
	Runs   *runs.Runs
	// Triggers calls the plugins of schedules; nil accepts no schedule with a plugin.
	Triggers Triggers
	// Shortest is the least time between two runs of a schedule; 0 means a minute.
	Shortest time.Duration
	// Logger receives warnings for the operator; nil means slog.Default.
	Logger *slog.Logger
}

// Schedules stores the schedules of canvases and sets their clocks. It is safe for concurrent use.
type Schedules struct {
	items    store.Items
	sessions store.Sessions
	history  store.Runs
	clocks   *Clocks
	runs     *runs.Runs
	triggers Triggers
	shortest time.Duration
	logger   *slog.Logger
}

// New returns the schedules of a host. Its clocks are kept only while [Schedules.Work] runs.
func New(cfg Config) *Schedules {
	if cfg.Shortest == 0 {
		cfg.Shortest = shortestPeriod
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &Schedules{
		items: cfg.Store.Items, sessions: cfg.Store.Sessions, history: cfg.Store.Runs,
		clocks: cfg.Clocks, runs: cfg.Runs, triggers: cfg.Triggers, shortest: cfg.Shortest, logger: cfg.Logger,
	}
}

// Schedule is a job that begins runs at the times of When.
type Schedule struct {
	ID     string
	Tenant string
	Name   string
	When
	Trigger
	Paused bool
	Job    runs.Job // without ids; each run gets its own

	Rev     int64     // incremented by each change
	Created time.Time // UTC
	Updated time.Time // UTC
	// Set is when the clock was set to these times, from which a period counts.
	Set time.Time // UTC
}

// kind is the kind of the items that hold schedules.
const kind = "schedule"

// most bounds the schedules of one tenant.
const most = 1000

// document is a schedule in the form of its item.
type document struct {
	When
	Trigger
	Paused bool     `json:"paused,omitempty"`
	Set    int64    `json:"set"` // Unix milliseconds
	Job    runs.Job `json:"job"`
}

// parse reads the item of a schedule.
func parse(v store.Item) (Schedule, error) {
	var d document
	if err := json.Unmarshal(v.Doc, &d); err != nil {
		return Schedule{}, fmt.Errorf("schedule %q: %w", v.ID, err)
	}
	d.Job.Tenant, d.Job.Schedule, d.Job.Source = v.Tenant, v.ID, source
	return Schedule{
		ID: v.ID, Tenant: v.Tenant, Name: v.Name, When: d.When, Trigger: d.Trigger, Paused: d.Paused, Job: d.Job,
		Rev: v.Rev, Created: time.UnixMilli(v.CreateTime).UTC(), Updated: time.UnixMilli(v.UpdateTime).UTC(),
		Set: time.UnixMilli(d.Set).UTC(),
	}, nil
}

// Put adds a schedule, which gets an ID, or with Rev replaces exactly that revision. It returns the
// stored schedule.
//
// Errors: [*WhenError]; [ErrTrigger]; [runs.ErrCanvas]; [runs.ErrUnpublished]; [runs.ErrSession];
// [ErrTooMany]; [store.ErrNotFound] for the canvas; [store.ErrConflict].
func (ss *Schedules) Put(ctx context.Context, s Schedule) (Schedule, error) {
	if err := ss.check(ctx, &s); err != nil {
		return Schedule{}, err
	}
	var old Schedule
	if s.Rev != 0 {
		var err error
		if old, err = ss.Get(ctx, s.Tenant, s.ID); err != nil {
			return Schedule{}, err
		}
	}
	// Renaming a schedule does not shift its times.
	if s.Rev == 0 || s.Paused != old.Paused || s.When != old.When {
		s.Set = time.Now()
	}
	s.Job.ID, s.Job.Message, s.Job.Tenant, s.Job.Schedule, s.Job.Source = "", "", "", "", ""
	s.Job.Actor = access.Actor{} // decided when a run begins
	doc, err := json.Marshal(document{s.When, s.Trigger, s.Paused, s.Set.UnixMilli(), s.Job})
	if err != nil {
		return Schedule{}, err
	}
	item, err := ss.items.Put(ctx, store.Item{
		Tenant: s.Tenant, Kind: kind, ID: s.ID, Name: s.Name, Repeats: true, Doc: doc, Rev: s.Rev,
	})
	if err != nil {
		return Schedule{}, err
	}
	stored, err := parse(item)
	if err != nil {
		return Schedule{}, err
	}
	if err := ss.setClock(ctx, stored, time.Now()); err != nil {
		if s.Rev == 0 {
			err = errors.Join(err, ss.Delete(context.WithoutCancel(ctx), stored.Tenant, stored.ID))
		}
		return Schedule{}, err
	}
	return stored, nil
}

// check rejects a schedule whose runs could not start.
func (ss *Schedules) check(ctx context.Context, s *Schedule) error {
	s.Job.Tenant = s.Tenant
	if err := ss.checkTrigger(ctx, s); err != nil {
		return err
	}
	if !s.Hook {
		if err := s.When.check(time.Now(), ss.shortest); err != nil {
			return err
		}
	}
	s.Job.Keep = runs.KeepNothing
	if s.Job.Fresh {
		s.Job.Session = ""
	} else if s.Job.Session != "" {
		s.Job.Keep = runs.KeepSession
	}
	if s.Rev != 0 && s.Paused {
		return nil // a schedule can be paused even if its canvas or session is gone
	}
	c, err := ss.runs.Current(ctx, &s.Job)
	if err != nil {
		return err
	}
	if _, err := ss.runs.Load(c.DSL); err != nil {
		return err
	}
	if id := s.Job.Session; id != "" {
		v, err := ss.sessions.Get(ctx, s.Tenant, id)
		if errors.Is(err, store.ErrNotFound) || err == nil && (v.Canvas != c.ID || v.Visitor != "") {
			return fmt.Errorf("session %q: %w", id, runs.ErrSession)
		}
		if err != nil {
			return err
		}
	}
	if s.Rev != 0 {
		return nil
	}
	all, err := ss.items.List(ctx, s.Tenant, kind)
	if err == nil && len(all) >= most {
		err = fmt.Errorf("%w: a tenant has at most %d", ErrTooMany, most)
	}
	return err
}

// Get returns a schedule. Errors: [store.ErrNotFound].
func (ss *Schedules) Get(ctx context.Context, tenant, id string) (Schedule, error) {
	v, err := ss.items.Get(ctx, tenant, kind, id)
	if err != nil {
		return Schedule{}, err
	}
	return parse(v)
}

// List returns the schedules of a tenant, oldest first.
func (ss *Schedules) List(ctx context.Context, tenant string) ([]Schedule, error) {
	items, err := ss.items.List(ctx, tenant, kind)
	if err != nil {
		return nil, err
	}
	out := make([]Schedule, len(items))
	for i, v := range items {
		if out[i], err = parse(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Delete removes a schedule; runs that it has started continue. Errors: [store.ErrNotFound].
func (ss *Schedules) Delete(ctx context.Context, tenant, id string) error {
	if err := ss.items.Delete(ctx, tenant, kind, id); err != nil {
		return err
	}
	return ss.stopClock(ctx, tenant, id)
}

// DeleteOf removes the schedules of a canvas, or with canvas "" all of a tenant.
func (ss *Schedules) DeleteOf(ctx context.Context, tenant, canvas string) error {
	list, err := ss.List(ctx, tenant)
	if err != nil {
		return err
	}
	for _, s := range list {
		if canvas != "" && s.Job.Canvas != canvas {
			continue
		}
		if err := ss.Delete(ctx, tenant, s.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// LastRun returns the newest run of a schedule. Errors: [store.ErrNotFound].
func (ss *Schedules) LastRun(ctx context.Context, s *Schedule) (store.Run, error) {
	f := store.RunFilter{Tenant: s.Tenant, Canvas: s.Job.Canvas, Schedule: s.ID}
	list, _, err := ss.history.List(ctx, f, store.Page{Limit: 1})
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Run{}, err
	}
	return list[0], nil
}
