// Package node makes a plugin a component of the engine, and a tool of its Agents.
//
// A [Shelf] looks up a component named plugin:weather@1 for the engine and returns a Spec derived
// from the manifest: params and arguments become the form, other nodes may refer to the outputs,
// and arguments become the function a model sees. An argument that the author of a canvas sets in
// params is pinned: a model neither sees nor overrides it. A missing plugin is a component that
// loads, validates with one diagnostic that names the remedy, and fails only when it is reached.
//
// A node looks its plugin up each time it runs, so a plugin that is replaced or installed later
// serves the next run of the node without the canvas being loaded again, also where it is a tool of
// an Agent. Emissions of the plugin are streamed to the user where the engine allows it; a
// temporary error is retried as often as the node is configured.
//
// The package runs nothing itself: a [Plugin] does, with wazero on a server and with the browser's
// own WebAssembly in a page. It uses the engine and the standard library only and represents JSON
// as engine.Value, because reflection and encoding/json would enlarge the engine's module by a
// tenth.
package node

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Plugin is one loaded plugin, as nodes use it.
type Plugin interface {
	Manifest() *contract.Manifest
	// Check returns the plugin's own error about params without references, within CheckFor; nil
	// if they are valid.
	Check(params engine.Value) error
	// Invoke runs it once and compares input and outputs with the manifest. Errors of the plugin
	// and on its behalf are an *contract.Error.
	Invoke(ctx context.Context, call *engine.Call, in Invocation) (contract.Answer, error)
}

// CheckFor is the time limit of a check of params while a canvas is validated. Creating an
// instance does not count.
const CheckFor = time.Second

// Invocation is one attempt of a node to run its plugin.
type Invocation struct {
	Attempt   int          // 1 for the first
	LLM       string       // llm_id of the plugin's own calls; empty is the default
	Params    engine.Value // object; references are resolved
	Arguments engine.Value // object; null for a plugin without arguments
	Own       string       // the placeholders of secrets that the canvas itself contains, for Marked
	// Emit receives emissions in order; after an error the plugin should finish.
	Emit func(contract.Emission) error
}

// Shelf looks up plugins.
type Shelf struct {
	// Find returns the plugin for weather or weather@1. Its error is for the author of a canvas,
	// with the remedy.
	Find func(ref string) (Plugin, error)
	// Alone reports whether a node's output may be said before its other outputs are known, such as
	// [engine.CallOutputs.SpeaksOnly]; nil never.
	Alone func(call *engine.Call, output string) bool
	// Ended is called when a run is over, to release resources of the run; may be nil.
	Ended func(runID string)
}

// Lookup implements engine.Registry.Plugin: it returns the Spec of a component named
// plugin:weather@1. It always finds one; a plugin that cannot run has a Spec with the reason in
// Missing.
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

// BuiltIn reports the names of built-in components, in whatever case they are written, but not
// those of tools: an Agent knows the tools of a plugin by the name of the plugin, too.
func BuiltIn(r *engine.Registry) func(name string) bool {
	return func(name string) bool {
		for _, known := range r.Names() {
			if strings.EqualFold(name, known) {
				spec, err := r.Lookup(known)
				return err == nil && spec.Tool == nil
			}
		}
		return false
	}
}

// missing describes a plugin that cannot run.
func (s *Shelf) missing(name, ref string, err error) engine.Spec {
	why := err.Error()
	var e *contract.Error
	if errors.As(err, &e) {
		why = e.Message
	}
	// As a tool it has its name already, so that it can be called once it is installed; its
	// arguments are unknown before.
	function, _, _ := strings.Cut(ref, "@")
	function = strings.ReplaceAll(function, ".", "_")
	return engine.Spec{
		Name: name, Doc: "A plugin that cannot run here.", Missing: why,
		Tool: &engine.ToolSpec{
			Function: function, Description: "A plugin that cannot run here.", Result: toolResult,
			Schema: engine.Object("type", "object", "properties", engine.Object()),
		},
		New: func() engine.Component { return &component{shelf: s, ref: ref} },
	}
}
