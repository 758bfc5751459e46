package durable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/runner"
	"github.com/easel-canvas/easel/host/internal/store"
)

// clockID is a schedule's name in the run log, which all tenants share. A tenant
// id has no space.
func clockID(tenant, id string) string { return tenant + " " + id }

// clock is a schedule as the run log keeps it.
func (s *Schedule) clock() (runner.Schedule, error) {
	pattern, err := s.pattern()
	if err != nil {
		return runner.Schedule{}, err
	}
	data, err := json.Marshal(&s.Job)
	return runner.Schedule{ID: clockID(s.Tenant, s.ID), When: pattern, Zone: s.Zone, Run: runner.Run{ID: s.ID, Data: data}}, err
}

func sameClock(a, b runner.Schedule) bool {
	return a.When == b.When && a.Zone == b.Zone && a.Run.ID == b.Run.ID && bytes.Equal(a.Run.Data, b.Run.Data)
}

// setClock makes the run log keep a schedule as it is now. old is what it kept;
// setting a clock anew would begin its period anew.
func (r *Runs) setClock(ctx context.Context, s, old Schedule) error {
	if s.Paused {
		return r.stopClock(ctx, s.Tenant, s.ID)
	}
	c, err := s.clock()
	if err != nil {
		return err
	}
	if old.ID != "" && !old.Paused {
		if o, err := old.clock(); err == nil && sameClock(c, o) {
			return nil
		}
	}
	err = r.cfg.Log.Schedule(ctx, c)
	if runner.Refused(err) {
		return badWhen("the run log does not take the times %q in zone %q", c.When, c.Zone)
	}
	return err
}

func (r *Runs) stopClock(ctx context.Context, tenant, id string) error {
	return r.cfg.Log.Unschedule(ctx, clockID(tenant, id))
}

// clockCheck is how often the clocks are compared with the records.
const clockCheck = 5 * time.Minute

// keepClocks sets the clocks by the records, until ctx ends: after a restore the
// run log knows none, and a host may have died between the two.
func (r *Runs) keepClocks(ctx context.Context) {
	for {
		if err := r.compareClocks(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("schedules were not compared with the run log", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(clockCheck):
		}
	}
}

// compareClocks reads the run log first: what is in the records later than that
// has been set meanwhile, and setting it again does no harm. A clock whose
// schedule goes meanwhile ends when its time comes.
func (r *Runs) compareClocks(ctx context.Context) error {
	list, err := r.cfg.Log.Schedules(ctx)
	if err != nil {
		return err
	}
	items, err := r.cfg.Store.ItemsOfAll(ctx, scheduleKind)
	if err != nil {
		return err
	}
	set := map[string]runner.Schedule{}
	for _, c := range list {
		set[c.ID] = c
	}
	for _, v := range items {
		s, err := scheduleOf(v)
		if err != nil || s.Paused {
			continue
		}
		want, err := s.clock()
		if err != nil {
			continue
		}
		if !sameClock(set[want.ID], want) {
			if err := r.cfg.Log.Schedule(ctx, want); err != nil {
				r.cfg.Logger.Warn("schedule was not set", "schedule", s.ID, "err", err)
			}
		}
		delete(set, want.ID)
	}
	for id := range set {
		tenant, schedule, _ := strings.Cut(id, " ")
		if s, err := r.Schedule(ctx, tenant, schedule); err == nil && !s.Paused {
			continue // made or resumed since the records were read
		} else if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := r.cfg.Log.Unschedule(ctx, id); err != nil {
			return fmt.Errorf("clock %q: %w", id, err)
		}
	}
	return nil
}
