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
			about: "List the schedules of the tenant, oldest first, with their next times and the result of their " +
				"last run.",
		}, s.list),
		handle(operation{
			method: "POST", path: all, body: api.BodySmall, scope: edit, name: "createSchedule", status: created,
			about: "Create a schedule, which runs a canvas by period (every) or by cron expression (cron). A run " +
				"is skipped while the previous one is still running. Needs the scope run as well.",
		}, s.add),
		handle(operation{
			method: "GET", path: one, body: api.BodyNone, scope: read, name: "getSchedule",
			about: "Get a schedule.",
		}, s.get),
		handle(operation{
			method: "PUT", path: one, body: api.BodySmall, scope: edit, name: "updateSchedule",
			about: "Update the given members of a schedule; paused stops and resumes it. Needs the scope run as " +
				"well.",
		}, s.update),
		handle(operation{
			method: "DELETE", path: one, body: api.BodyTiny, scope: edit, name: "deleteSchedule",
			about: "Delete a schedule. Runs that it started continue.",
		}, s.remove),
	}
}

type scheduleView struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Canvas  string        `json:"canvas"`
	Every   string        `json:"every,omitempty" jsonschema:"period, such as 10m; absent if cron is set"`
	Cron    string        `json:"cron,omitempty"`
	Zone    string        `json:"zone,omitempty" jsonschema:"time zone of cron; default UTC"`
	Query   engine.Value  `json:"query,omitzero"`
	Inputs  engine.Value  `json:"inputs,omitzero"`
	Session string        `json:"session,omitempty" jsonschema:"new, or the id of a session"`
	User    string        `json:"user"`
	Paused  bool          `json:"paused"`
	Next    []time.Time   `json:"next" jsonschema:"the next three times; empty while paused"`
	Last    *scheduledRun `json:"last,omitempty" jsonschema:"its most recent run"`
	Rev     int64         `json:"rev" jsonschema:"increases by one with each change"`
	Created time.Time     `json:"created"`
	Updated time.Time     `json:"updated"`

	Published bool `json:"published" jsonschema:"whether it runs the published version"`

	Plugin string       `json:"plugin,omitempty" jsonschema:"plugin that begins the runs, such as feed@1"`
	Params engine.Value `json:"params,omitzero" jsonschema:"settings of the plugin in this schedule"`
	Hook   string       `json:"hook,omitempty" jsonschema:"path of the address whose requests the plugin gets; such a schedule has no times"`
}

type scheduledRun struct {
	Run     string    `json:"run"`
	Status  string    `json:"status" jsonschema:"queued, running, paused, succeeded, failed or canceled"`
	Error   string    `json:"error,omitempty"`
	Created time.Time `json:"created"`
}

type scheduleInput struct {
	Name    *string      `json:"name,omitempty" jsonschema:"unique within the tenant; default the title of the canvas"`
	Canvas  *string      `json:"canvas,omitempty" jsonschema:"id of the canvas; cannot be changed"`
	Every   *string      `json:"every,omitempty" jsonschema:"period in whole seconds, such as 90s, 10m or 24h; at least 1m"`
	Cron    *string      `json:"cron,omitempty" jsonschema:"cron expression of 5 fields, such as 30 7 * * mon-fri, of 6 fields with seconds first, or @daily; instead of every"`
	Zone    *string      `json:"zone,omitempty" jsonschema:"IANA time zone of cron, such as Europe/Berlin; default UTC"`
	Query   engine.Value `json:"query,omitzero" jsonschema:"the message of the user"`
	Inputs  engine.Value `json:"inputs,omitzero" jsonschema:"form values by field name, as plain values or {value}"`
	Session *string      `json:"session,omitempty" jsonschema:"new for a new session each time, or the id of a session to continue; without it, no conversation is stored"`
	User    *string      `json:"user,omitempty" jsonschema:"value of sys.user_id; default the creator of the schedule"`
	Paused  *bool        `json:"paused,omitempty"`
	Rev     *int64       `json:"rev,omitempty" jsonschema:"fail unless the current revision is this one"`

	Published *bool `json:"published,omitempty" jsonschema:"run the published version; not allowed with the id of a session, which has its own copy"`

	Plugin *string      `json:"plugin,omitempty" jsonschema:"plugin that begins the runs, one for each item that it gives; one of the kind webhook needs neither every nor cron"`
	Params engine.Value `json:"params,omitzero" jsonschema:"settings of the plugin, by name"`
}

func scheduleViewOf(s app.ScheduleState) scheduleView {
	out := scheduleView{
		ID: s.ID, Name: s.Name, Canvas: s.Job.Canvas, Every: s.Every, Cron: s.Cron, Zone: s.Zone,
		Query: s.Job.Query, Inputs: s.Job.Inputs, Session: s.Job.Session, User: s.Job.User,
		Paused: s.Paused, Published: s.Job.Published, Next: s.Next, Rev: s.Rev, Created: s.Created, Updated: s.Updated,
	}
	if out.Plugin, out.Params = s.Plugin, s.Params; s.Trigger.Hook {
		out.Hook = app.HookPath(s.Tenant, s.ID)
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
	Canvas string `query:"canvas" jsonschema:"only schedules of this canvas"`
}

func (s schedules) list(ctx context.Context, in listSchedules) (list[scheduleView], error) {
	all, err := s.Schedules.List(ctx, in.Who, in.Canvas)
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
	v, err := s.Schedules.Get(ctx, in.Who, in.ID)
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
	return empty{}, s.Schedules.Delete(ctx, in.Who, in.ID)
}
