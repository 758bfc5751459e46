package v2

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

type debugNode struct {
	Who  app.Principal
	ID   string `path:"id"`
	Body debugInput
}

type debugInput struct {
	Node   string   `json:"node" jsonschema:"id of the node"`
	Params object   `json:"params,omitempty" jsonschema:"values by the names of its input form"`
	DSL    document `json:"dsl,omitempty" jsonschema:"run the node of this document; default the saved one"`
}

func (in *debugInput) readBody(r *api.Request) (err error) {
	in.Node, in.Params = r.Body.Text("node"), object{r.Body.Object("params")}
	if err = r.Body.Valid(); err == nil {
		in.DSL, _, err = r.SentDocument()
	}
	if err == nil && in.Node == "" {
		err = badMember("node", "node is empty; expected the id of a node")
	}
	return err
}

type debugResult struct {
	Outputs engine.Value `json:"outputs"`
	Error   string       `json:"error,omitempty" jsonschema:"the error of the node"`
	Elapsed float64      `json:"elapsed" jsonschema:"seconds"`
}

func (s runs) debug(ctx context.Context, in debugNode) (debugResult, error) {
	if !in.Who.May(app.ScopeRun) {
		return debugResult{}, api.LacksScope(app.ScopeRun)
	}
	v, err := s.Canvases.Get(ctx, in.Who, in.ID)
	if err != nil {
		return debugResult{}, err
	}
	if in.Body.DSL != nil {
		v.DSL = in.Body.DSL
	}
	out, err := s.Runs.Debug(ctx, in.Who, v, in.Body.Node, in.Body.Params.Value)
	var refused *app.DebugError
	if errors.As(err, &refused) {
		return debugResult{}, app.BadArgument("%s", refused)
	}
	if err != nil {
		return debugResult{}, err
	}
	elapsed, _ := out.Get("_elapsed_time").Float()
	return debugResult{out, out.Get("_ERROR").Str(), elapsed}, nil
}
