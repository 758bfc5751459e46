package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/stable"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/node"
)

// plugin is the manifest of a plugin that the host has loaded and runs.
type plugin struct {
	b        *bridge
	manifest *contract.Manifest
	checks   bool   // it checks params
	stays    string // the reason why it takes no part in previews, which is all that runs here; "" if it does
	timeout  time.Duration
	locale   string
	settings engine.Value
}

// plugin adds or removes a plugin: {"forget"} removes it, other requests have a manifest, which
// replaces an older one of the same name.
func (b *bridge) plugin(header engine.Value, body string) ([]byte, error) {
	name := header.Get("forget").Str()
	var nodes []*contract.Manifest
	if name == "" {
		m, err := manifestIn(body)
		if err != nil {
			return nil, err
		}
		name, nodes = m.Name, m.Nodes()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for node, p := range b.plugins {
		if p.manifest.Name == name {
			delete(b.plugins, node)
		}
	}
	if nodes == nil {
		return empty, nil
	}
	timeout, _ := header.Get("timeout_ms").Int()
	var p *plugin
	for _, m := range nodes {
		p = &plugin{
			b: b, manifest: m, checks: header.Get("checks").True(), stays: stays(m.Preview,
				header.Get("server").True()), locale: header.Get("locale").Str(),
			timeout: time.Duration(timeout) * time.Millisecond, settings: header.Get("settings"),
		}
		b.plugins[m.NodeName()] = p
	}
	return engine.Object("component", p.component()).AppendJSON(nil), nil
}

// stays returns the reason why a plugin takes no part in previews here, which may be on a server.
func stays(preview contract.Preview, server bool) string {
	switch {
	case preview == contract.PreviewServer && !server:
		return `its manifest says preview "server": it runs on a server only; run the canvas there, or pin what the ` +
			`node gives`
	case preview == contract.PreviewNone:
		return `its manifest says preview "none": it is not run to try a canvas out; pin what the node gives`
	}
	return ""
}

// component returns its name in canvases: plugin:weather@1.
func (p *plugin) component() string {
	return engine.PluginPrefix + p.manifest.NodeName() + "@" + p.manifest.Major()
}

// lookup finds plugins as components. One that takes no part in previews has a form like any other,
// and the reason.
func (b *bridge) lookup(name string) (engine.Spec, bool) {
	spec, ok := (&node.Shelf{Find: b.findPlugin}).Lookup(name)
	if p, err := b.findPlugin(strings.TrimPrefix(name, engine.PluginPrefix)); err == nil {
		spec.Missing = p.(*plugin).stays
	}
	return spec, ok
}

// findPlugin returns the plugin for weather, weather@1 or weather@1.2.0.
func (b *bridge) findPlugin(ref string) (node.Plugin, error) {
	name, want, _ := strings.Cut(ref, "@")
	b.mu.Lock()
	p := b.plugins[name]
	b.mu.Unlock()
	switch {
	case p == nil:
		e := contract.Errorf(contract.NotFound,
			"not loaded; add its file to plugins, or run on a host where it is installed")
		return nil, e.At(ref, "find")
	case want != "" && p.manifest.Version != want && !strings.HasPrefix(p.manifest.Version, want+"."):
		return nil, contract.Errorf(contract.NotFound, "loaded is version %s", p.manifest.Version).At(ref, "find")
	}
	return p, nil
}

// describePlugins returns the loaded plugins as components.
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

// Manifest returns the plugin's manifest.
func (p *plugin) Manifest() *contract.Manifest { return p.manifest }

// checkWait bounds the wait for a plugin's check, which includes the start of a Worker.
const checkWait = 15 * node.CheckFor

// Check calls the plugin's check of params, outside of any run.
func (p *plugin) Check(params engine.Value) error {
	if !p.checks {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), checkWait)
	defer cancel()
	asker := &run{b: p.b, ctx: ctx}
	asker.out.host = p.b.host
	payload := p.payload("easel_check", p.manifest.CheckMessage(params)).
		With("timeout_ms", engine.Int(node.CheckFor.Milliseconds()))
	_, err := asker.converse(ctx, "", payload, nil)
	if errors.Is(err, context.DeadlineExceeded) {
		return contract.Errorf(contract.Timeout, "easel_check timed out").At(p.manifest.Name, "easel_check")
	}
	return p.failed(err, "easel_check")
}

