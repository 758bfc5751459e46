package v2

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// inbox has the runs that wait for a person.
type inbox struct{ runs }

func (s inbox) operations() []operation {
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/inbox", body: api.BodyNone, scope: app.ScopeRead, name: "listInbox",
			about: "List runs that wait for the answers to a form or for an approval, newest first, of canvases that " +
				"the caller may use. Pass next of a page as after to get the next page.",
		}, s.list),
		handle(operation{
			method: "POST", path: "/api/v2/inbox/{wait}/answer", body: api.BodyCanvas, scope: app.ScopeRun,
			name: "answerInbox", audit: true,
			about: "Answer what a run waits for: its form, its approvals, or both. The response describes the run " +
				"that continues. Of several answers one counts; the others are refused with not_paused, which " +
				"names who answered and when.",
			status: http.StatusAccepted, stream: true,
		}, s.answer),
	}
}

// waitView describes a wait of a run.
type waitView struct {
	ID         string     `json:"id" jsonschema:"of the run that waits"`
	Kind       string     `json:"kind" jsonschema:"form, or approval if its fields have one"`
	State      string     `json:"state" jsonschema:"open, answered, expired, or canceled by a later run that asks instead"`
	Canvas     string     `json:"canvas"`
	Session    string     `json:"session,omitempty"`
	User       string     `json:"user,omitempty" jsonschema:"value of sys.user_id of the run"`
	Node       string     `json:"node,omitempty" jsonschema:"first node that waits"`
	Inputs     object     `json:"inputs,omitempty" jsonschema:"fields by name, as in the event user_inputs; only in the inbox"`
	Tips       string     `json:"tips,omitempty" jsonschema:"text above the fields; only in the inbox"`
	OnExpiry   string     `json:"on_expiry" jsonschema:"fail cancels the run, default continues it with the values of its fields and without approvals"`
	Created    time.Time  `json:"created"`
	Expires    time.Time  `json:"expires"`
	AnsweredBy *principal `json:"answered_by,omitempty"`
	Via        string     `json:"via,omitempty" jsonschema:"source of the run that continues; expiry is the host itself"`
	Answered   *time.Time `json:"answered,omitempty" jsonschema:"when it was answered, expired or was canceled"`
	Next       string     `json:"next,omitempty" jsonschema:"run that continues"`
}

// waitViewOf describes a wait, with what is asked if fields is set.
func waitViewOf(v *app.Wait, fields bool) waitView {
	out := waitView{
		ID: v.ID, Kind: v.Kind, State: v.State, Canvas: v.Canvas, Session: v.Session, User: v.User, Node: v.Node,
		OnExpiry: v.OnExpiry, Created: timeOf(v.CreateTime), Expires: timeOf(v.ExpireTime), Via: v.Via,
		AnsweredBy: principalOf(app.AnsweredBy(v)), Answered: timeOrNil(v.AnswerTime), Next: v.Next,
	}
	if form, err := engine.ParseJSON(v.Form); err == nil && fields {
		out.Inputs, out.Tips = object{form.Get("inputs")}, form.Get("tips").Text()
	}
	return out
}

type waitList struct {
	Items []waitView `json:"items"`
	Total *int       `json:"total,omitempty" jsonschema:"number of matches on all pages; absent above 1000"`
	Next  string     `json:"next,omitempty" jsonschema:"value of after for the next page; absent on the last page"`
}

type listInbox struct {
	Who   app.Principal
	State string   `query:"state" jsonschema:"open, answered, expired or canceled; all if absent"`
	Mine  string   `query:"mine" jsonschema:"1 selects the runs that the caller has started"`
	After string   `query:"after" jsonschema:"next of the previous page"`
	Page  app.Page `order:"create_time"`
}

func (s inbox) list(ctx context.Context, in listInbox) (waitList, error) {
	states := []string{"", app.WaitOpen, app.WaitAnswered, app.WaitExpired, app.WaitCanceled}
	if !slices.Contains(states, in.State) {
		return waitList{}, badQuery("state must be open, answered, expired or canceled, not %.40q", in.State)
	}
	if in.Mine != "" && in.Mine != "0" && in.Mine != "1" {
		return waitList{}, badQuery("mine must be 1 or 0, not %.40q", in.Mine)
	}
	if err := readCursor(in.After, &in.Page); err != nil {
		return waitList{}, err
	}
	in.Page.MostCounted = mostCounted
	rows, total, err := s.Runs.Waits(ctx, in.Who, app.WaitFilter{State: in.State, Mine: in.Mine == "1"}, in.Page)
	if err != nil {
		return waitList{}, err
	}
	out := waitList{Items: make([]waitView, len(rows))}
	if total != app.Uncounted {
		out.Total = &total
	}
	for i := range rows {
		out.Items[i] = waitViewOf(&rows[i], true)
	}
	if len(rows) > 0 && len(rows) == in.Page.Limit {
		out.Next = cursorOf(in.Page, rows[len(rows)-1].Position())
	}
	return out, nil
}

type answerInput struct {
	Inputs    object          `json:"inputs,omitempty" jsonschema:"values by field name"`
	Approvals []approvalInput `json:"approvals,omitempty"`
}

func (in *answerInput) readBody(r *api.Request) error {
	in.Inputs = object{r.Body.Object("inputs")}
	if r.Body.Get("approvals").IsNull() {
		return r.Body.Valid()
	}
	var given approvalsInput
	err := given.readBody(r)
	in.Approvals = given.Approvals
	return err
}

type answerInbox struct {
	Request *api.Request
	Who     app.Principal
	ID      string `path:"wait"`
	Body    answerInput
}

func (s inbox) answer(ctx context.Context, in answerInbox) (startedRun, error) {
	inputs := in.Body.Inputs.Value
	if inputs.IsNull() {
		inputs = engine.Object()
	}
	given := approvalsInput{in.Body.Approvals}
	for name, v := range given.inputs().Fields() {
		inputs = inputs.With(name, v)
	}
	return s.continueRun(ctx, in.Request, in.ID, inputs)
}

// continueRun answers a paused run.
func (s runs) continueRun(ctx context.Context, r *api.Request, run string, inputs engine.Value) (startedRun, error) {
	var paused app.Run
	started, err := s.startFrom(ctx, r, run, func(v app.Run) (app.Job, error) {
		paused = v
		return s.Runs.ResumeJob(ctx, r.Who, v, inputs)
	})
	if errors.Is(err, app.ErrAnswered) {
		if paused, err = s.Runs.Get(ctx, r.Who, run); err == nil {
			err = s.Runs.NotPaused(ctx, paused)
		}
	}
	return started, err
}
