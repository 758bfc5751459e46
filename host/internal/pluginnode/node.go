package pluginnode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// modelParam is the param that names the model for a plugin's questions.
const modelParam = "llm_id"

// node is a plugin as one node of a canvas.
type node struct {
	engine.Common
	LLM string `json:"llm_id" doc:"model the plugin's own questions go to; empty is the default model"`

	adapter  *Adapter
	ref      string           // weather@1
	manifest *plugin.Manifest // as it was when the canvas was loaded; nil when the plugin was missing
	tool     *engine.ToolSpec // the Spec's, nil when it is no tool
	params   engine.Value     // as in the document
}

// Init keeps the params, checks those that hold no references, and hides pinned arguments from models.
func (n *node) Init(s *engine.Setup) error {
	n.params = s.Params
	m := n.manifest
	if m == nil {
		return nil
	}
	for name, v := range n.params.Fields() {
		if !given(v) || refers(m, name) && len(references(v)) > 0 {
			continue
		}
		for _, schema := range []*plugin.Schema{property(m.Params, name), property(m.Arguments, name)} {
			if err := check(name, fit(v, schema), schema); err != nil {
				return s.Fail(name, engine.Null, err.Error())
			}
		}
	}
	if n.tool != nil {
		n.tool.Schema = hide(n.tool.Schema, n.pinned(m))
		n.tool.Args = slices.DeleteFunc(slices.Clone(n.tool.Args), func(f engine.Field) bool {
			return slices.Contains(n.pinned(m), f.Name)
		})
	}
	return nil
}

// check holds a value against its schema.
func check(name string, v engine.Value, s *plugin.Schema) error {
	decoded, err := object(engine.Object("v", v))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return s.Check(name, decoded["v"])
}

// pinned are the arguments the canvas sets, which a model therefore does not.
func (n *node) pinned(m *plugin.Manifest) []string {
	var out []string
	for name, v := range n.params.Fields() {
		if given(v) && property(m.Arguments, name) != nil {
			out = append(out, name)
		}
	}
	return out
}

// References are those of the params that may hold some. Without a manifest any may.
func (n *node) References() []engine.Ref {
	var out []engine.Ref
	for name, v := range n.params.Fields() {
		if n.manifest == nil && !slices.Contains(standard, name) || n.manifest != nil && refers(n.manifest, name) {
			out = append(out, references(v)...)
		}
	}
	return out
}

// Warnings is what the plugin itself says about params without references.
func (n *node) Warnings() []string {
	m, err := n.adapter.cfg.Find(n.ref)
	if err != nil || !m.Has("easel_check") || len(n.References()) > 0 {
		return nil
	}
	params := engine.NewObject(8)
	for name, v := range n.params.Fields() {
		if given(v) && isParam(m.Manifest(), name) {
			params.Set(name, fit(v, property(m.Manifest().Params, name)))
		}
	}
	decoded, err := object(params.Value())
	if err != nil {
		return []string{err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := m.Check(ctx, decoded); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// Run runs the plugin, or announces that it will stream.
func (n *node) Run(ctx context.Context, call *engine.Call) error {
	m, err := n.adapter.cfg.Find(n.ref)
	if err != nil {
		return fmt.Errorf("%w: %w", engine.ErrNoPort, err)
	}
	in, err := n.input(ctx, call, m.Manifest())
	if err != nil {
		return err
	}
	if out := streamed(m.Manifest()); out != "" && call.CanStream() {
		return call.Defer(out, in)
	}
	answer, err := n.retry(ctx, call, in, func(e plugin.Emission) error { return note(call, e) }, func() bool { return true })
	if err != nil {
		return err
	}
	return write(call, answer)
}

// retry runs the plugin, again after an error that may pass, as long as again allows it.
func (n *node) retry(ctx context.Context, call *engine.Call, in engine.Value, emit func(plugin.Emission) error, again func() bool) (plugin.Answer, error) {
	for attempt := 1; ; attempt++ {
		answer, m, err := n.once(ctx, call, in, attempt, emit)
		if err == nil {
			return answer, nil
		}
		if stop := stopped(ctx, call); stop != nil {
			return answer, stop
		}
		if attempt > n.MaxRetries || !again() || !passing(err, m) {
			return answer, told(call, err)
		}
		if err := call.Sleep(ctx, n.pause(err)); err != nil {
			return answer, err
		}
	}
}

// once is one attempt.
func (n *node) once(ctx context.Context, call *engine.Call, in engine.Value, attempt int, emit func(plugin.Emission) error) (plugin.Answer, *plugin.Module, error) {
	params, err := object(in.Get("params"))
	if err != nil {
		return plugin.Answer{}, nil, err
	}
	args, err := object(in.Get("arguments"))
	if err != nil {
		return plugin.Answer{}, nil, err
	}
	tenant := n.adapter.tenant(call)
	_, _, _, run := call.RunInfo()
	return n.adapter.invoke(ctx, n.ref, func(m *plugin.Module) (plugin.Invocation, error) {
		inv := plugin.Invocation{
			ID: call.Key(), Node: call.NodeID(), Attempt: attempt, Locale: n.adapter.cfg.Locale, Params: params, Arguments: args,
		}
		inv.Tenant, inv.Run = tenant, run
		if n.adapter.cfg.Grant != nil {
			inv.Grant = n.adapter.cfg.Grant(tenant)
		}
		inv.Scratch = n.adapter.runs.join(m, tenant, run)
		inv.Services = n.services(call, tenant, m.Manifest().Name)
		inv.Emit = func(_ context.Context, e plugin.Emission) error {
			if err := stopped(ctx, call); err != nil {
				return err
			}
			return emit(e)
		}
		return inv, nil
	})
}

// Reset lets go of what the run kept inside the plugin.
func (n *node) Reset(runID string) { n.adapter.runs.end(runID) }

// stopped is why the execution should end, or nil.
func stopped(ctx context.Context, call *engine.Call) error {
	if err := call.Canceled(); err != nil {
		return err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return engine.ErrCanceled
	}
	return ctx.Err()
}

var (
	_ engine.Initializer = (*node)(nil)
	_ engine.Referrer    = (*node)(nil)
	_ engine.Streamer    = (*node)(nil)
	_ engine.Resetter    = (*node)(nil)
	_ engine.Warner      = (*node)(nil)
)
