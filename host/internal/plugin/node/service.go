package node

import (
	"context"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/node"
)

// services connect a plugin to the ports of the run.
func (a *Adapter) services(call *engine.Call, tenant, owner, llm string) plugin.Services {
	r := run{&node.Services{Call: call, LLM: llm, Models: a.cfg.Models}}
	s := plugin.Services{Variables: r}
	if call.Ports().Model != nil {
		s.Chat = r
	}
	if call.Ports().Secrets != nil {
		s.Secrets = r
	}
	if a.cfg.KV != nil {
		s.KV = a.cfg.KV(tenant, owner)
	}
	if files, ok := call.Ports().Files.(Files); ok {
		s.Files = runFiles{files}
	}
	if a.cfg.Embed != nil {
		s.Embed = a.cfg.Embed(call)
	}
	return s
}

// run handles the requests of a plugin to its run.
type run struct{ *node.Services }

// Secret returns the value behind a name, looked up through the run, which then keeps it out of
// outputs and events. One that is not set is not found.
func (r run) Secret(ctx context.Context, name string) (engine.Secret, bool, error) {
	secret, err := r.Call.Secret(ctx, name)
	if err != nil {
		return engine.Secret{}, false, ctx.Err()
	}
	return secret, true, nil
}
