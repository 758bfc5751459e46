package api

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
)

// runHeader holds the id of the run that a request started, in every dialect.
const runHeader = "X-Easel-Run"

type v2Run struct {
	ID        string     `json:"id"`
	Canvas    string     `json:"canvas"`
	Session   string     `json:"session,omitempty"`
	Message   string     `json:"message" jsonschema:"message_id of its events"`
	Source    string     `json:"source" jsonschema:"what began it, such as api, editor, webhook, v2 or schedule"`
	Schedule  string     `json:"schedule,omitempty" jsonschema:"the schedule that began it"`
	Status    string     `json:"status" jsonschema:"queued, running, paused, succeeded, failed or canceled"`
	Error     string     `json:"error,omitempty"`
	Created   time.Time  `json:"created"`
	Ended     *time.Time `json:"ended,omitempty"`
	EventsURL string     `json:"events_url"`
}

type v2Runs struct {
	Items []v2Run `json:"items"`
	Total int     `json:"total" jsonschema:"all that match, not only this page"`
	Next  string  `json:"next,omitempty" jsonschema:"the parameter after of the next page; left out with the last one"`
}

// v2RunInput documents the body; it is read member by member.
type v2RunInput struct {
	Query   any              `json:"query,omitempty" jsonschema:"what the user says"`
	Inputs  map[string]any   `json:"inputs,omitempty" jsonschema:"form fields by name, bare or as {value}"`
	Files   []map[string]any `json:"files,omitempty" jsonschema:"upload descriptors"`
	Session string           `json:"session,omitempty" jsonschema:"a session that the run is the next turn of; without one nothing is kept"`
	User    string           `json:"user,omitempty"`
	From    string           `json:"from,omitempty" jsonschema:"start at this node with the outputs that the state holds"`
	Pins    map[string]any   `json:"pins,omitempty" jsonschema:"outputs by node that are used in place of running it"`

	Published bool `json:"published,omitempty" jsonschema:"run the published version; not with a session, which has a copy of its own"`
}

type v2RerunInput struct {
	Node string         `json:"node,omitempty" jsonschema:"run again from this node"`
	Nth  int            `json:"nth,omitempty" jsonschema:"which execution of the node, 1 is the first"`
	Seq  uint64         `json:"seq,omitempty" jsonschema:"or: from the state at this record"`
	Pins map[string]any `json:"pins,omitempty"`
}

type v2ResumeInput struct {
	Inputs map[string]any `json:"inputs" jsonschema:"answers by field name"`
}

func v2RunOf(v store.Run) v2Run {
	out := v2Run{
		ID: v.ID, Canvas: v.Canvas, Session: v.Session, Message: v.Message, Source: v.Source, Schedule: runs.ScheduleOfRun(v), Status: v.Status, Error: v.Error,
		Created: time.UnixMilli(v.CreateTime).UTC(), EventsURL: "/api/v2/runs/" + v.ID + "/events",
	}
	if v.EndTime > 0 {
		at := time.UnixMilli(v.EndTime).UTC()
		out.Ended = &at
	}
	return out
}

func (c *call) v2Run() (store.Run, error) {
	v, err := c.a.cfg.Store.Run(c.ctx(), c.who.tenant, c.params["id"])
	if errors.Is(err, store.ErrNotFound) {
		err = notFoundV2("run")
	}
	return v, err
}

// v2Start accepts a job and answers with the run, or with its events.
func (c *call) v2Start(j runs.Job) error {
	j.Tenant, j.Source, j.Caller = c.who.tenant, "v2", c.who.rateID
	j, err := c.startRun(j)
	if errors.Is(err, runs.ErrSession) {
		return notFoundV2("session")
	}
	if errors.Is(err, store.ErrNotFound) {
		return notFoundV2("canvas")
	}
	if err != nil {
		return err
	}
	if strings.Contains(c.r.Header.Get("Accept"), "text/event-stream") {
		return c.v2Stream(j.ID, resumeAt{}, false)
	}
	v, err := c.a.cfg.Store.Run(c.ctx(), c.who.tenant, j.ID)
	if err != nil {
		return err
	}
	c.json(http.StatusAccepted, v2RunOf(v))
	return nil
}

