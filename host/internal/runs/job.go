package runs

import (
	"strings"

	"github.com/google/uuid"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/access"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Keep determines where the state of a run is stored when it ends.
type Keep string

const (
	// KeepNothing throws the state away, as webhooks do.
	KeepNothing Keep = ""
	// KeepSession saves it in the session, with the turn.
	KeepSession Keep = "session"
	// KeepCanvas saves it in the canvas, as runs of the editor do.
	KeepCanvas Keep = "canvas"
)

// Job is one run of a canvas.
type Job struct {
	ID      string `json:"id"`      // the run, and the task_id of its events; made when empty
	Message string `json:"message"` // message_id of its events; made when empty

	Tenant  string `json:"tenant"`
	Canvas  string `json:"canvas"`
	Session string `json:"session,omitempty"`
	User    string `json:"user,omitempty"`   // sys.user_id, which clients choose; see Principal
	Source  string `json:"source,omitempty"` // api, editor, bot, webhook, v2, schedule
	Keep    Keep   `json:"keep,omitempty"`
	// Caller is on whose account in the tenant model tokens are counted, such as a
	// key; "" counts them for the tenant only.
	Caller string `json:"caller,omitempty"`

	// Actor is the member whose rights the run has: who is present, or else is decided when the run
	// begins, see [access.Actor.On]. It stays the same after a takeover.
	Actor access.Actor `json:"actor,omitzero"`
	// Viewer has to be allowed to use the canvas. The zero value means that the caller has checked
	// it.
	Viewer access.Viewer `json:"-"`

	// Reader is on whose behalf the run reads documents: the principal who started it, whatever
	// member it acts for. The zero value is a visitor. It is no part of any request.
	Reader access.Reader `json:"reader,omitzero"`

	// Visitor means that the user is the anonymous visitor of an embedding page.
	Visitor bool `json:"visitor,omitempty"`
	// VisitorKey is the visitor to whom the conversation belongs; "" for members and API clients.
	// The run uses files and memories of this visitor only, also when a member resumes or repeats
	// it.
	VisitorKey store.Visitor `json:"visitor_key,omitempty"`
	// Principal is who started the run.
	Principal Principal `json:"principal"`

	// Published runs the published version of the canvas, from its beginning. The
	// document of a session counts all the same.
	Published bool `json:"published,omitempty"`

	// Schedule is the schedule that begins the run; "" for others. With Fresh
	// each of its runs has a new session.
	Schedule string `json:"schedule,omitempty"`
	Fresh    bool   `json:"fresh,omitempty"`

	// Recorded means that the store had the run before the run log. If the run log has it and the
	// store does not, its start was refused.
	Recorded bool `json:"recorded,omitempty"`

	// Parent is the trace span that the run belongs to, as a traceparent header.
	Parent string `json:"parent,omitempty"`

	// Instructions are the caller's system message, see [engine.Input].
	Instructions string `json:"instructions,omitempty"`

	Query   engine.Value `json:"query"`
	Inputs  engine.Value `json:"inputs"`
	Files   engine.Value `json:"files"`
	Webhook engine.Value `json:"webhook"`

	// Scheduling overrides the order of the canvas unless ""; see [engine.OrderOf].
	Scheduling engine.Scheduling `json:"scheduling,omitempty"`
	// AsCompleted sends the messages of bodies that run at once as each is done.
	AsCompleted bool `json:"as_completed,omitempty"`

	// From starts at a node with the outputs the state holds.
	From string `json:"from,omitempty"`
	// Until stops the run after the batch in which a node ran.
	Until string `json:"until,omitempty"`
	// Pins are outputs by node id; such a node does not run.
	Pins engine.Value `json:"pins"`
	// Base and At continue a copy of another run's state at one of its records.
	Base string `json:"base,omitempty"`
	At   uint64 `json:"at,omitempty"`
	// Answers names the paused run that the job continues, which only one job does. A turn of a
	// session also continues what waits there without it.
	Answers string `json:"answers,omitempty"`
}

// Named sets the ids of a scheduled run in its job: the same ones on each host that works on it.
func Named(j Job, run string) Job {
	if j.ID != "" {
		return j
	}
	id := func(what string) string {
		sum := uuid.NewSHA1(uuid.NameSpaceOID, []byte("easel "+what+" "+run))
		return strings.ReplaceAll(sum.String(), "-", "")
	}
	j.ID, j.Message = run, id("run")
	j.Principal = Principal{Kind: ByScheduler, ID: j.Schedule}
	if j.Fresh {
		j.Session, j.Keep = id("session"), KeepSession
	}
	return j
}
