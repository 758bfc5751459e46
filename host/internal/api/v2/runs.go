package v2

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// runs are executions of canvases.
type runs struct{ *app.Services }

func (s runs) operations() []operation {
	const read, run = app.ScopeRead, app.ScopeRun
	const one = "/api/v2/runs/{id}"
	return []operation{
		handle(operation{
			method: "POST", path: "/api/v2/canvases/{id}/runs", body: api.BodyCanvas, scope: run, name: "startRun",
			about: "Start a run. The response is sent once the run is stored; its events are at events_url. With " +
				"Accept: text/event-stream the response is the event stream. The header X-Easel-Run of the " +
				"response is the id of the run, in all dialects.",
			status: http.StatusAccepted, stream: true,
		}, s.start),
		handle(operation{
			method: "POST", path: "/api/v2/canvases/{id}/debug", body: api.BodyCanvas, scope: app.ScopeEdit,
			name: "debugNode",
			about: "Run one node alone, with values for its inputs, of the saved document or of the given one. " +
				"Nothing is stored. The caller needs the scope run too.",
		}, s.debug),
		handle(operation{
			method: "GET", path: "/api/v2/runs", body: api.BodyNone, scope: read, name: "listRuns",
			about: "List runs, newest first. Pass next of a page as after to get the next page; runs that " +
				"start between the requests do not shift it.",
		}, s.list),
		handle(operation{
			method: "GET", path: one, body: api.BodyNone, scope: read, name: "getRun",
			about: "Get a run.",
		}, s.get),
		handle(operation{
			method: "GET", path: one + "/events", body: api.BodyNone, scope: read, name: "runEvents",
			about: "Follow the events of a run as server-sent events, from the start or after Last-Event-ID. No " +
				"event is missed or repeated. Clients that cannot set the header use the query parameter " +
				"lastEventId. If the run has ended and the client has all events, the response is 204, which " +
				"stops an EventSource. An event named takeover means that another host continues the run: it " +
				"invalidates all earlier events whose sequence number, the first part of the event id, is equal " +
				"or higher; those numbers are sent again. The last event is named end. Without the scope " +
				"read_traces, events of nodes and tools have no inputs, outputs and results.",
			events: true, stream: true,
		}, s.events),
		handle(operation{
			method: "GET", path: one + "/case", body: api.BodyNone, scope: app.ScopeReadTraces, name: "runCase",
			about: "Get a run that has ended as a case of easel test: its document, what it was given, what models, " +
				"searches, tools and MCP servers answered, and what came of it. Without them the case gives the " +
				"same result; a run that does not is refused with no_case.",
		}, s.testCase),
		handle(operation{
			method: "GET", path: one + "/trace", body: api.BodyNone, scope: app.ScopeReadTraces, name: "runTrace",
			media: "application/jsonl", audit: true,
			about: "Get an ended run as JSON lines: a header, the state that the run began with, its events without " +
				"the members that all have, and its end. The pieces of a message that follow each other are one " +
				"line, with the length of each in bytes. The response is 410 when the run is no longer kept.",
		}, s.trace),
		handle(operation{
			method: "GET", path: one + "/document", body: api.BodyNone, scope: app.ScopeReadTraces,
			name: "runDocument", audit: true,
			about: "Get the document that a run has run: the copy of its session, a version, or the draft as it was " +
				"then.",
		}, s.document),
		handle(operation{
			method: "POST", path: one + "/cancel", body: api.BodyTiny, scope: run, name: "cancelRun",
			about: "Cancel a run. A run that has ended does not change.", status: http.StatusAccepted,
		}, s.cancel),
		handle(operation{
			method: "POST", path: one + "/rerun", body: api.BodyCanvas, scope: run, name: "rerun",
			about:  "Run again from the state before an execution of a node. The original run does not change.",
			status: http.StatusAccepted, stream: true,
		}, s.rerun),
		handle(operation{
			method: "POST", path: one + "/resume", body: api.BodyCanvas, scope: run, name: "resume",
			about:  "Resume a paused run with the answers to its form. The response describes a new run.",
			status: http.StatusAccepted, stream: true,
		}, s.resume),
		handle(operation{
			method: "POST", path: one + "/approve", body: api.BodyCanvas, scope: run, name: "approve",
			audit: true,
			about: "Resume a paused run with decisions about the tools and nodes that need approval: the fields " +
				"of its event user_inputs that have a member approval, by name. The response describes a new run, " +
				"which asks again for undecided ones and for arguments that do not match the schema of the tool.",
			status: http.StatusAccepted, stream: true,
		}, s.approve),
	}
}

