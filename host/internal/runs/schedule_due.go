package runs

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/easel-canvas/easel/host/internal/store"
)

// sourceSchedule is the [Job].Source of what schedules begin.
const sourceSchedule = "schedule"

// named gives the job of a schedule the ids of one run: the same ones for each
// host that works on it.
func named(j Job, run string) Job {
	if j.ID != "" {
		return j
	}
	id := func(what string) string {
		return strings.ReplaceAll(uuid.NewSHA1(uuid.NameSpaceOID, []byte("easel "+what+" "+run)).String(), "-", "")
	}
	j.ID, j.Message = run, id("run")
	if j.Fresh {
		j.Session, j.Keep = id("session"), KeepSession
	}
	return j
}

// ScheduleOfRun is the schedule that began a run, "" for other runs. Such a run
// is named after its schedule and the time.
func ScheduleOfRun(v store.Run) string {
	if v.Source != sourceSchedule {
		return ""
	}
	if at := strings.LastIndexByte(v.ID, '-'); at > 0 {
		return v.ID[:at]
	}
	return ""
}

// due says whether the run of a schedule is still wanted, now that its time has
// come. What became of the schedule meanwhile counts, not what the clock knew.
func (ss *schedules) due(ctx context.Context, j *Job) (bool, error) {
	s, err := ss.Schedule(ctx, j.Tenant, j.Schedule)
	if errors.Is(err, store.ErrNotFound) || err == nil && s.Paused {
		return false, ss.stopClock(ctx, j.Tenant, j.Schedule)
	}
	if err != nil {
		return false, err
	}
	c, err := ss.canvases.current(ctx, j)
	if errors.Is(err, store.ErrNotFound) {
		err = ss.DeleteSchedule(ctx, j.Tenant, j.Schedule)
		if errors.Is(err, store.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	unpublished := errors.Is(err, ErrUnpublished)
	if err != nil && !unpublished {
		return false, err
	}
	now := time.Now()
	if at := DueOf(store.Run{ID: j.ID, Source: sourceSchedule}); at.After(now) {
		now = at // the clock of the server is ahead
	}
	if err := ss.setClock(ctx, s, now); err != nil {
		return false, err
	}
	busy, _, err := ss.store.Runs.List(
		ctx, store.RunFilter{Tenant: j.Tenant, Canvas: j.Canvas, Schedule: j.Schedule, Status: store.RunActive},
		store.Page{Limit: 1, Documents: store.NoDocuments},
	)
	if err != nil {
		return false, err
	}
	if len(busy) > 0 {
		return false, ss.skip(ctx, j, busy[0].ID)
	}
	if !j.Fresh || unpublished {
		return true, nil // the run says what it lacks
	}
	v, err := ss.canvases.NewSession(c, j.Session, j.User, s.Name+" "+time.Now().UTC().Format("2006-01-02 15:04"), sourceSchedule)
	if errors.Is(err, ErrCanvas) {
		return true, nil // the run says so
	}
	if err == nil {
		_, err = ss.store.Sessions.Create(ctx, v)
	}
	if errors.Is(err, store.ErrExists) {
		err = nil // made by the host that had the run before
	}
	return true, err
}

// skip leaves a line in the history in place of a run whose predecessor is still
// at work: runs that take longer than their period must not pile up.
func (ss *schedules) skip(ctx context.Context, j *Job, busy string) error {
	row := store.Run{ID: j.ID, Tenant: j.Tenant, Canvas: j.Canvas, User: j.User, Message: j.Message, Source: j.Source}
	row.Error = "left out: run " + busy + " of this schedule was still at work"
	err := ss.store.Runs.LeaveOut(ctx, row)
	if errors.Is(err, store.ErrExists) {
		err = nil // by the host that had it before
	}
	return err
}
