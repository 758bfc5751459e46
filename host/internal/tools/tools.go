// Package tools runs the tool plugins that the program carries (plugins/tools) behind the engine's
// port for components whose work is done outside, such as web searches.
//
// A [Set] loads a tool from the embedded bytes when it is first called; all of them share the
// compiled code of one interpreter. A call is granted the hosts of the tool's manifest, and the
// host of an address that the canvas itself writes into its params (base_url). Keys from params
// never enter the sandbox: the tool writes a placeholder, and the value is put into the request by
// host/internal/plugin.
//
// The package decides nothing about private addresses: its caller says whether they are allowed.
package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/tools"
)

// Config configures a Set.
type Config struct {
	// Host gives the host that runs the modules. It is called when a tool is first used; an error
	// fails that call, and the next one asks again.
	Host func(ctx context.Context) (*plugin.Host, error)
	// Switches say which tools are off; nil: all are on.
	Switches *Switches
	// Grant returns the hosts that a tenant allows to plugins; nil, or a nil result, allows all.
	Grant func(tenant string) *contract.Permissions
	// AllowPrivate allows private and local addresses.
	AllowPrivate bool
}

// Set is the tools of one host. It is safe for concurrent use; modules live as long as the host.
type Set struct {
	cfg  Config
	mu   sync.Mutex
	open map[string]*plugin.Module // by name
}

// New makes a Set. It loads nothing.
func New(cfg Config) *Set { return &Set{cfg: cfg, open: map[string]*plugin.Module{}} }

// ErrOff means that the operator switched a tool off; `easel plugin enable NAME` switches it on.
var ErrOff = errors.New("switched off")

// find returns the tool that serves a component.
func find(component string) (tools.Tool, bool, error) {
	list, err := tools.All()
	if err != nil {
		return tools.Tool{}, false, err
	}
	for _, t := range list {
		if t.Component == component {
			return t, true, nil
		}
	}
	return tools.Tool{}, false, nil
}

// Offers reports whether a component is served, switched off or not.
func Offers(component string) bool {
	_, ok, err := find(component)
	return ok && err == nil
}

// Named reports whether there is a tool of this name.
func Named(name string) bool {
	list, err := tools.All()
	return err == nil && slices.ContainsFunc(list, func(t tools.Tool) bool { return t.Name() == name })
}

// Listed is a tool with its switch.
type Listed struct {
	Component string
	Manifest  *contract.Manifest
	On        bool
}

// List returns all tools by name.
func List(s *Switches) ([]Listed, error) {
	list, err := tools.All()
	if err != nil {
		return nil, err
	}
	off, err := s.Off()
	if err != nil {
		return nil, err
	}
	out := make([]Listed, len(list))
	for i, t := range list {
		m, err := contract.ParseManifest(t.Manifest)
		if err != nil {
			return nil, err
		}
		out[i] = Listed{t.Component, m, !slices.Contains(off, t.Name())}
	}
	return out, nil
}

// module returns the loaded module of a tool.
func (s *Set) module(ctx context.Context, t tools.Tool) (*plugin.Module, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.open[t.Name()]; m != nil {
		return m, nil
	}
	h, err := s.cfg.Host(ctx)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	m, err := load(ctx, h, t)
	if err == nil {
		s.open[t.Name()] = m
	}
	return m, err
}

// Warm loads one tool, so that the interpreter is compiled for all of them before a canvas calls
// the first.
func (s *Set) Warm(ctx context.Context) error {
	if s == nil {
		return nil
	}
	list, err := tools.All()
	if err != nil || len(list) == 0 {
		return err
	}
	_, err = s.module(ctx, list[0])
	return err
}

// load makes the module of a tool: the interpreter with the manifest and the spec as sections.
func load(ctx context.Context, h *plugin.Host, t tools.Tool) (*plugin.Module, error) {
	wasm, err := t.Module()
	if err != nil {
		return nil, err
	}
	return h.Load(ctx, wasm, plugin.LoadOptions{
		Source: plugin.Builtin, Granted: contract.Everything(), DecodeText: true,
	})
}

// Guest returns the port for canvases that are not of the host, such as one that a page tries out.
// It sends secrets of the host to the tools' own services only.
func (s *Set) Guest(tenant string, secrets engine.Secrets) engine.Tools {
	if s == nil {
		return nil
	}
	return &port{set: s, tenant: tenant, secrets: secrets, guest: true}
}

// Port returns the engine's port for one run; that of a nil Set is none. secrets resolve
// {{secret:NAME}}; nil knows none.
func (s *Set) Port(tenant string, secrets engine.Secrets) engine.Tools {
	if s == nil {
		return nil
	}
	return &port{set: s, tenant: tenant, secrets: secrets}
}