func (a *API) v2StartRun(c *call) error {
	j := runs.Job{
		Canvas: c.params["id"], Session: c.text("session"), User: c.text("user"), Query: c.body.Get("query"),
		Inputs: c.object("inputs"), Files: c.ownFiles(c.list("files")), From: c.text("from"), Pins: c.object("pins"),
		Published: c.flag("published", false),
	}
	if err := c.valid(); err != nil {
		return err
	}
	if j.Published && j.Session != "" {
		return badArgument("a session has a copy of its own: make it with published, and leave it out here")
	}
	if j.Query.IsNull() {
		j.Query = engine.String("")
	}
	if j.User == "" {
		j.User = c.who.user
	}
	if j.Session != "" {
		j.Keep = runs.KeepSession
		if _, err := c.v2Canvas(); err != nil {
			return err
		}
	}
	return c.v2Start(j)
}

func (a *API) v2ListRuns(c *call) error {
	p, err := c.v2Page("create_time")
	if err == nil {
		err = c.readCursor(&p)
	}
	if err != nil {
		return err
	}
	p.Documents = store.NoDocuments
	f := store.RunFilter{Tenant: c.who.tenant, Canvas: c.query.Get("canvas"), Session: c.query.Get("session"), Status: c.query.Get("status"), Schedule: c.query.Get("schedule")}
	list, total, err := a.cfg.Store.Runs(c.ctx(), f, p)
	if err != nil {
		return err
	}
	out := v2Runs{Items: make([]v2Run, len(list)), Total: total}
	for i, v := range list {
		out.Items[i] = v2RunOf(v)
	}
	if len(list) > 0 && len(list) == p.Limit {
		out.Next = cursorOf(p, list[len(list)-1].Position(p.Order))
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2GetRun(c *call) error {
	v, err := c.v2Run()
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2RunOf(v))
	return nil
}

func (a *API) v2Cancel(c *call) error {
	v, err := c.v2Run()
	if err != nil {
		return err
	}
	if v.Status == store.RunActive {
		if err := a.cfg.Runs.Cancel(c.ctx(), v.ID); err != nil {
			return err
		}
	}
	c.json(http.StatusAccepted, v2RunOf(v))
	return nil
}

func (a *API) v2Rerun(c *call) error {
	v, err := c.v2Run()
	if err != nil {
		return err
	}
	node := c.text("node")
	nth, _ := c.body.Get("nth").Int()
	seq, _ := c.body.Get("seq").Int()
	pins := c.object("pins")
	if err := c.valid(); err != nil {
		return err
	}
	if node == "" && seq <= 0 || seq < 0 {
		return &status{http.StatusUnprocessableEntity, "bad_argument", "node or seq is needed"}
	}
	at := uint64(max(seq, 0))
	if node != "" {
		if at, err = a.cfg.Runs.Before(c.ctx(), v.ID, node, int(max(nth, 1))); err != nil {
			return err
		}
	}
	return c.v2Start(runs.Job{Canvas: v.Canvas, User: v.User, Base: v.ID, At: at, Pins: pins})
}

func (a *API) v2Resume(c *call) error {
	v, err := c.v2Run()
	if err != nil {
		return err
	}
	inputs := c.object("inputs")
	if err := c.valid(); err != nil {
		return err
	}
	if v.Status != store.RunPaused {
		return &status{http.StatusConflict, "not_paused", "the run is " + v.Status + " and waits for nothing"}
	}
	j := runs.Job{Canvas: v.Canvas, User: v.User, Inputs: inputs, Query: engine.String("")}
	switch {
	case v.Session != "":
		j.Session, j.Keep = v.Session, runs.KeepSession
	case v.Source == "editor":
		j.Keep = runs.KeepCanvas
	default:
		j.Base = v.ID
	}
	return c.v2Start(j)
}
