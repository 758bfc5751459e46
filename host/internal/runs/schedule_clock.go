package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
)

// clockID is a schedule's name in the run log, which all tenants share. A tenant
// id has no space.
func clockID(tenant, id string) string { return tenant + " " + id }

// clock is a schedule as the run log keeps it: the one next time that it comes,
// with a run whose id says which time that is. The host that takes the run
// sets the clock to the next time. So a time is taken once, whatever happens to
// hosts and servers in between, and a missed time comes when a host is there.
func (s *Schedule) clock(at time.Time) (schedule.Schedule, error) {
	data, err := json.Marshal(&s.Job)
	if err != nil {
		return schedule.Schedule{}, err
	}
	job, err := json.Marshal(runlog.Run{ID: fmt.Sprintf("%s-%d", s.ID, at.UnixMilli()), Data: data})
	return schedule.Schedule{
		ID: clockID(s.Tenant, s.ID), When: "@at " + at.UTC().Format(time.RFC3339), Job: job,
	}, err
}

// DueOf is the time at which the run of a schedule came; zero for other runs.
func DueOf(v store.Run) time.Time {
	id := ScheduleOfRun(v)
	if id == "" {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(v.ID[len(id)+1:], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// nextDue is the first time of a schedule after now and after its last run.
func (ss *schedules) nextDue(ctx context.Context, s *Schedule, now time.Time) (time.Time, error) {
	last, err := ss.LastRun(ctx, s)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return time.Time{}, err
	}
	for _, t := range []time.Time{s.Set, DueOf(last), time.UnixMilli(last.CreateTime)} {
		if t.After(now) {
			now = t
		}
	}
	next, err := s.Next(1, now, DueOf(last))
	if err != nil {
		return time.Time{}, err
	}
	if len(next) == 0 {
		return time.Time{}, badWhen("cron %q names no time of the next five years", s.Cron)
	}
	return next[0], nil
}

// setClock makes the run log keep the next time of a schedule after now. A
// change that came meanwhile may have been overwritten by it, so what the newest
// revision says is set last.
func (ss *schedules) setClock(ctx context.Context, s Schedule, now time.Time) error {
	for {
		if err := ss.setClockOnce(ctx, &s, now); err != nil {
			return err
		}
		newest, err := ss.Schedule(ctx, s.Tenant, s.ID)
		if errors.Is(err, store.ErrNotFound) {
			return ss.stopClock(ctx, s.Tenant, s.ID)
		}
		if err != nil || newest.Rev == s.Rev {
			return err
		}
		s = newest
	}
}

func (ss *schedules) setClockOnce(ctx context.Context, s *Schedule, now time.Time) error {
	if s.Paused {
		return ss.stopClock(ctx, s.Tenant, s.ID)
	}
	at, err := ss.nextDue(ctx, s, now)
	if err != nil {
		return err
	}
	c, err := s.clock(at)
	if err != nil {
		return err
	}
	return ss.clocks.Put(ctx, c)
}

func (ss *schedules) stopClock(ctx context.Context, tenant, id string) error {
	return ss.clocks.Delete(ctx, clockID(tenant, id))
}

// clockCheck is how often the clocks are compared with the records.
const clockCheck = time.Minute

// keepClocks sets the clocks by the records, until ctx ends: after a restore the
// run log knows none, and a host may have died between the two.
func (ss *schedules) keepClocks(ctx context.Context) {
	for {
		if err := ss.compareClocks(ctx); err != nil && ctx.Err() == nil {
			ss.logger.Warn("schedules were not compared with the run log", "err", err)
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
func (ss *schedules) compareClocks(ctx context.Context) error {
	list, err := ss.clocks.List(ctx)
	if err != nil {
		return err
	}
	items, err := ss.store.Items.ListAll(ctx, scheduleKind)
	if err != nil {
		return err
	}
	set := map[string]schedule.Schedule{}
	for _, c := range list {
		set[c.ID] = c
	}
	for _, v := range items {
		s, err := scheduleOf(v)
		if err != nil || s.Paused {
			continue
		}
		id := clockID(s.Tenant, s.ID)
		if err := ss.compareClock(ctx, &s, set[id]); err != nil {
			ss.logger.Warn("schedule was not set", "schedule", s.ID, "err", err)
		}
		delete(set, id)
	}
	for id := range set {
		tenant, name, _ := strings.Cut(id, " ")
		if s, err := ss.Schedule(ctx, tenant, name); err == nil && !s.Paused {
			continue // made or resumed since the records were read
		} else if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := ss.clocks.Delete(ctx, id); err != nil {
			return fmt.Errorf("clock %q: %w", id, err)
		}
	}
	return nil
}

// compareClock sets the clock of one schedule when it is not what the records say.
func (ss *schedules) compareClock(ctx context.Context, s *Schedule, is schedule.Schedule) error {
	at, err := ss.nextDue(ctx, s, time.Time{})
	if err != nil {
		return err
	}
	want, err := s.clock(at)
	if err != nil || is.When == want.When && bytes.Equal(is.Job, want.Job) {
		return err
	}
	// What has just come is being taken by somebody, who sets the clock. A clock
	// that goes is not set back: history that was forgotten is no missed time.
	if late := time.Since(at); late > 0 && (late < clockCheck || is.ID != "") {
		return nil
	}
	return ss.setClock(ctx, *s, time.Time{})
}
