package v2

import (
	"context"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// schedules are canvases that run by time.
type schedules struct{ *app.Services }

func (s schedules) operations() []operation {
	const read, edit = app.ScopeRead, app.ScopeEdit
	const all, one = "/api/v2/schedules", "/api/v2/schedules/{schedule}"
	return []operation{
		handle(operation{
			method: "GET", path: all, body: api.BodyNone, scope: read, name: "listSchedules",
			about: "Schedules of the caller's tenant, oldest first, with when they come next and what became of the last run.",
		}, s.list),
		handle(operation{
			method: "POST", path: all, body: api.BodySmall, scope: edit, name: "createSchedule", status: created,
			about: "Runs a canvas again and again, by every or by cron. While a run of it is at work the next one is left out. " +
				"Needs the scope run as well.",
		}, s.add),
		handle(operation{
			method: "GET", path: one, body: api.BodyNone, scope: read, name: "getSchedule", about: "One schedule.",
		}, s.get),
		handle(operation{
			method: "PUT", path: one, body: api.BodySmall, scope: edit, name: "updateSchedule",
			about: "Changes the members that are given; paused stops a schedule and lets it go on. Needs the scope run as well.",
		}, s.update),
		handle(operation{
			method: "DELETE", path: one, body: api.BodyTiny, scope: edit, name: "deleteSchedule",
			about: "Ends a schedule; runs that it has begun go on.",
		}, s.remove),
	}
}

type scheduleView struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Canvas  string        `json:"canvas"`
	Every   string        `json:"every,omitempty" jsonschema:"the period, such as 10m; or cron"`
	Cron    string        `json:"cron,omitempty"`
	Zone    string        `json:"zone,omitempty" jsonschema:"time zone of cron; UTC when left out"`
	Query   engine.Value  `json:"query,omitzero"`
	Inputs  engine.Value  `json:"inputs,omitzero"`
	Session string        `json:"session,omitempty" jsonschema:"new, or the id of a session"`
	User    string        `json:"user"`
	Paused  bool          `json:"paused"`
	Next    []time.Time   `json:"next" jsonschema:"when it comes next, three times; none while it is paused"`
	Last    *scheduledRun `json:"last,omitempty" jsonschema:"its newest run"`
	Rev     int64         `json:"rev" jsonschema:"grows by one with each change"`
	Created time.Time     `json:"created"`
	Updated time.Time     `json:"updated"`

	Published bool `json:"published" jsonschema:"it runs the published version"`
}

type scheduledRun struct {
	Run     string    `json:"run"`
	Status  string    `json:"status" jsonschema:"queued, running, paused, succeeded, failed or canceled"`
	Error   string    `json:"error,omitempty"`
	Created time.Time `json:"created"`
}

type scheduleInput struct {
	Name    *string      `json:"name,omitempty" jsonschema:"no two of a tenant's are the same; the title of the canvas when left out"`
	Canvas  *string      `json:"canvas,omitempty" jsonschema:"its id; cannot be changed later"`
	Every   *string      `json:"every,omitempty" jsonschema:"a period in whole seconds, such as 90s, 10m or 24h, a minute at least"`
	Cron    *string      `json:"cron,omitempty" jsonschema:"minute, hour, day, month and weekday, such as 30 7 * * mon-fri, or six fields with seconds first, or @daily; in place of every"`
	Zone    *string      `json:"zone,omitempty" jsonschema:"IANA time zone of cron, such as Europe/Berlin; UTC when left out"`
	Query   engine.Value `json:"query,omitzero" jsonschema:"what the user says"`
	Inputs  engine.Value `json:"inputs,omitzero" jsonschema:"form fields by name, bare or as {value}"`
	Session *string      `json:"session,omitempty" jsonschema:"new for a session of its own each time, or the id of a session whose next turn each run is; nothing is kept when left out"`
	User    *string      `json:"user,omitempty" jsonschema:"for sys.user_id; who makes the schedule when left out"`
	Paused  *bool        `json:"paused,omitempty"`
	Rev     *int64       `json:"rev,omitempty" jsonschema:"change only this revision"`

	Published *bool `json:"published,omitempty" jsonschema:"run the published version; not with the id of a session, which has a copy of its own"`
}

func scheduleViewOf(s app.ScheduleState) scheduleView {
	out := scheduleView{
		ID: s.ID, Name: s.Name, Canvas: s.Job.Canvas, Every: s.Every, Cron: s.Cron, Zone: s.Zone,
		Query: s.Job.Query, Inputs: s.Job.Inputs, Session: s.Job.Session, User: s.Job.User,
		Paused: s.Paused, Published: s.Job.Published, Next: s.Next, Rev: s.Rev, Created: s.Created, Updated: s.Updated,
	}
	if s.Job.Fresh {
		out.Session = app.NewSessionEachTime
	}
	if run := s.Last; run != nil {
		out.Last = &scheduledRun{run.ID, run.Status, run.Error, timeOf(run.CreateTime)}
	}
	return out
}

type listSchedules struct {
	Who    app.Principal
	Canvas string `query:"canvas"`
}

func (s schedules) list(ctx context.Context, in listSchedules) (list[scheduleView], error) {
	all, err := s.Schedules.List(ctx, in.Who.Tenant, in.Canvas)
	out := list[scheduleView]{Items: make([]scheduleView, len(all))}
	for i, v := range all {
		out.Items[i] = scheduleViewOf(v)
	}
	return out, err
}

type scheduleByID struct {
	Who app.Principal
	ID  string `path:"schedule"`
}

func (s schedules) get(ctx context.Context, in scheduleByID) (scheduleView, error) {
	v, err := s.Schedules.Get(ctx, in.Who.Tenant, in.ID)
	if err != nil {
		return scheduleView{}, err
	}
	state, err := s.Schedules.State(ctx, v)
	return scheduleViewOf(state), err
}

type addSchedule struct {
	Who  app.Principal
	Body scheduleInput
}

func (s schedules) add(ctx context.Context, in addSchedule) (scheduleView, error) {
	v, err := s.Schedules.Create(ctx, in.Who, app.ScheduleChange(in.Body))
	return scheduleViewOf(v), err
}

type updateSchedule struct {
	Who  app.Principal
	ID   string `path:"schedule"`
	Body scheduleInput
}

func (s schedules) update(ctx context.Context, in updateSchedule) (scheduleView, error) {
	v, err := s.Schedules.Update(ctx, in.Who, in.ID, app.ScheduleChange(in.Body))
	return scheduleViewOf(v), err
}

func (s schedules) remove(ctx context.Context, in scheduleByID) (empty, error) {
	return empty{}, s.Schedules.Delete(ctx, in.Who.Tenant, in.ID)
}
