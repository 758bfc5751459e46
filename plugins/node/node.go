// Package node makes a plugin a component of the engine, and a tool of its Agents.
//
// A [Shelf] answers the engine's question for a component named plugin:weather@1 with a Spec
// derived from the manifest: params and arguments become the form, outputs become what other nodes
// may refer to, and arguments become the function a model sees. What the author of a canvas sets in
// params is pinned: a model neither sees nor overrides it. A plugin that is missing gives a
// component that loads, validates with one problem that says what to do, and fails only when it is
// reached.
//
// A node looks its plugin up each time it runs, so a plugin that is replaced or installed meanwhile
// serves the next run of the node without the canvas being loaded anew, also where it is a tool of
// an Agent. What the plugin emits streams to the user where the engine allows it; an error that may
// pass is tried again as often as the node says.
//
// The package runs nothing itself: a [Plugin] does, with wazero on a server and with the browser's
// own WebAssembly in a page. It uses the engine and the standard library only and holds JSON as
// engine.Value, because reflection and encoding/json would weigh a tenth of the engine's module.
package node

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Plugin is one loaded plugin, as a node works with it.
type Plugin interface {
	Manifest() *contract.Manifest
	// Check is what the plugin itself says about params without references, within CheckFor; nil
	// when it finds nothing wrong.
	Check(params engine.Value) error
	// Invoke runs it once and compares input and outputs with the manifest. Errors of the plugin
	// and on its behalf are an *contract.Error.
	Invoke(ctx context.Context, call *engine.Call, in Invocation) (contract.Answer, error)
}

// CheckFor is how long a plugin may think about params while a canvas is validated. Making an
// instance does not count.
const CheckFor = time.Second

// Invocation is one attempt of a node to run its plugin.
type Invocation struct {
	Attempt   int          // 1 for the first
	LLM       string       // llm_id the plugin's own questions go to; empty is the default
	Params    engine.Value // object; references are resolved
	Arguments engine.Value // object; null when the plugin takes none
	Own       string       // which placeholders of secrets the canvas itself wrote, for Marked
	// Emit takes what the plugin emits, in order; an error tells the plugin to finish.
	Emit func(contract.Emission) error
}

// Shelf is where plugins are found.
type Shelf struct {
	// Find gives the plugin for weather or weather@1. Its error tells the author of a canvas what
	// to do.
	Find func(ref string) (Plugin, error)
	// Ended is told when a run is over, to let go of what was kept for it; may be nil.
	Ended func(runID string)
}

// Lookup is what engine.Registry.Plugin wants: the Spec of a component named plugin:weather@1. It
// always finds one; a plugin that cannot run has a Spec that says why in Missing.
func (s *Shelf) Lookup(name string) (engine.Spec, bool) {
	ref, ok := strings.CutPrefix(name, engine.PluginPrefix)
	if !ok {
		return engine.Spec{}, false
	}
	p, err := s.node(ref)
	if err != nil {
		return s.missing(name, ref, err), true
	}
	return s.spec(name, ref, p.Manifest()), true
}

// node finds a plugin that canvases call.
func (s *Shelf) node(ref string) (Plugin, error) {
	p, err := s.Find(ref)
	if err == nil && p.Manifest().Trigger != "" {
		err = &contract.Error{Code: contract.Unsupported, Message: "begins runs; name it in a schedule of the canvas"}
	}
	return p, err
}

// missing describes a plugin that cannot run.
func (s *Shelf) missing(name, ref string, err error) engine.Spec {
	why := err.Error()
	var e *contract.Error
	if errors.As(err, &e) {
		why = e.Message
	}
	// As a tool it has its name already, so that it can be called once it is there; what it takes
	// is not known before.
	function, _, _ := strings.Cut(ref, "@")
	return engine.Spec{
		Name: name, Doc: "A plugin that cannot run here.", Missing: why,
		Tool: &engine.ToolSpec{
			Function: function, Description: "A plugin that cannot run here.", Result: toolResult,
			Schema: engine.Object("type", "object", "properties", engine.Object()),
		},
		New: func() engine.Component { return &component{shelf: s, ref: ref} },
	}
}