// Invoke runs the plugin through the host, and serves its host calls.
func (p *plugin) Invoke(ctx context.Context, call *engine.Call, in node.Invocation) (contract.Answer, error) {
	answer, err := p.invoke(ctx, call, in)
	var e *contract.Error
	if errors.As(err, &e) {
		return answer, e.At(p.manifest.Name, p.manifest.Export())
	}
	return answer, err
}

func (p *plugin) invoke(ctx context.Context, call *engine.Call, in node.Invocation) (contract.Answer, error) {
	host, ok := call.Ports().Tools.(tools)
	if !ok || !host.plugin {
		return contract.Answer{}, fmt.Errorf("%s: %w: this host runs no plugins", p.component(), engine.ErrNoPort)
	}
	if p.stays != "" {
		return contract.Answer{}, contract.Errorf(contract.Unsupported, "%s", p.stays)
	}
	if err := p.manifest.CheckInput(in.Params, in.Arguments); err != nil {
		return contract.Answer{}, err
	}
	settings, err := p.manifest.Configured(p.settings)
	if err != nil {
		return contract.Answer{}, err
	}
	mark := engine.NewSecretMark()
	about := contract.CallInfo{
		ID: call.Key(), Run: call.RunInfo().MessageID, Node: call.NodeID(), Attempt: in.Attempt, Left: p.left(ctx),
		Locale:  p.locale,
		Preview: true, SecretMark: mark, Settings: settings,
	}
	params, arguments := in.Marked(mark)
	message, err := p.manifest.Message(about, params, arguments)
	if err != nil {
		return contract.Answer{}, err
	}
	payload := p.payload(p.manifest.Export(), message).With("secret_mark", engine.String(mark))
	talk := &dialogue{services: node.Services{Call: call, LLM: in.LLM}, emit: in.Emit}
	answer, err := host.converse(ctx, call.NodeID(), payload, talk)
	if err != nil {
		return contract.Answer{}, p.failed(err, p.manifest.Export())
	}
	if talk.given != nil && ctx.Err() == nil {
		return contract.Answer{}, talk.given
	}
	output := []byte(answer.Get("output").Str())
	if encoded := answer.Get("output_base64"); !encoded.IsNull() {
		if output, err = base64.StdEncoding.DecodeString(encoded.Str()); err != nil {
			return contract.Answer{}, contract.Errorf(contract.BadOutput, "output_base64: %v", err)
		}
	}
	result, err := p.manifest.ReadOutput(output)
	result.Files = answer.Get("files").Slice()
	return result, err
}

// left returns the remaining time of the plugin.
func (p *plugin) left(ctx context.Context) time.Duration {
	left := p.timeout
	if d, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(d))
	}
	return max(left, 0)
}

func (p *plugin) payload(export string, input []byte) engine.Value {
	v := engine.Object("plugin", p.manifest.Name, "version", p.manifest.Version, "export", export)
	if utf8.Valid(input) {
		return v.With("input", engine.String(string(input)))
	}
	return v.With("input_base64", engine.String(base64.StdEncoding.EncodeToString(input)))
}

// failed returns an error of the host as one of the plugin, with its code and data.
func (p *plugin) failed(err error, step string) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	return &contract.Error{
		Code: contract.Code(f.code), Message: f.text, Retryable: f.retry, Data: f.data, Cause: f,
		Plugin: p.manifest.Name, Step: step,
	}
}
