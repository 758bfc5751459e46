package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Schedules run canvases by time.
type Schedules struct {
	schedules *schedule.Schedules
	canvases  *Canvases
}

// NewSessionEachTime as the session of a schedule starts a new session for each run.
const NewSessionEachTime = "new"

// comingTimes is the number of next times returned.
const comingTimes = 3

// ScheduleState is a schedule with its newest run and its next times, in UTC.
type ScheduleState struct {
	Schedule
	Last *Run // nil when it has not run yet
	Next []time.Time
}

// ScheduleChange is a partial update of a schedule; nil and null leave a member as it is.
type ScheduleChange struct {
	Name      *string
	Canvas    *string
	Every     *string
	Cron      *string
	Zone      *string
	Query     engine.Value
	Inputs    engine.Value
	Session   *string
	User      *string
	Paused    *bool
	Rev       *int64
	Published *bool
	Plugin    *string
	Params    engine.Value
}

var errScheduleChanged = Refuse(CodeChanged, "the schedule has a newer revision; reload and retry")

// mayRun refuses a principal that may not run canvases, and a key that expires: a schedule runs
// them for it, and longer.
func mayRun(who Principal) error {
	if !who.May(ScopeRun) {
		return Forbidden("This key may not run.")
	}
	if who.Key != nil && who.Key.ExpireTime != 0 {
		return Forbidden("a key that expires cannot make or change schedules, which run on after it")
	}
	return nil
}

// Get finds a schedule of a canvas that a principal may use. Errors: [ErrNotFound].
func (s *Schedules) Get(ctx context.Context, who Principal, id string) (Schedule, error) {
	v, err := s.schedules.Get(ctx, who.Tenant, id)
	if err == nil {
		err = s.canvases.MayUse(ctx, who, v.Job.Canvas)
	}
	if err != nil {
		return Schedule{}, missing(err, "schedule")
	}
	return v, nil
}

// State returns what became of a schedule.
func (s *Schedules) State(ctx context.Context, v Schedule) (ScheduleState, error) {
	out := ScheduleState{Schedule: v, Next: []time.Time{}}
	var last time.Time
	switch run, err := s.schedules.LastRun(ctx, &v); {
	case err == nil:
		last, out.Last = schedule.DueOf(run), &run
	case !errors.Is(err, ErrNotFound):
		return out, err
	}
	next, err := v.Next(comingTimes, time.Now(), last)
	for _, t := range next {
		out.Next = append(out.Next, t.UTC())
	}
	return out, err
}