type runView struct {
	ID        string     `json:"id"`
	Canvas    string     `json:"canvas"`
	Session   string     `json:"session,omitempty"`
	Message   string     `json:"message" jsonschema:"message_id of its events"`
	Source    string     `json:"source" jsonschema:"what started it, such as api, editor, webhook, v2 or schedule"`
	Schedule  string     `json:"schedule,omitempty" jsonschema:"id of the schedule that started it"`
	User      string     `json:"user,omitempty" jsonschema:"value of sys.user_id, which the client of the run chose"`
	Verified  bool       `json:"user_verified" jsonschema:"whether the host authenticated user"`
	Principal *principal `json:"principal,omitempty" jsonschema:"who started it, the value of sys.principal"`
	Status    string     `json:"status" jsonschema:"queued, running, paused, succeeded, failed or canceled; a paused run that was answered has succeeded"`
	Error     string     `json:"error,omitempty"`
	Tokens    int64      `json:"tokens" jsonschema:"model tokens, once the run has ended"`
	Cost      float64    `json:"cost" jsonschema:"of the tokens, in the currency of the prices; 0 without prices"`
	Created   time.Time  `json:"created"`
	Ended     *time.Time `json:"ended,omitempty"`
	EventsURL string     `json:"events_url"`
	Question  string     `json:"question,omitempty" jsonschema:"beginning of what was asked, or the values of the form that it answers; in lists"`
	Answer    string     `json:"answer,omitempty" jsonschema:"beginning of the answer; in lists of ended runs"`
	Kept      string     `json:"kept,omitempty" jsonschema:"of an ended run: kept if its events can be read, pending if they are stored soon, or why they are not kept: deleted, expired, too_large, disk_full, off or missing"`
	Wait      *waitView  `json:"wait,omitempty" jsonschema:"what it waits or waited for; not in lists"`
}

// principal is who started a run, as the host has authenticated it.
type principal struct {
	Kind    string `json:"kind" jsonschema:"key, login, embed, webhook, schedule or host"`
	ID      string `json:"id" jsonschema:"of the key, user, embed token, canvas or schedule"`
	User    string `json:"user,omitempty" jsonschema:"member of the tenant; absent for other kinds"`
	EndUser string `json:"end_user,omitempty" jsonschema:"user of an embedding site, as the site has signed it"`
}

type runList struct {
	Items    []runView `json:"items"`
	Total    *int      `json:"total,omitempty" jsonschema:"number of matches on all pages; absent above 1000 without count=all"`
	Next     string    `json:"next,omitempty" jsonschema:"value of after for the next page; absent on the last page"`
	Currency string    `json:"currency,omitempty" jsonschema:"code of the currency of costs, such as USD, if the prices name it"`
	Keeps    string    `json:"keeps" jsonschema:"kept if runs that end now are kept with their events, or why they are not: disk_full or off"`
}

// runInput is read member by member: numbers count as texts, and members that are not known are
// ignored. So are the others.
type runInput struct {
	Query   anyJSON `json:"query,omitempty" jsonschema:"the message of the user"`
	Inputs  object  `json:"inputs,omitempty" jsonschema:"form values by field name, as plain values or {value}"`
	Files   objects `json:"files,omitempty" jsonschema:"descriptors of uploaded files"`
	Session string  `json:"session,omitempty" jsonschema:"id of the session to continue; without it, no conversation is stored"`
	User    string  `json:"user,omitempty"`
	From    string  `json:"from,omitempty" jsonschema:"start at this node, with the outputs in the saved state"`
	Until   string  `json:"until,omitempty" jsonschema:"stop after this node has run"`
	Pins    object  `json:"pins,omitempty" jsonschema:"outputs by node id, used instead of running the node"`

	Published bool `json:"published,omitempty" jsonschema:"run the published version; not allowed with session, which has its own copy"`

	ItemMessages itemMessages `json:"item_messages,omitempty" jsonschema:"order of the messages of an Iteration or Loop that runs its items at once: in_order (default) or as_completed, each item's messages together as soon as it is done"`
}

