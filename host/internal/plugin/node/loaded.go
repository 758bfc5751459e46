package node

import (
	"context"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/node"
)

// loaded is a plugin of the host, or one component of its file, as a node works with it.
type loaded struct {
	adapter *Adapter
	ref     string // weather@1, or weather.forecast@1 for a component of a file with several
	module  *plugin.Module
	about   *contract.Manifest // of the component
}

// load returns the component of a module that a ref names.
func (a *Adapter) load(ref string, m *plugin.Module) (*loaded, error) {
	about, err := m.Manifest().Named(ref)
	if err != nil {
		return nil, err
	}
	if about.Trigger != "" && a.cfg.Try {
		node := *about
		node.Trigger = ""
		about = &node
	}
	return &loaded{adapter: a, ref: ref, module: m, about: about}, nil
}

// Manifest describes the component.
func (l *loaded) Manifest() *contract.Manifest { return l.about }

// Check lets the plugin validate params, if it exports easel_check.
func (l *loaded) Check(params engine.Value) error {
	if !l.module.Has("easel_check") {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), node.CheckFor)
	defer cancel()
	return l.module.Check(ctx, l.about, params)
}

// For returns the plugin for the run of a call: the version with which the run began, even if an
// update has replaced it.
func (l *loaded) For(call *engine.Call) node.Plugin {
	run := call.RunInfo().MessageID
	if run == "" {
		return l
	}
	m := l.adapter.runs.module(l.module, l.adapter.tenant(call), run)
	if m == l.module {
		return l
	}
	before, err := l.adapter.load(l.ref, m)
	if err != nil {
		return l // the component is newer than the run
	}
	return before
}

// Invoke runs the plugin. One that is replaced between lookup and call is looked up again.
func (l *loaded) Invoke(ctx context.Context, call *engine.Call, in node.Invocation) (contract.Answer, error) {
	for again := 0; ; again++ {
		answer, err := l.module.Invoke(ctx, l.invocation(call, in))
		if answer.Waited > 0 {
			call.LogQueued(engine.QueuePlugin, l.module.Manifest().Name, answer.Waited)
		}
		if err == nil || again == 3 || !errors.Is(err, contract.Closed) {
			return answer.Answer, err
		}
		next, err := l.adapter.cfg.Find(l.ref)
		if err != nil {
			return contract.Answer{}, err
		}
		if l, err = l.adapter.load(l.ref, next); err != nil {
			return contract.Answer{}, err
		}
	}
}

// invocation is one attempt as the plugin host takes it.
func (l *loaded) invocation(call *engine.Call, in node.Invocation) plugin.Invocation {
	a := l.adapter
	tenant := a.tenant(call)
	run := call.RunInfo().MessageID
	inv := plugin.Invocation{
		Component: l.about, ID: call.Key(), Node: call.NodeID(), Attempt: in.Attempt, Locale: a.cfg.Locale,
	}
	if a.cfg.Grant != nil {
		inv.Grant = a.cfg.Grant(tenant)
	}
	if a.cfg.Settings != nil {
		inv.Settings = a.cfg.Settings(tenant, l.module)
	}
	if l.module.AllowsSecrets(inv.Grant) {
		inv.SecretMark = engine.NewSecretMark()
	}
	inv.Params, inv.Arguments = in.Marked(inv.SecretMark)
	inv.Tenant, inv.Run = tenant, run
	inv.Scratch = a.runs.join(l.module, tenant, run)
	inv.Services = a.services(call, tenant, l.module.Owner(), in.LLM)
	inv.Emit = func(_ context.Context, e contract.Emission) error { return in.Emit(e) }
	return inv
}
