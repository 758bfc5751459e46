package schedule

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// source is the source of the jobs of schedules.
const source = "schedule"

// OfRun returns the id of the schedule that started a run, "" for other runs. The id of such a run
// consists of the id of its schedule and the time.
func OfRun(v store.Run) string {
	if v.Source != source {
		return ""
	}
	if at := strings.LastIndexByte(v.ID, '-'); at > 0 {
		return v.ID[:at]
	}
	return ""
}

// Due reports whether the run of a schedule starts, now that its time has come. It decides by the
// present schedule, which may have changed since the clock was set, and sets the clock to the next
// time.
func (ss *Schedules) Due(ctx context.Context, j *runs.Job) (bool, error) {
	s, err := ss.Get(ctx, j.Tenant, j.Schedule)
	if errors.Is(err, store.ErrNotFound) || err == nil && s.Paused {
		return false, ss.stopClock(ctx, j.Tenant, j.Schedule)
	}
	if err != nil {
		return false, err
	}
	c, err := ss.runs.Current(ctx, j)
	if errors.Is(err, store.ErrNotFound) {
		err = ss.Delete(ctx, j.Tenant, j.Schedule)
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	unpublished := errors.Is(err, runs.ErrUnpublished)
	if err != nil && !unpublished {
		return false, err
	}
	now := time.Now()
	if at := DueOf(store.Run{ID: j.ID, Source: source}); at.After(now) {
		now = at // the clock of the server is ahead
	}
	if err := ss.setClock(ctx, s, now); err != nil {
		return false, err
	}
	if s.Plugin != "" {
		return false, ss.poll(ctx, s, j)
	}
	f := store.RunFilter{Tenant: j.Tenant, Canvas: j.Canvas, Schedule: j.Schedule, Status: store.RunActive}
	busy, _, err := ss.history.List(ctx, f, store.Page{Limit: 1, Documents: store.NoDocuments})
	if err != nil {
		return false, err
	}
	if len(busy) > 0 {
		return false, ss.leaveOut(ctx, j, "left out: run "+busy[0].ID+" of this schedule was still at work")
	}
	if !j.Fresh || unpublished {
		return true, nil // the run fails with the reason
	}
	err = ss.newSession(ctx, &s, c, j)
	if errors.Is(err, runs.ErrCanvas) {
		return true, nil // the run fails with the reason
	}
	return true, err
}

// newSession creates the session of a run that does not continue one.
func (ss *Schedules) newSession(ctx context.Context, s *Schedule, c store.Canvas, j *runs.Job) error {
	name := s.Name + " " + time.Now().UTC().Format("2006-01-02 15:04")
	v, err := ss.runs.NewSession(c, j.Session, j.User, name, source)
	if err == nil {
		_, err = ss.sessions.Create(ctx, v)
	}
	if errors.Is(err, store.ErrExists) {
		err = nil // created by the previous host of this run
	}
	return err
}

// leaveOut records a run that does not start, with the reason: the previous one is still active, as
// runs that take longer than their period must not pile up, or a plugin failed.
func (ss *Schedules) leaveOut(ctx context.Context, j *runs.Job, why string) error {
	row := store.Run{
		ID: j.ID, Tenant: j.Tenant, Canvas: j.Canvas, User: j.User, Message: j.Message, Source: j.Source,
	}
	row.Error = why
	err := ss.history.LeaveOut(ctx, row)
	if errors.Is(err, store.ErrExists) {
		err = nil // recorded by the previous host of this run
	}
	return err
}
