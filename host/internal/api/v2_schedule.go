package api

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Schedules of our own API: canvases that run by themselves.
var v2ScheduleRoutes = []route{
	{method: "GET", path: "/api/v2/schedules", body: bodyNone, scope: scopeRead, answer: (*API).v2ListSchedules, doc: &v2Doc{
		name: "listSchedules", about: "Schedules of the caller's tenant, oldest first, with when they come next and what became of the last run.",
		out: schemaOf[v2Schedules](), query: []string{"canvas"},
	}},
	{method: "POST", path: "/api/v2/schedules", body: bodySmall, scope: scopeEdit, answer: (*API).v2CreateSchedule, doc: &v2Doc{
		name: "createSchedule", about: "Runs a canvas again and again, by every or by cron. While a run of it is at work the next one is left out. Needs the scope run as well.",
		in: schemaOf[v2ScheduleInput](), out: schemaOf[v2Schedule](), status: http.StatusCreated,
	}},
	{method: "GET", path: "/api/v2/schedules/{schedule}", body: bodyNone, scope: scopeRead, answer: (*API).v2GetSchedule, doc: &v2Doc{
		name: "getSchedule", about: "One schedule.", out: schemaOf[v2Schedule](),
	}},
	{method: "PUT", path: "/api/v2/schedules/{schedule}", body: bodySmall, scope: scopeEdit, answer: (*API).v2UpdateSchedule, doc: &v2Doc{
		name: "updateSchedule", about: "Changes the members that are given; paused stops a schedule and lets it go on. Needs the scope run as well.",
		in: schemaOf[v2ScheduleInput](), out: schemaOf[v2Schedule](),
	}},
	{method: "DELETE", path: "/api/v2/schedules/{schedule}", body: bodyTiny, scope: scopeEdit, answer: (*API).v2DeleteSchedule, doc: &v2Doc{
		name: "deleteSchedule", about: "Ends a schedule; runs that it has begun go on.", status: http.StatusNoContent,
	}},
}

type v2Schedule struct {
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Canvas  string          `json:"canvas"`
	Every   string          `json:"every,omitempty" jsonschema:"the period, such as 10m; or cron"`
	Cron    string          `json:"cron,omitempty"`
	Zone    string          `json:"zone,omitempty" jsonschema:"time zone of cron; UTC when left out"`
	Query   engine.Value    `json:"query,omitzero"`
	Inputs  engine.Value    `json:"inputs,omitzero"`
	Session string          `json:"session,omitempty" jsonschema:"new, or the id of a session"`
	User    string          `json:"user"`
	Paused  bool            `json:"paused"`
	Next    []time.Time     `json:"next" jsonschema:"when it comes next, three times; none while it is paused"`
	Last    *v2ScheduledRun `json:"last,omitempty" jsonschema:"its newest run"`
	Rev     int64           `json:"rev" jsonschema:"grows by one with each change"`
	Created time.Time       `json:"created"`
	Updated time.Time       `json:"updated"`

	Published bool `json:"published" jsonschema:"it runs the published version"`
}

type v2ScheduledRun struct {
	Run     string    `json:"run"`
	Status  string    `json:"status" jsonschema:"queued, running, paused, succeeded, failed or canceled"`
	Error   string    `json:"error,omitempty"`
	Created time.Time `json:"created"`
}

type v2Schedules struct {
	Items []v2Schedule `json:"items"`
}

