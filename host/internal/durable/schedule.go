package durable

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/easel-canvas/easel/host/internal/runner"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Schedule is a job that is begun again and again, each time as a run of its
// own, by whichever host is free. Nobody has to remember it but the run log.
type Schedule struct {
	Tenant string
	Name   string // of the tenant's own choice
	When   string // as in [runner.Schedule]: "@every 10m", "@daily", "0 30 3 * * *" with seconds first
	Zone   string // IANA time zone of a cron line; "" means UTC
	Job    Job    // without ids; those are made for each run
}

// key is the schedule's name in the run log, which all tenants share. A tenant
// id has no space.
func (s *Schedule) key() string { return s.Tenant + " " + s.Name }

// Schedule adds a schedule, or replaces the tenant's one of the same name.
//
// Errors: [ErrCanvas], [store.ErrNotFound] for the canvas, [store.ErrInvalid]
// for a When or Zone that is not understood.
func (r *Runs) Schedule(ctx context.Context, s Schedule) error {
	s.Job.ID, s.Job.Message, s.Job.Tenant, s.Job.Source = "", "", s.Tenant, "schedule"
	c, err := r.cfg.Store.Canvas(ctx, s.Tenant, s.Job.Canvas)
	if err != nil {
		return err
	}
	if _, err := r.plans.load(c.DSL); err != nil {
		return err
	}
	data, err := json.Marshal(&s.Job)
	if err != nil {
		return err
	}
	err = r.cfg.Log.Schedule(ctx, runner.Schedule{ID: s.key(), When: s.When, Zone: s.Zone, Run: runner.Run{ID: s.Job.Canvas, Data: data}})
	if runner.Refused(err) {
		return fmt.Errorf("schedule %q: when %q in zone %q: %w", s.Name, s.When, s.Zone, store.ErrInvalid)
	}
	return err
}

// Unschedule removes a schedule; runs that it has begun go on. One that is not
// there is no error.
func (r *Runs) Unschedule(ctx context.Context, tenant, name string) error {
	s := Schedule{Tenant: tenant, Name: name}
	return r.cfg.Log.Unschedule(ctx, s.key())
}

// Schedules lists the schedules of a tenant, in no order.
func (r *Runs) Schedules(ctx context.Context, tenant string) ([]Schedule, error) {
	all, err := r.cfg.Log.Schedules(ctx)
	if err != nil {
		return nil, err
	}
	var out []Schedule
	for _, one := range all {
		owner, name, _ := strings.Cut(one.ID, " ")
		if owner != tenant {
			continue
		}
		s := Schedule{Tenant: tenant, Name: name, When: one.When, Zone: one.Zone}
		if err := json.Unmarshal(one.Run.Data, &s.Job); err != nil {
			return nil, fmt.Errorf("schedule %q: %w", name, err)
		}
		out = append(out, s)
	}
	return out, nil
}

// named gives the job of a schedule the ids of one run: the same ones for each
// host that works on it.
func named(j Job, run string) Job {
	if j.ID == "" {
		j.ID = run
		j.Message = strings.ReplaceAll(uuid.NewSHA1(uuid.NameSpaceOID, []byte("easel run "+run)).String(), "-", "")
	}
	return j
}