// List returns the schedules of the canvases that a principal may use, oldest first, or those of
// one canvas.
func (s *Schedules) List(ctx context.Context, who Principal, canvas string) ([]ScheduleState, error) {
	list, err := s.usable(ctx, who)
	if err != nil {
		return nil, err
	}
	var out []ScheduleState
	for _, v := range list {
		if canvas != "" && canvas != v.Job.Canvas {
			continue
		}
		one, err := s.State(ctx, v)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// usable returns the schedules of the canvases that a principal may use, oldest first.
func (s *Schedules) usable(ctx context.Context, who Principal) ([]Schedule, error) {
	list, err := s.schedules.List(ctx, who.Tenant)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(list))
	for _, v := range list {
		ids = append(ids, v.Job.Canvas)
	}
	slices.Sort(ids)
	canvases, err := s.canvases.store.Canvases.Revisions(ctx, slices.Compact(ids))
	return slices.DeleteFunc(list, func(v Schedule) bool {
		return who.StillMay(canvases[v.Job.Canvas]) != nil
	}), err
}

// free refuses the name of another schedule that a principal sees. Names of others are free: a
// refusal would reveal them.
func (s *Schedules) free(ctx context.Context, who Principal, v *Schedule) error {
	list, err := s.usable(ctx, who)
	if err != nil {
		return err
	}
	for _, other := range list {
		if other.ID != v.ID && strings.EqualFold(other.Name, v.Name) {
			return Refuse(CodeExists, "there is a schedule with the name %q already; give this one another", v.Name)
		}
	}
	return nil
}

// Create makes a schedule. Errors: those of [Error].
func (s *Schedules) Create(ctx context.Context, who Principal, in ScheduleChange) (ScheduleState, error) {
	if err := mayRun(who); err != nil {
		return ScheduleState{}, err
	}
	if in.Canvas == nil {
		return ScheduleState{}, BadArgument("canvas is empty; expected the id of a canvas")
	}
	if in.Rev != nil {
		return ScheduleState{}, BadArgument("a new schedule has no rev")
	}
	canvas, err := s.canvases.Get(ctx, who, *in.Canvas)
	if err != nil {
		return ScheduleState{}, err
	}
	job := Job{
		User: who.User, Caller: who.Caller, Reader: scheduledReader(who), Query: engine.String(""), Canvas: canvas.ID,
	}
	return s.put(ctx, who, Schedule{Tenant: who.Tenant, Name: canvas.Title, Job: job}, in)
}

// Update changes a schedule. Errors: those of [Error].
func (s *Schedules) Update(ctx context.Context, who Principal, id string, in ScheduleChange) (ScheduleState, error) {
	v, err := s.Get(ctx, who, id)
	if err == nil {
		err = mayRun(who)
	}
	switch {
	case err != nil:
		return ScheduleState{}, err
	case in.Rev != nil && *in.Rev != v.Rev:
		return ScheduleState{}, errScheduleChanged
	case in.Canvas != nil && *in.Canvas != v.Job.Canvas:
		return ScheduleState{}, BadArgument("a schedule stays with its canvas; make another one")
	case in.spends():
		v.Job.Caller = who.Caller // the limits of another key are not spent on it
		v.Job.Reader = scheduledReader(who)
	}
	return s.put(ctx, who, v, in)
}

// scheduledReader returns on whose behalf the runs of a schedule read documents: that of who made
// it, or changed last what runs and when. Each run reads the groups of the member.
func scheduledReader(who Principal) access.Reader { return access.Reader{User: who.Reader().User} }

// spends reports whether the change is about what runs and when.
func (in *ScheduleChange) spends() bool {
	resumed := in.Paused != nil && !*in.Paused
	return resumed || in.Every != nil || in.Cron != nil || in.Zone != nil || in.Session != nil || in.Published != nil ||
		in.Plugin != nil || !in.Query.IsNull() || !in.Inputs.IsNull() || !in.Params.IsNull()
}

// put writes a schedule with a change.
func (s *Schedules) put(ctx context.Context, who Principal, v Schedule, in ScheduleChange) (ScheduleState, error) {
	name := v.Name
	in.apply(&v)
	switch n := len([]rune(v.Name)); {
	case n == 0 || n > LongestTitle:
		return ScheduleState{}, BadArgument("name must have 1 to %d characters", LongestTitle)
	case v.Job.Published && v.Job.Session != "" && !v.Job.Fresh:
		return ScheduleState{}, ErrOwnCopy
	case !v.Job.Inputs.IsNull() && v.Job.Inputs.Kind() != engine.KindObject:
		return ScheduleState{}, BadArgument("inputs must be an object, not a %s", v.Job.Inputs.Kind())
	case !v.Params.IsNull() && v.Params.Kind() != engine.KindObject:
		return ScheduleState{}, BadArgument("params must be an object, not a %s", v.Params.Kind())
	}
	if v.ID == "" || v.Name != name {
		if err := s.free(ctx, who, &v); err != nil {
			return ScheduleState{}, err
		}
	}
	stored, err := s.schedules.Put(ctx, v)
	if err != nil {
		return ScheduleState{}, scheduleError(err)
	}
	return s.State(ctx, stored)
}

// ErrOwnCopy refuses the published version for a session.
var ErrOwnCopy = BadArgument("a session has its own copy of the canvas: " +
	"set published when you create the session, and leave it out here")

// apply writes the change over a schedule.
func (in *ScheduleChange) apply(v *Schedule) {
	if in.Every != nil || in.Cron != nil || in.Zone != nil {
		v.When = in.when(v.When)
	}
	if in.Name != nil {
		v.Name = *in.Name
	}
	if in.User != nil {
		v.Job.User = *in.User
	}
	if in.Session != nil {
		v.Job.Fresh, v.Job.Session = *in.Session == NewSessionEachTime, *in.Session
	}
	if in.Paused != nil {
		v.Paused = *in.Paused
	}
	if in.Published != nil {
		v.Job.Published = *in.Published
	}
	if !in.Query.IsNull() {
		v.Job.Query = in.Query
	}
	if !in.Inputs.IsNull() {
		v.Job.Inputs = in.Inputs
	}
	if in.Plugin != nil {
		v.Plugin = strings.TrimPrefix(*in.Plugin, engine.PluginPrefix)
	}
	if !in.Params.IsNull() {
		v.Params = in.Params
	}
}

// when returns the new times of a schedule. A period removes the cron line, and the other way
// round; both are refused when they are stored.
func (in *ScheduleChange) when(old When) When {
	given := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	w := When{Every: given(in.Every), Cron: given(in.Cron), Zone: given(in.Zone)}
	if in.Every == nil && in.Cron == nil {
		w.Every, w.Cron = old.Every, old.Cron
	}
	if in.Zone == nil && w.Cron != "" {
		w.Zone = old.Zone
	}
	return w
}

// scheduleError returns the reason why a schedule was refused.
func scheduleError(err error) error {
	var when *WhenError
	switch {
	case errors.As(err, &when):
		return BadArgument("%s", when.Problem)
	case errors.Is(err, schedule.ErrTrigger):
		return BadArgument("%s", err)
	case errors.Is(err, ErrTooMany):
		return Refuse(CodeTooMany, "%s", err)
	case errors.Is(err, ErrSession):
		return Missing("session")
	case errors.Is(err, ErrConflict):
		return errScheduleChanged
	}
	return err
}

// Delete ends a schedule; runs that it has started continue. Errors: [ErrNotFound].
func (s *Schedules) Delete(ctx context.Context, who Principal, id string) error {
	if _, err := s.Get(ctx, who, id); err != nil {
		return err
	}
	return missing(s.schedules.Delete(ctx, who.Tenant, id), "schedule")
}

// Hook calls the plugin of a schedule with a request from outside, whose proof the plugin checks,
// and starts the runs that the plugin returns.
//
// Errors: [ErrNotFound] for a schedule that takes no requests; those of a plugin, as
// *contract.Error.
func (s *Schedules) Hook(ctx context.Context, tenant, id string, r contract.TriggerRequest) (
	contract.TriggerResponse, error,
) {
	v, err := s.schedules.Get(ctx, tenant, id)
	if err == nil && (!v.Trigger.Hook || v.Paused) {
		err = Missing("webhook")
	}
	if err != nil {
		return contract.TriggerResponse{}, missing(err, "schedule")
	}
	call := schedule.TriggerCall{ID: uuid.NewString(), Arguments: r.Arguments()}
	t, err := s.schedules.Fire(ctx, v, call)
	return t.Response, err
}

// HookPath is the path of the address whose requests go to the plugin of a schedule.
func HookPath(tenant, id string) string { return "/api/webhooks/" + tenant + "/" + id }