// itemMessages is the order of messages of items that run at once.
type itemMessages string

const (
	inOrder     itemMessages = "in_order"
	asCompleted itemMessages = "as_completed"
)

func (in *runInput) readBody(r *api.Request) error {
	b := &r.Body
	in.Session, in.User, in.Query = b.Text("session"), b.Text("user"), anyJSON{b.Get("query")}
	in.Inputs, in.Files = object{b.Object("inputs")}, objects{b.List("files")}
	in.From, in.Until = b.Text("from"), b.Text("until")
	in.Pins, in.Published = object{b.Object("pins")}, b.Flag("published", false)
	in.ItemMessages = itemMessages(b.Text("item_messages"))
	if err := b.Valid(); err != nil {
		return err
	}
	if m := in.ItemMessages; m != "" && m != inOrder && m != asCompleted {
		return app.BadArgument("item_messages must be in_order or as_completed, not %.40q", string(m))
	}
	return nil
}

type rerunInput struct {
	Node string `json:"node,omitempty" jsonschema:"node to run again from"`
	Nth  int    `json:"nth,omitempty" jsonschema:"execution of the node, from 1"`
	Seq  uint64 `json:"seq,omitempty" jsonschema:"alternative to node: the number of a log record"`
	Pins object `json:"pins,omitempty"`
}

func (in *rerunInput) readBody(r *api.Request) error {
	b := &r.Body
	in.Node = b.Text("node")
	nth, _ := b.Get("nth").Int()
	seq, _ := b.Get("seq").Int()
	in.Nth, in.Pins = int(nth), object{b.Object("pins")}
	if err := b.Valid(); err != nil {
		return err
	}
	if seq < 0 {
		return app.ErrNodeOrSeq
	}
	in.Seq = uint64(seq)
	return nil
}

type resumeInput struct {
	Inputs object `json:"inputs" jsonschema:"values by field name"`
}

func (in *resumeInput) readBody(r *api.Request) error {
	in.Inputs = object{r.Body.Object("inputs")}
	return r.Body.Valid()
}

// principalOf describes who started or answered a run; nil if unknown.
func principalOf(by app.Starter) *principal {
	if by.Kind == "" {
		return nil
	}
	return &principal{by.Kind, by.ID, by.User, by.EndUser}
}

func runViewOf(v app.Run) runView {
	by := app.StartedBy(v)
	return runView{
		ID: v.ID, Canvas: v.Canvas, Session: v.Session, Message: v.Message, Source: v.Source,
		User: v.User, Verified: by.Knows(v.User), Principal: principalOf(by),
		Schedule: app.ScheduleOfRun(v), Status: v.Status, Error: v.Error, Tokens: v.Tokens,
		Cost:    float64(v.Cost) / microsPerUnit,
		Created: timeOf(v.CreateTime),
		Ended:   timeOrNil(v.EndTime), EventsURL: "/api/v2/runs/" + v.ID + "/events",
	}
}

// startedRun answers with a run that was accepted, or with its events if the client wants those.
type startedRun struct {
	s  runs
	id string
}

func (startedRun) schema() *jsonschema.Schema { return schemaOfType(reflect.TypeFor[runView]()) }

func (a startedRun) Write(r *api.Request) error {
	if strings.Contains(r.HTTP.Header.Get("Accept"), "text/event-stream") {
		return eventStream{run: a.id}.Write(r)
	}
	v, err := a.s.Runs.Get(r.HTTP.Context(), r.Who, a.id)
	if err != nil {
		return err
	}
	return api.JSON(http.StatusAccepted, runViewOf(v)).Write(r)
}

// startFrom starts the job that follows from a run.
func (s runs) startFrom(
	ctx context.Context, r *api.Request, run string, job func(app.Run) (app.Job, error),
) (startedRun, error) {
	v, err := s.Runs.Get(ctx, r.Who, run)
	if err != nil {
		return startedRun{}, err
	}
	j, err := job(v)
	if err != nil {
		return startedRun{}, err
	}
	return s.accept(ctx, r, j)
}

