package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
	"github.com/easel-canvas/easel/plugins/node"
)

// plugin is one that the host has loaded and runs; here stands what it says about itself.
type plugin struct {
	b        *bridge
	manifest *node.Manifest
	checks   bool   // it has something to say about params
	stays    string // why it takes no part in previews, which is all that runs here; "" when it does
	timeout  time.Duration
	locale   string
}

// plugin keeps or forgets a plugin: {"name"} forgets it, anything else comes with a manifest, which
// takes the place of an older one of the same name.
func (b *bridge) plugin(header engine.Value, body string) ([]byte, error) {
	if name := header.Get("forget").Str(); name != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.plugins, name)
		return empty, nil
	}
	doc, err := engine.ParseJSONText(body)
	if err != nil {
		return nil, &failure{code: codeRequest, text: "manifest: " + err.Error()}
	}
	m, err := node.ReadManifest(doc)
	if err != nil {
		return nil, &failure{code: codeRequest, text: err.Error()}
	}
	timeout, _ := header.Get("timeout_ms").Int()
	p := &plugin{
		b: b, manifest: m, checks: header.Get("checks").True(), stays: stays(doc.Get("preview").Str(), header.Get("server").True()), locale: header.Get("locale").Str(),
		timeout: time.Duration(timeout) * time.Millisecond,
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.plugins[m.Name] = p
	return engine.Object("component", p.component()).AppendJSON(nil), nil
}

// stays is why a plugin whose manifest says so takes no part in previews here, which may be on a
// server.
func stays(preview string, server bool) string {
	switch {
	case preview == "server" && !server:
		return `its manifest says preview "server": it runs on a server only; run the canvas there, or pin what the node gives`
	case preview == "none":
		return `its manifest says preview "none": it is not run to try a canvas out; pin what the node gives`
	}
	return ""
}

// component is the name by which canvases know it: plugin:weather@1.
func (p *plugin) component() string {
	major, _, _ := strings.Cut(p.manifest.Version, ".")
	return engine.PluginPrefix + p.manifest.Name + "@" + major
}

// lookup finds plugins as components. One that takes no part in previews has its form like any
// other, and the reason.
func (b *bridge) lookup(name string) (engine.Spec, bool) {
	spec, ok := (&node.Shelf{Find: b.findPlugin}).Lookup(name)
	if p, err := b.findPlugin(strings.TrimPrefix(name, engine.PluginPrefix)); err == nil {
		spec.Missing = p.(*plugin).stays
	}
	return spec, ok
}

// findPlugin gives the plugin for weather, weather@1 or weather@1.2.0.
func (b *bridge) findPlugin(ref string) (node.Plugin, error) {
	name, want, _ := strings.Cut(ref, "@")
	b.mu.Lock()
	p := b.plugins[name]
	b.mu.Unlock()
	switch {
	case p == nil:
		return nil, &node.Error{Code: "not_found", Message: "not loaded; give it to createEngine or run as one of plugins", Plugin: ref, Step: "find"}
	case want != "" && p.manifest.Version != want && !strings.HasPrefix(p.manifest.Version, want+"."):
		return nil, &node.Error{Code: "not_found", Message: "loaded is version " + p.manifest.Version, Plugin: ref, Step: "find"}
	}
	return p, nil
}

// describePlugins are the components that the loaded plugins are.
func (b *bridge) describePlugins() []engine.Value {
	b.mu.Lock()
	names := stable.Strings(slices.Collect(maps.Keys(b.plugins)))
	list := make([]*plugin, len(names))
	for i, name := range names {
		list[i] = b.plugins[name]
	}
	b.mu.Unlock()
	specs := make([]engine.Value, 0, len(list))
	for _, p := range list {
		if s, ok := b.registry.Plugin(p.component()); ok {
			specs = append(specs, s.Describe())
		}
	}
	return specs
}

// Manifest is what the plugin says about itself.
func (p *plugin) Manifest() *node.Manifest { return p.manifest }

// checkWait bounds the wait for a plugin's opinion, which includes the start of a Worker.
const checkWait = 15 * node.CheckFor

// Check asks the plugin about params. It belongs to no run.
func (p *plugin) Check(params engine.Value) error {
	if !p.checks {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkWait)
	defer cancel()
	asker := &run{b: p.b, ctx: ctx}
	asker.out.host = p.b.host
	payload := p.payload("easel_check", engine.Object("params", params)).With("timeout_ms", engine.Int(node.CheckFor.Milliseconds()))
	_, err := asker.converse(ctx, "", payload, nil)
	if errors.Is(err, context.DeadlineExceeded) {
		return &node.Error{Code: engine.CodeTimeout, Message: "gave no opinion on its params in time", Plugin: p.manifest.Name, Step: "easel_check"}
	}
	return p.failed(err, "easel_check")
}

// Invoke has the host run the plugin, and answers what it asks meanwhile.
func (p *plugin) Invoke(ctx context.Context, call *engine.Call, in node.Invocation) (engine.Value, error) {
	host, ok := call.Ports().Tools.(tools)
	if !ok || !host.plugin {
		return engine.Null, fmt.Errorf("%s: %w: this host runs no plugins", p.component(), engine.ErrNoPort)
	}
	if p.stays != "" {
		return engine.Null, p.failed(&failure{code: engine.CodeUnsupported, text: p.stays}, "easel_invoke")
	}
	if err := p.manifest.CheckInput(in); err != nil {
		return engine.Null, err
	}
	about := engine.Object(
		"id", call.Key(), "run", call.RunInfo().MessageID, "node", call.NodeID(), "attempt", in.Attempt)
	if left := p.left(ctx); left > 0 {
		about = about.With("deadline_ms", engine.Int(left.Milliseconds()))
	}
	if p.locale != "" {
		about = about.With("locale", engine.String(p.locale))
	}
	mark := engine.NewSecretMark()
	input := in.Marked(mark).With("abi", engine.Int(1)).With("call", about.With("preview", engine.Bool(true)).With("secret_mark", engine.String(mark)))
	talk := &dialogue{services: node.Services{Call: call, LLM: in.LLM}, emit: in.Emit}
	answer, err := host.converse(ctx, call.NodeID(), p.payload("easel_invoke", input).With("secret_mark", engine.String(mark)), talk)
	if err != nil {
		return engine.Null, p.failed(err, "easel_invoke")
	}
	if talk.given != nil && ctx.Err() == nil {
		return engine.Null, talk.given
	}
	return p.manifest.ReadAnswer(answer.Get("output").Str())
}

// left is how much time the plugin has.
func (p *plugin) left(ctx context.Context) time.Duration {
	left := p.timeout
	if d, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(d))
	}
	return max(left, 0)
}

func (p *plugin) payload(export string, input engine.Value) engine.Value {
	return engine.Object("plugin", p.manifest.Name, "version", p.manifest.Version, "export", export, "input", input.JSON())
}

// failed is an error of the host as one of the plugin, with its code and data.
func (p *plugin) failed(err error, step string) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	return &node.Error{
		Code: f.code, Message: f.text, Retryable: f.retry, Data: f.data, Plugin: p.manifest.Name, Step: step, Cause: f,
	}
}
