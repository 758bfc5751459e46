package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// component is a plugin as one node of a canvas.
type component struct {
	engine.Common
	LLM string `json:"llm_id" doc:"model the plugin's own questions go to; empty is the default model"`

	shelf    *Shelf
	ref      string             // weather@1
	manifest *contract.Manifest // at the time the canvas was loaded; nil if the plugin was missing
	tool     *engine.ToolSpec   // the Spec's, nil if it is not a tool
	params   engine.Value       // as in the document
	isTool   bool               // a model supplies its arguments

	mu     sync.Mutex
	judged string // the output that alone is about
	alone  bool   // see Shelf.Alone
}

// Init stores the params, checks those without references, and hides pinned arguments from
// models.
func (n *component) Init(s *engine.Setup) error {
	n.params, n.isTool = s.Params, s.IsTool()
	m := n.manifest
	if m == nil {
		return nil
	}
	for i := range n.params.Len() {
		name, v := n.params.Key(i), n.params.At(i)
		if !given(v) || refers(m, name) && len(references(v)) > 0 {
			continue
		}
		for _, schema := range [...]*contract.Schema{m.Params, m.Arguments} {
			p, _ := schema.Property(name)
			if err := p.Check(name, fit(v, p)); err != nil {
				return s.Fail(name, engine.Null, err.Error())
			}
		}
	}
	if n.tool != nil {
		pinned := n.pinned(m)
		n.tool.Schema = hide(n.tool.Schema, pinned)
		n.tool.Args = slices.DeleteFunc(slices.Clone(n.tool.Args), func(f engine.Field) bool { return slices.Contains(pinned, f.Name) })
	}
	return nil
}

// pinned returns the arguments that the canvas sets, and a model therefore does not.
func (n *component) pinned(m *contract.Manifest) []string {
	var out []string
	for i := range n.params.Len() {
		name, v := n.params.Key(i), n.params.At(i)
		if given(v) && declares(m.Arguments, name) {
			out = append(out, name)
		}
	}
	return out
}

// References returns those of the params that may contain references: without a manifest, all.
func (n *component) References() []engine.Ref {
	var out []engine.Ref
	for i := range n.params.Len() {
		name, v := n.params.Key(i), n.params.At(i)
		if n.manifest == nil && !slices.Contains(standard(), name) || n.manifest != nil && refers(n.manifest, name) {
			out = append(out, references(v)...)
		}
	}
	return out
}

// Run runs the plugin, or announces a stream.
func (n *component) Run(ctx context.Context, call *engine.Call) error {
	p, err := n.find(call)
	if err != nil {
		return err
	}
	in, err := n.input(ctx, call, p.Manifest())
	if err != nil {
		return err
	}
	if out := n.streams(call, p.Manifest()); out != "" {
		return call.Defer(out, in)
	}
	answer, err := n.retry(ctx, call, in, func(e contract.Emission) error { return note(call, e) },
		func() bool { return true })
	if err != nil {
		return err
	}
	write(call, answer)
	if answer.Next == "" || call.IsTool() {
		return nil
	}
	return call.Next(n.targets(answer.Next))
}

// find returns the plugin for a call. A host may return the version with which the run started.
func (n *component) find(call *engine.Call) (Plugin, error) {
	p, err := n.shelf.node(n.ref)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", engine.ErrNoPort, err)
	}
	if v, ok := p.(interface {
		For(call *engine.Call) Plugin
	}); ok {
		p = v.For(call)
	}
	return p, nil
}

// retry runs the plugin, again after temporary errors, as long as again allows it. Each attempt
// looks the plugin up, as it may have been replaced.
func (n *component) retry(ctx context.Context, call *engine.Call, in engine.Value, emit func(contract.Emission) error,
	again func() bool,
) (contract.Answer, error) {
	for attempt := 1; ; attempt++ {
		p, err := n.find(call)
		if err != nil {
			return contract.Answer{}, err
		}
		answer, err := p.Invoke(ctx, call, Invocation{
			Attempt: attempt, LLM: n.LLM, Params: in.Get("params"), Arguments: in.Get("arguments"), Own: in.Get("secrets").Str(),
			Emit: func(e contract.Emission) error {
				if err := stopped(ctx, call); err != nil {
					return err
				}
				return emit(e)
			},
		})
		if err == nil {
			return answer, nil
		}
		if stop := stopped(ctx, call); stop != nil {
			return answer, stop
		}
		if attempt > n.MaxRetries || !again() || !mayPass(err, p.Manifest()) {
			return answer, forReader(call, err)
		}
		if err := call.Sleep(ctx, n.pause(err)); err != nil {
			return answer, err
		}
	}
}

// Reset drops the state of a run.
func (n *component) Reset(runID string) {
	if n.shelf.Ended != nil {
		n.shelf.Ended(runID)
	}
}

// stopped returns the reason to end the execution, or nil.
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
	_ engine.Initializer = (*component)(nil)
	_ engine.Referrer    = (*component)(nil)
	_ engine.Former      = (*component)(nil)
	_ engine.Streamer    = (*component)(nil)
	_ engine.Resetter    = (*component)(nil)
	_ engine.Brancher    = (*component)(nil)
	_ engine.Warner      = (*component)(nil)
)
