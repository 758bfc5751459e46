package v2

import (
	"context"
	"errors"
	"net/http"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
)

// tools are the built-in tools, for canvases that run in a page.
type tools struct{ *app.Services }

func (t tools) operations() []operation {
	return []operation{
		handle(operation{
			method: "POST", path: "/api/v2/tools/{component}/call", body: api.BodySmall, scope: app.ScopeRun,
			name: "callTool",
			about: "Run a built-in tool, such as TavilySearch, for a canvas that runs in a web page. Secrets that " +
				"its params name are sent to the service of the tool only.",
		}, t.call),
	}
}

type callTool struct {
	Who       app.Principal
	Component string `path:"component"`
	Body      struct {
		Params    engine.Value `json:"params,omitzero" jsonschema:"params of the node"`
		Arguments engine.Value `json:"arguments,omitzero" jsonschema:"arguments from a model or from the params of the node"`
	}
}

type toolAnswer struct {
	Outputs engine.Value `json:"outputs" jsonschema:"null if this host cannot run the component"`
}

func (t tools) call(ctx context.Context, in callTool) (toolAnswer, error) {
	if t.Tools == nil {
		return toolAnswer{}, nil
	}
	mark := engine.NewSecretMark()
	outputs, err := t.Tools(in.Who.Alone()).CallTool(ctx, &engine.ExternalCall{
		Component: in.Component, Arguments: in.Body.Arguments, Key: mark, SecretMark: mark,
		Params: in.Body.Params.MapStrings(func(text string) string { return engine.MarkSecrets(text, mark) }),
	})
	if errors.Is(err, engine.ErrNoPort) {
		return toolAnswer{}, nil
	}
	if err != nil && ctx.Err() == nil {
		return toolAnswer{}, &api.Status{HTTP: http.StatusBadGateway, Code: "tool_failed", Message: err.Error()}
	}
	return toolAnswer{outputs}, err
}
