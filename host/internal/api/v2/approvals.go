package v2

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

type approvalInput struct {
	ID        string `json:"id" jsonschema:"name of the field of user_inputs"`
	Decision  string `json:"decision" jsonschema:"yes or no"`
	Arguments object `json:"arguments,omitempty" jsonschema:"replaces the proposed arguments; only with yes"`
}

type approvalsInput struct {
	Approvals []approvalInput `json:"approvals" jsonschema:"at least one decision"`
}

func (in *approvalsInput) readBody(r *api.Request) error {
	b := &r.Body
	for _, v := range b.List("approvals").Elements() {
		a := approvalInput{v.Get("id").Str(), v.Get("decision").Str(), object{v.Get("arguments")}}
		switch k := a.Arguments.Kind(); {
		case a.ID == "":
			return app.BadArgument("approvals: id is missing")
		case a.Decision != engine.ApprovalYes && a.Decision != engine.ApprovalNo:
			return app.BadArgument("approvals: decision is %q; expected yes or no", a.Decision)
		case k != engine.KindObject && k != engine.KindNull:
			return app.BadArgument("approvals: arguments is a %s; expected an object", k)
		}
		in.Approvals = append(in.Approvals, a)
	}
	if err := b.Valid(); err != nil {
		return err
	}
	if len(in.Approvals) == 0 {
		return app.BadArgument("approvals is empty; expected a list of {id, decision, arguments}")
	}
	return nil
}

// inputs are the approvals as answers to the form of the run.
func (in *approvalsInput) inputs() engine.Value {
	b := engine.NewObject(len(in.Approvals))
	for _, a := range in.Approvals {
		b.Set(a.ID, engine.String(a.Decision))
		if !a.Arguments.IsNull() {
			// The arguments may have a member value themselves.
			b.Set(a.ID+engine.ArgumentsSuffix, engine.Object("value", a.Arguments.Value))
		}
	}
	return b.Value()
}

type approve struct {
	Request *api.Request
	Who     app.Principal
	ID      string `path:"id"`
	Body    approvalsInput
}

func (s runs) approve(ctx context.Context, in approve) (startedRun, error) {
	return s.continueRun(ctx, in.Request, in.ID, in.Body.inputs())
}