// accept starts a job.
func (s runs) accept(ctx context.Context, r *api.Request, j app.Job) (startedRun, error) {
	j.Tenant, j.Source, j.Caller = r.Who.Tenant, app.SourceOwn, r.Who.Caller
	j, err := r.Start(ctx, j)
	switch {
	case errors.Is(err, app.ErrSession):
		err = app.Missing("session")
	case errors.Is(err, app.ErrNotFound):
		err = app.Missing("canvas")
	}
	return startedRun{s, j.ID}, err
}

type startRun struct {
	Request *api.Request // which frees its body when the run has it
	Who     app.Principal
	ID      string `path:"id"`
	Body    runInput
}

func (s runs) start(ctx context.Context, in startRun) (startedRun, error) {
	j := app.Job{
		Canvas: in.ID, Session: in.Body.Session, User: in.Body.User, Query: in.Body.Query.Value,
		Inputs: in.Body.Inputs.Value, Files: app.OwnFiles(in.Who.Tenant, in.Body.Files.Value),
		From: in.Body.From, Until: in.Body.Until,
		Pins: in.Body.Pins.Value, Published: in.Body.Published, AsCompleted: in.Body.ItemMessages == asCompleted,
		Actor: in.Who.Actor(),
	}
	if j.Query.IsNull() {
		j.Query = engine.String("")
	}
	if j.User == "" {
		j.User = in.Who.User
	}
	if j.Session != "" {
		if j.Published {
			return startedRun{}, app.ErrOwnCopy
		}
		j.Keep = app.KeepSession
		if err := s.Sessions.MayContinue(ctx, in.Who, in.ID, j.Session); err != nil {
			return startedRun{}, err
		}
	} else {
		j.Viewer = in.Who.Viewer() // the run reads the canvas anyway
	}
	return s.accept(ctx, in.Request, j)
}

func (s runs) testCase(ctx context.Context, in runByID) (rawJSON, error) {
	v, err := s.Runs.Get(ctx, in.Who, in.ID)
	if err != nil {
		return nil, err
	}
	made, err := s.Runs.Case(ctx, v)
	if err != nil {
		return nil, s.notKept(ctx, v, err)
	}
	return made.AppendJSON(nil), nil
}

type listRuns struct {
	Who      app.Principal
	Canvas   string   `query:"canvas" jsonschema:"only runs of this canvas"`
	Session  string   `query:"session" jsonschema:"only runs of this session"`
	Schedule string   `query:"schedule" jsonschema:"only runs of this schedule"`
	Status   string   `query:"status" jsonschema:"only runs with this status"`
	Source   string   `query:"source" jsonschema:"only runs that were started by this source"`
	User     string   `query:"user" jsonschema:"only runs with this value of sys.user_id"`
	From     string   `query:"from" jsonschema:"only runs that were created at this time or later, as 2026-11-28T09:30:00Z or 2026-11-28 (UTC)"`
	To       string   `query:"to" jsonschema:"only runs that were created before this time, as from"`
	After    string   `query:"after" jsonschema:"next of the previous page"`
	Count    string   `query:"count" jsonschema:"all counts the matches of long lists too, which takes time"`
	Page     app.Page `order:"create_time"`
}

// mostCounted bounds the runs that a page of their list counts: counting 1,000 takes less than the
// page itself.
const mostCounted = 1000

// checkStatus refuses a filter by a status that no run can have; "" means any.
func checkStatus(status string) error {
	terms := engine.Statuses()
	isStatus := func(t engine.Term) bool { return t.Word == status }
	if status == "" || slices.ContainsFunc(terms, isStatus) {
		return nil
	}
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = t.Word
	}
	last := len(words) - 1
	return badQuery("status must be one of %s or %s, not %.40q", strings.Join(words[:last], ", "), words[last], status)
}

