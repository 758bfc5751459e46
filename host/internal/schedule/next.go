package schedule

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
	"github.com/easel-canvas/easel/host/internal/store"
)

// clockID returns the id of a schedule's clock; all tenants share the run log. A tenant id has no
// space.
func clockID(tenant, id string) string { return tenant + " " + id }

// timed reports whether a schedule has times now.
func (s *Schedule) timed() bool { return !s.Paused && !s.Hook }

// clock returns the next time of a schedule, with a run whose id contains that time. The host that
// takes the run sets the clock to the time after it. So each time starts one run, even if hosts and
// servers crash in between, and a missed time starts its run when a host is up again.
func (s *Schedule) clock(at time.Time) (Clock, error) {
	data, err := json.Marshal(&s.Job)
	if err != nil {
		return Clock{}, err
	}
	job, err := json.Marshal(runlog.Run{ID: fmt.Sprintf("%s-%d", s.ID, at.UnixMilli()), Data: data})
	return Clock{
		ID: clockID(s.Tenant, s.ID), When: "@at " + at.UTC().Format(time.RFC3339), Job: job,
	}, err
}

// DueOf returns the time for which a schedule started a run; zero for other runs.
func DueOf(v store.Run) time.Time {
	id := OfRun(v)
	if id == "" {
		return time.Time{}
	}
	ms, err := strconv.ParseInt(v.ID[len(id)+1:], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// nextDue returns the first time of a schedule after now and after its last run.
func (ss *Schedules) nextDue(ctx context.Context, s *Schedule, now time.Time) (time.Time, error) {
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

// setClock sets the clock of a schedule to its next time after now. A concurrent change may have
// set it before, so it is set again until it matches the newest revision.
func (ss *Schedules) setClock(ctx context.Context, s Schedule, now time.Time) error {
	for {
		if err := ss.setClockOnce(ctx, &s, now); err != nil {
			return err
		}
		newest, err := ss.Get(ctx, s.Tenant, s.ID)
		if errors.Is(err, store.ErrNotFound) {
			return ss.stopClock(ctx, s.Tenant, s.ID)
		}
		if err != nil || newest.Rev == s.Rev {
			return err
		}
		s = newest
	}
}

func (ss *Schedules) setClockOnce(ctx context.Context, s *Schedule, now time.Time) error {
	if !s.timed() {
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

func (ss *Schedules) stopClock(ctx context.Context, tenant, id string) error {
	return ss.clocks.Delete(ctx, clockID(tenant, id))
}

// clockCheck is the interval between comparisons of clocks and records.
const clockCheck = time.Minute

// Work sets the clocks according to the records until ctx ends: after a restore the run log has
// none, and a host may have crashed between writing the record and the clock.
func (ss *Schedules) Work(ctx context.Context) {
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

// compareClocks reads the run log first: records that are newer than that have set their clock, and
// setting it again is harmless. A clock whose schedule is deleted concurrently ends at its time.
func (ss *Schedules) compareClocks(ctx context.Context) error {
	list, err := ss.clocks.List(ctx)
	if err != nil {
		return err
	}
	items, err := ss.items.ListAll(ctx, kind)
	if err != nil {
		return err
	}
	set := map[string]Clock{}
	for _, c := range list {
		set[c.ID] = c
	}
	for _, v := range items {
		s, err := parse(v)
		if err != nil || !s.timed() {
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
		if s, err := ss.Get(ctx, tenant, name); err == nil && s.timed() {
			continue // added or resumed since the records were read
		} else if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := ss.clocks.Delete(ctx, id); err != nil {
			return fmt.Errorf("clock %q: %w", id, err)
		}
	}
	return nil
}

// compareClock sets the clock of one schedule if it differs from the record.
func (ss *Schedules) compareClock(ctx context.Context, s *Schedule, is Clock) error {
	at, err := ss.nextDue(ctx, s, time.Time{})
	if err != nil {
		return err
	}
	want, err := s.clock(at)
	if err != nil || is.When == want.When && bytes.Equal(is.Job, want.Job) {
		return err
	}
	// The host that takes a run that has just come sets the clock. A running clock is not set back:
	// deleted history is not a missed time.
	if late := time.Since(at); late > 0 && (late < clockCheck || is.ID != "") {
		return nil
	}
	return ss.setClock(ctx, *s, time.Time{})
}
