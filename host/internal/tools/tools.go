// Package tools runs the tool plugins that the program carries (plugins/tools) behind the engine's
// port for components whose work is done outside, such as web searches.
//
// A [Set] loads a tool from the embedded bytes when it is first called; all of them share the
// compiled code of one module. Until that is compiled, which [Set.Warm] does, calls are interpreted
// instead of waiting: an interpreted call sends its request at once, and compiled code reads a
// large answer.
//
// A call is granted the hosts of the tool's manifest, and the host of an address that the canvas
// itself writes into its params (base_url). Keys from params never enter the sandbox: the tool
// writes a placeholder, and the value is put into the request by host/internal/plugin.
//
// The caller decides whether private addresses are allowed.
package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/tools"
)

// Config configures a Set.
type Config struct {
	// Host returns the host that runs the modules. It is called when a tool is first used; an error
	// fails that call, and the next one retries.
	Host func(ctx context.Context) (*plugin.Host, error)
	// Switches disable tools; nil disables none.
	Switches *Switches
	// Grant returns the hosts that a tenant allows to plugins; nil, or a nil result, allows all.
	Grant func(tenant string) *contract.Permissions
	// AllowPrivate allows private and local addresses.
	AllowPrivate bool
	// Log receives why the tools could not be compiled after a first call. Default slog.Default().
	Log *slog.Logger
}

// Set is the tools of one host. It is safe for concurrent use; modules live as long as the host.
type Set struct {
	cfg     Config
	warming sync.Mutex // held by Warm

	mu       sync.Mutex
	open     map[string]*plugin.Module // by name
	compiled bool                      // those in open are; else they are interpreted
	begun    bool                      // a Warm was started by a call
	small    int                       // answers that are interpreted, in bytes
}

// smallAnswer is the size of answers up to which waiting for the compiler takes longer than reading
// them with the interpreter, which needs 3 ms for a KB.
const smallAnswer = 4 << 10

// New makes a Set. It loads nothing.
func New(cfg Config) *Set {
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	return &Set{cfg: cfg, open: map[string]*plugin.Module{}, small: smallAnswer}
}

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

// module returns the loaded module of a tool, pinned for one call.
func (s *Set) module(ctx context.Context, t tools.Tool) (*plugin.Module, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.open[t.Name()]
	if m == nil {
		h, err := s.cfg.Host(ctx)
		if err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
		if m, err = load(ctx, h, t, !s.compiled); err != nil {
			return nil, err
		}
		s.open[t.Name()] = m
	}
	if !m.Pin() {
		return nil, contract.Errorf(contract.Closed, "the host is closed")
	}
	return m, nil
}

// compileLater starts a Warm, once, for a host that did not.
func (s *Set) compileLater() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.compiled || s.begun {
		return
	}
	s.begun = true
	go func() {
		if err := s.Warm(context.Background()); err != nil {
			s.cfg.Log.Warn("built-in tools are not compiled; the next call tries again", "err", err)
			s.mu.Lock()
			s.begun = false
			s.mu.Unlock()
		}
	}()
}

// Warm compiles the module that all tools share. Calls that come before it is done are interpreted.
func (s *Set) Warm(ctx context.Context) error {
	if s == nil {
		return nil
	}
	s.warming.Lock()
	defer s.warming.Unlock()
	list, err := tools.All()
	if err != nil || len(list) == 0 || s.isCompiled() {
		return err
	}
	h, err := s.cfg.Host(ctx)
	if err != nil {
		return fmt.Errorf("tools: %w", err)
	}
	m, err := load(ctx, h, list[0], false)
	if err != nil {
		return err
	}
	s.mu.Lock()
	interpreted := s.open
	s.open, s.compiled = map[string]*plugin.Module{list[0].Name(): m}, true
	s.mu.Unlock()
	for _, old := range interpreted {
		go func() { // after its last call, which may be waiting for this
			if err := old.Close(context.Background()); err != nil {
				s.cfg.Log.Warn("an interpreted tool was not freed", "err", err)
			}
		}()
	}
	return nil
}

// invoke calls a module. Compiled code continues a call that was interpreted so far when it has to
// read more than a small answer.
func (s *Set) invoke(
	ctx context.Context, t tools.Tool, m *plugin.Module, inv plugin.Invocation,
) (plugin.Answer, error) {
	if !m.Interpreted() {
		return m.Invoke(ctx, inv)
	}
	s.compileLater()
	inv.Handover = &plugin.Handover{Ready: func(ctx context.Context, size int) bool {
		// If compiling fails, the interpreter finishes the call; the next one tries again.
		return s.isCompiled() || size > s.small && s.Warm(ctx) == nil
	}}
	answer, err := m.Invoke(ctx, inv)
	if !inv.Handover.Moved() {
		return answer, err
	}
	compiled, err := s.module(ctx, t)
	if err != nil {
		return plugin.Answer{}, err
	}
	defer compiled.Unpin()
	return compiled.Invoke(ctx, inv)
}

func (s *Set) isCompiled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.compiled
}

// load makes the module of a tool: the shared module with the manifest and the spec as sections.
func load(ctx context.Context, h *plugin.Host, t tools.Tool, interpret bool) (*plugin.Module, error) {
	wasm, err := t.Module()
	if err != nil {
		return nil, err
	}
	return h.Load(ctx, wasm, plugin.LoadOptions{
		Source: plugin.Builtin, Granted: contract.Everything(), DecodeText: true, Interpret: interpret,
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

// Port returns the engine's port for one run, nil for a nil Set. secrets resolve {{secret:NAME}};
// nil resolves none.
func (s *Set) Port(tenant string, secrets engine.Secrets) engine.Tools {
	if s == nil {
		return nil
	}
	return &port{set: s, tenant: tenant, secrets: secrets}
}