// timesBetween reads the bounds of a list; to is exclusive.
func timesBetween(from, to string) (first, last int64, err error) {
	read := func(name, text string) (int64, error) {
		if text == "" {
			return 0, nil
		}
		for _, layout := range []string{time.RFC3339, time.DateOnly} {
			if at, err := time.Parse(layout, text); err == nil && at.UnixMilli() > 0 {
				return at.UnixMilli(), nil
			}
		}
		return 0, badQuery("%s must be a time such as 2026-11-28T09:30:00Z or 2026-11-28, not %.40q", name, text)
	}
	if first, err = read("from", from); err != nil {
		return 0, 0, err
	}
	if last, err = read("to", to); err == nil && last > 0 {
		last--
	}
	return first, last, err
}

func (s runs) list(ctx context.Context, in listRuns) (runList, error) {
	if err := checkStatus(in.Status); err != nil {
		return runList{}, err
	}
	if err := readCursor(in.After, &in.Page); err != nil {
		return runList{}, err
	}
	switch in.Count {
	case "":
		in.Page.MostCounted = mostCounted
	case "all":
	default:
		return runList{}, badQuery("count must be all or absent, not %.40q", in.Count)
	}
	f := app.RunFilter{
		Canvas: in.Canvas, Session: in.Session, Status: in.Status, Source: in.Source,
		Schedule: in.Schedule, User: in.User,
	}
	var err error
	if f.From, f.Until, err = timesBetween(in.From, in.To); err != nil {
		return runList{}, err
	}
	rows, total, err := s.Runs.List(ctx, in.Who, f, in.Page)
	if err != nil {
		return runList{}, err
	}
	facts, err := s.Runs.Facts(ctx, in.Who, rows)
	if err != nil {
		return runList{}, err
	}
	out := runList{
		Items: make([]runView, len(rows)), Currency: s.Usage.Currency(), Keeps: string(s.Runs.KeepsRuns(in.Who.Tenant)),
	}
	if total != app.Uncounted {
		out.Total = &total
	}
	for i, v := range rows {
		of := facts[v.ID]
		out.Items[i] = runViewOf(v)
		out.Items[i].Question, out.Items[i].Answer = of.Head.Question, of.Head.Answer
		out.Items[i].Kept = string(of.Kept)
	}
	if len(rows) > 0 && len(rows) == in.Page.Limit {
		out.Next = cursorOf(in.Page, rows[len(rows)-1].Position(in.Page.Order))
	}
	return out, nil
}

type runByID struct {
	Who app.Principal
	ID  string `path:"id"`
}

func (s runs) get(ctx context.Context, in runByID) (runView, error) {
	v, err := s.Runs.Get(ctx, in.Who, in.ID)
	if err != nil {
		return runView{}, err
	}
	out := runViewOf(v)
	if v.Status != app.RunActive {
		kept, err := s.Runs.KeptState(ctx, v)
		if err != nil {
			return runView{}, err
		}
		out.Kept = string(kept)
	}
	wait, err := s.Runs.Wait(ctx, v)
	if wait != nil {
		shown := waitViewOf(wait, false)
		out.Wait = &shown
	}
	return out, err
}

func (s runs) cancel(ctx context.Context, in runByID) (runView, error) {
	v, err := s.Runs.Get(ctx, in.Who, in.ID)
	if err == nil && v.Status == app.RunActive {
		err = s.Runs.Cancel(ctx, v.ID)
	}
	return runViewOf(v), err
}

type rerun struct {
	Request *api.Request
	Who     app.Principal
	ID      string `path:"id"`
	Body    rerunInput
}

func (s runs) rerun(ctx context.Context, in rerun) (startedRun, error) {
	from := app.Rerun{Node: in.Body.Node, Nth: in.Body.Nth, Seq: in.Body.Seq, Pins: in.Body.Pins.Value}
	return s.startFrom(ctx, in.Request, in.ID, func(v app.Run) (app.Job, error) {
		return s.Runs.RerunJob(ctx, in.Who, v, from)
	})
}

type resume struct {
	Request *api.Request
	Who     app.Principal
	ID      string `path:"id"`
	Body    resumeInput
}

func (s runs) resume(ctx context.Context, in resume) (startedRun, error) {
	return s.continueRun(ctx, in.Request, in.ID, in.Body.Inputs.Value)
}
