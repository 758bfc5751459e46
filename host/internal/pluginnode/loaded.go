package pluginnode

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/node"
)

// loaded is a plugin of the host as a node works with it.
type loaded struct {
	adapter  *Adapter
	ref      string // weather@1
	module   *plugin.Module
	manifest *node.Manifest
}

// Manifest is what the plugin says about itself.
func (l *loaded) Manifest() *node.Manifest { return l.manifest }

// Check asks the plugin about params.
func (l *loaded) Check(params engine.Value) error {
	if !l.module.Has("easel_check") {
		return nil
	}
	decoded, err := object(params)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), node.CheckFor)
	defer cancel()
	return told(l.module.Check(ctx, decoded))
}

// Invoke runs the plugin. One that is replaced between lookup and call is looked up again.
func (l *loaded) Invoke(ctx context.Context, call *engine.Call, in node.Invocation) (engine.Value, error) {
	for again := 0; ; again++ {
		inv, err := l.invocation(call, in)
		if err != nil {
			return engine.Null, err
		}
		answer, err := l.module.Invoke(ctx, inv)
		if err == nil {
			return engine.ParseJSON(answer.Output)
		}
		if again == 3 || !errors.Is(err, plugin.Closed) {
			return engine.Null, told(err)
		}
		next, err := l.adapter.find(l.ref)
		if err != nil {
			return engine.Null, err
		}
		l = next.(*loaded)
	}
}

// invocation is one attempt as the plugin host takes it.
func (l *loaded) invocation(call *engine.Call, in node.Invocation) (plugin.Invocation, error) {
	a, name := l.adapter, l.module.Manifest().Name
	tenant := a.tenant(call)
	run := call.RunInfo().MessageID
	inv := plugin.Invocation{ID: call.Key(), Node: call.NodeID(), Attempt: in.Attempt, Locale: a.cfg.Locale}
	if a.cfg.Grant != nil {
		inv.Grant = a.cfg.Grant(tenant)
	}
	if l.module.AllowsSecrets(inv.Grant) {
		inv.SecretMark = engine.NewSecretMark()
	}
	given := in.Marked(inv.SecretMark)
	var err error
	if inv.Params, err = object(given.Get("params")); err != nil {
		return inv, err
	}
	if inv.Arguments, err = object(given.Get("arguments")); err != nil {
		return inv, err
	}
	inv.Tenant, inv.Run = tenant, run
	inv.Scratch = a.runs.join(l.module, tenant, run)
	inv.Services = a.services(call, tenant, name, in.LLM)
	inv.Emit = func(_ context.Context, e plugin.Emission) error {
		return in.Emit(node.Emission{Kind: node.Kind(e.Kind), Text: e.Text, Key: e.Key, Pct: e.Pct, Note: e.Note})
	}
	return inv, nil
}

// object is a JSON object as the plugin host takes it.
func object(v engine.Value) (map[string]any, error) {
	if v.IsNull() {
		return nil, nil
	}
	var out map[string]any
	err := json.Unmarshal(v.AppendJSON(nil), &out)
	return out, err
}

// told is an error of the plugin host as one a node knows.
func told(err error) error {
	var e *plugin.Error
	if !errors.As(err, &e) {
		return err
	}
	data := engine.Null
	if len(e.Data) > 0 {
		data = engine.FromGo(e.Data)
	}
	return &node.Error{Code: string(e.Code), Message: e.Message, Retryable: e.Retryable, Data: data, Plugin: e.Plugin, Step: e.Step, Cause: e}
}
