package pluginnode

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/node"
)

// services connect a plugin to the ports of the run.
func (a *Adapter) services(call *engine.Call, tenant, name, llm string) plugin.Services {
	r := run{node.Services{Call: call, LLM: llm, Models: a.cfg.Models}}
	s := plugin.Services{Variables: r}
	if call.Ports().Model != nil {
		s.Chat = r
	}
	if call.Ports().Secrets != nil {
		s.Secrets = r
	}
	if a.cfg.KV != nil {
		s.KV = a.cfg.KV(tenant, name)
	}
	if a.cfg.Embed != nil {
		s.Embed = a.cfg.Embed(call)
	}
	return s
}

// run answers what a plugin asks of the run it works for.
type run struct{ node.Services }

// Chat asks the run's model.
func (r run) Chat(ctx context.Context, req plugin.ChatRequest, delta func(string) error) (plugin.ChatAnswer, error) {
	var answer plugin.ChatAnswer
	raw, err := json.Marshal(req)
	if err != nil {
		return answer, err
	}
	args, err := engine.ParseJSON(raw)
	if err != nil {
		return answer, err
	}
	v, err := r.Services.Chat(ctx, args, delta)
	if err != nil {
		return answer, refused(err)
	}
	return answer, json.Unmarshal(v.AppendJSON(nil), &answer)
}

// Variable reads a variable of the run.
func (r run) Variable(ctx context.Context, name string) (json.RawMessage, bool, error) {
	v, err := r.Services.Variable(ctx, name)
	return v.Get("value").AppendJSON(nil), v.Get("found").True(), err
}

// SetVariable writes one when the node is done; the plugin sees it at once.
func (r run) SetVariable(ctx context.Context, name string, raw json.RawMessage) error {
	v, err := engine.ParseJSON(raw)
	if err != nil {
		return err
	}
	return refused(r.Services.SetVariable(ctx, name, v))
}

// Secret is the value behind a name, looked up through the run, which then keeps it out of outputs
// and events. One that is not set is not found.
func (r run) Secret(ctx context.Context, name string) (engine.Secret, bool, error) {
	secret, err := r.Call.Secret(ctx, name)
	if err != nil {
		return engine.Secret{}, false, ctx.Err()
	}
	return secret, true, nil
}

// refused is an error of the services as the plugin host passes it on.
func refused(err error) error {
	var e *node.Error
	if !errors.As(err, &e) {
		return err
	}
	return &plugin.Error{Code: plugin.Code(e.Code), Message: e.Message, Retryable: e.Retryable}
}