type v2ScheduleInput struct {
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

// ownSession as the session of a schedule asks for one of its own each time.
const ownSession = "new"

// comingTimes is how many of the next times are returned.
const comingTimes = 3

func (c *call) v2ScheduleOf(s runs.Schedule) (v2Schedule, error) {
	out := v2Schedule{
		ID: s.ID, Name: s.Name, Canvas: s.Job.Canvas, Every: s.Every, Cron: s.Cron, Zone: s.Zone, Query: s.Job.Query, Inputs: s.Job.Inputs,
		Session: s.Job.Session, User: s.Job.User, Paused: s.Paused, Published: s.Job.Published, Next: []time.Time{}, Rev: s.Rev, Created: s.Created, Updated: s.Updated,
	}
	if s.Job.Fresh {
		out.Session = ownSession
	}
	var last time.Time
	switch run, err := c.a.cfg.Runs.LastRun(c.ctx(), &s); {
	case err == nil:
		last = runs.DueOf(run)
		out.Last = &v2ScheduledRun{run.ID, run.Status, run.Error, time.UnixMilli(run.CreateTime).UTC()}
	case !errors.Is(err, store.ErrNotFound):
		return out, err
	}
	next, err := s.Next(comingTimes, time.Now(), last)
	for _, t := range next {
		out.Next = append(out.Next, t.UTC())
	}
	return out, err
}

// schedule finds the one of the path.
func (c *call) schedule() (runs.Schedule, error) {
	s, err := c.a.cfg.Runs.Schedule(c.ctx(), c.who.tenant, c.params["schedule"])
	if errors.Is(err, store.ErrNotFound) {
		err = notFoundV2("schedule")
	}
	return s, err
}

func (a *API) v2ListSchedules(c *call) error {
	list, err := a.cfg.Runs.Schedules(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	out := v2Schedules{Items: []v2Schedule{}}
	for _, s := range list {
		if canvas := c.query.Get("canvas"); canvas != "" && canvas != s.Job.Canvas {
			continue
		}
		one, err := c.v2ScheduleOf(s)
		if err != nil {
			return err
		}
		out.Items = append(out.Items, one)
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2GetSchedule(c *call) error {
	s, err := c.schedule()
	if err != nil {
		return err
	}
	return c.showSchedule(http.StatusOK, s)
}

func (c *call) showSchedule(code int, s runs.Schedule) error {
	out, err := c.v2ScheduleOf(s)
	if err != nil {
		return err
	}
	c.json(code, out)
	return nil
}

func (a *API) v2CreateSchedule(c *call) error {
	s := runs.Schedule{Tenant: c.who.tenant, Job: runs.Job{User: c.who.user, Caller: c.who.rateID, Query: engine.String("")}}
	in, err := c.scheduleInput()
	if err != nil {
		return err
	}
	if in.Canvas == nil {
		return badArgument("canvas is needed: the id of what to run")
	}
	if in.Rev != nil {
		return badArgument("a new schedule has no rev")
	}
	canvas, err := c.canvas(*in.Canvas, notFoundV2("canvas"))
	if err != nil {
		return err
	}
	s.Job.Canvas, s.Name = canvas.ID, canvas.Title
	return c.putSchedule(http.StatusCreated, s, in)
}

func (a *API) v2UpdateSchedule(c *call) error {
	s, err := c.schedule()
	if err != nil {
		return err
	}
	in, err := c.scheduleInput()
	if err != nil {
		return err
	}
	switch {
	case in.Rev != nil && *in.Rev != s.Rev:
		return errScheduleChanged
	case in.Canvas != nil && *in.Canvas != s.Job.Canvas:
		return badArgument("a schedule stays with its canvas; make another one")
	}
	return c.putSchedule(http.StatusOK, s, in)
}

var errScheduleChanged = &status{http.StatusConflict, "changed", "the schedule was changed meanwhile; read it again"}

// scheduleInput reads the body of somebody who may run canvases, too: a schedule
// does it for them.
func (c *call) scheduleInput() (v2ScheduleInput, error) {
	var in v2ScheduleInput
	if !c.who.may(scopeRun) {
		return in, &status{http.StatusForbidden, "forbidden", "This key may not run."}
	}
	return in, c.decode(&in)
}

// putSchedule writes a schedule with what a body changes in it.
func (c *call) putSchedule(code int, s runs.Schedule, in v2ScheduleInput) error {
	if in.Every != nil || in.Cron != nil || in.Zone != nil {
		s.When = whenOf(s.When, in)
	}
	for _, text := range []struct{ from, to *string }{{in.Name, &s.Name}, {in.User, &s.Job.User}} {
		if text.from != nil {
			*text.to = *text.from
		}
	}
	if in.Session != nil {
		s.Job.Fresh, s.Job.Session = *in.Session == ownSession, *in.Session
	}
	if in.Paused != nil {
		s.Paused = *in.Paused
	}
	if in.Published != nil {
		s.Job.Published = *in.Published
	}
	if !in.Query.IsNull() {
		s.Job.Query = in.Query
	}
	if !in.Inputs.IsNull() {
		s.Job.Inputs = in.Inputs
	}
	switch n := len([]rune(s.Name)); {
	case n == 0 || n > longestTitle:
		return badArgument("name must have 1 to %d characters", longestTitle)
	case s.Job.Published && s.Job.Session != "" && !s.Job.Fresh:
		return badArgument("a session has a copy of its own: make it with published, and leave it out here")
	case !s.Job.Inputs.IsNull() && s.Job.Inputs.Kind() != engine.KindObject:
		return badArgument("inputs must be an object, not a %s", s.Job.Inputs.Kind())
	}
	kept, err := c.a.cfg.Runs.PutSchedule(c.ctx(), s)
	if err != nil {
		return scheduleProblem(err, s.Name)
	}
	return c.showSchedule(code, kept)
}

// whenOf is the new times of a schedule. Whoever names a period takes the cron
// line away, and the other way round; naming both is refused.
func whenOf(old runs.When, in v2ScheduleInput) runs.When {
	given := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	w := runs.When{Every: given(in.Every), Cron: given(in.Cron), Zone: given(in.Zone)}
	if in.Every == nil && in.Cron == nil {
		w.Every, w.Cron = old.Every, old.Cron
	}
	if in.Zone == nil && w.Cron != "" {
		w.Zone = old.Zone
	}
	return w
}

// scheduleProblem puts what a schedule was refused for into words.
func scheduleProblem(err error, name string) error {
	var when *runs.WhenError
	switch {
	case errors.As(err, &when):
		return badArgument("%s", when.Problem)
	case errors.Is(err, runs.ErrTooMany):
		return &status{http.StatusConflict, "too_many", err.Error()}
	case errors.Is(err, runs.ErrSession):
		return notFoundV2("session")
	case errors.Is(err, store.ErrExists):
		return &status{http.StatusConflict, "exists", "there is a schedule with the name " + strconv.Quote(name) + " already; give this one another"}
	case errors.Is(err, store.ErrConflict):
		return errScheduleChanged
	}
	return err
}

func (a *API) v2DeleteSchedule(c *call) error {
	err := a.cfg.Runs.DeleteSchedule(c.ctx(), c.who.tenant, c.params["schedule"])
	if errors.Is(err, store.ErrNotFound) {
		return notFoundV2("schedule")
	}
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// deleteCanvas removes a canvas with what runs it by itself.
func (c *call) deleteCanvas(id string) error {
	if err := c.a.cfg.Store.DeleteCanvas(c.ctx(), c.who.tenant, id); err != nil {
		return err
	}
	return c.a.cfg.Runs.DeleteSchedules(c.ctx(), c.who.tenant, id)
}
