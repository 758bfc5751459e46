package plugin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// Source is the origin of a plugin file; it determines the required signature.
type Source string

// The sources. The empty Source is Local.
const (
	Local  Source = "local"  // an operator brought the file
	Remote Source = "remote" // from a catalogue
	// Builtin is a part of the program itself; no signature is looked for.
	Builtin Source = "builtin"
)

// LoadOptions accompany the bytes of a plugin.
type LoadOptions struct {
	Source Source
	// Granted is the operator's ceiling for this plugin, as approved or by policy.
	Granted contract.Permissions
	// Approval requires Granted to cover all permissions of the manifest; without it the plugin is
	// loaded with the intersection.
	Approval bool
	// Limits tighten the host's for this plugin.
	Limits contract.Limits
	// Manifest stands in for a missing manifest section, so that a plain Extism
	// plugin can be used.
	Manifest *contract.Manifest
	// Settings are returned by config_get; never secrets.
	Settings map[string]string
	// DecodeText converts the text of responses from their charset to UTF-8.
	DecodeText bool
	// Interpret runs a Builtin module in an interpreter: it starts without a compiler, and computes
	// some tens of times slower. Limits and results equal those of compiled code. Modules of other
	// sources are compiled nevertheless.
	Interpret bool
	// undescribed leaves easel_describe alone, for Describe.
	undescribed bool
	// tried is set for a file that was loaded before: nothing of it runs before its first call, so
	// that no plugin delays the start of a host.
	tried bool
}

// Load checks, meters and compiles a plugin and makes a first instance of it.
// Errors are *Error; Step names the step that failed. Compiling a Go guest takes
// seconds, from the disk cache a tenth of one: load when a plugin is installed.
func (h *Host) Load(ctx context.Context, wasm []byte, o LoadOptions) (*Module, error) {
	ctx, done, err := h.beginLoad(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	m := &Module{host: h, runtime: h.runtime, settings: o.Settings, decodeText: o.DecodeText, places: newGate(h.cfg.MaxPerPlugin)}
	for _, step := range []struct {
		name string
		run  func() error
	}{
		{"read", func() error { return m.read(wasm) }},
		{"verify signature", func() error { return m.verify(wasm, o.Source) }},
		{"read manifest", func() error { return m.readManifest(wasm, o) }},
		{"grant", func() error { return m.grant(o) }},
		{"check imports", func() error { return m.checkShape() }},
		{"compile", func() error { return m.compile(ctx, wasm, o) }},
		{"try", func() error { return m.try(ctx, o) }},
		{"check exports", m.checkEntries},
	} {
		if err := step.run(); err != nil {
			if m.compiled != nil {
				err = errors.Join(err, m.compiled.Close(context.WithoutCancel(ctx)))
			}
			return nil, contract.AsError(err, contract.Internal).At(m.name(), step.name)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-h.stop:
		return nil, errors.Join(contract.Errorf(contract.Closed, "the host is closed").At(m.name(), ""),
			m.compiled.Close(ctx))
	default:
	}
	h.modules[m] = struct{}{}
	return m, nil
}

func (m *Module) name() string {
	if m.manifest == nil {
		return ""
	}
	return m.manifest.Name
}

func (m *Module) read(wasm []byte) error {
	if len(wasm) > maxModule {
		return contract.Errorf(contract.OverLimit, "file of %d bytes, allowed are %d", len(wasm), maxModule)
	}
	sum := sha256.Sum256(wasm)
	m.digest = hex.EncodeToString(sum[:])
	shape, err := meter.Inspect(wasm)
	if err != nil {
		return meterError(err)
	}
	m.shape = shape
	m.sections, err = contract.OwnSections(wasm)
	return err
}

// meterError maps a failure of the meter to its code.
func meterError(err error) *contract.Error {
	for sentinel, code := range map[error]contract.Code{
		meter.ErrForged: contract.Forged, meter.ErrUnsupported: contract.Unsupported,
		meter.ErrLimit: contract.OverLimit,
	} {
		if errors.Is(err, sentinel) {
			return contract.Errorf(code, "%s", err)
		}
	}
	return contract.Errorf(contract.Malformed, "%s", err)
}

func (m *Module) verify(wasm []byte, source Source) error {
	if seal, signed := SealOf(wasm); signed {
		m.signer = seal.Key
	}
	trust := m.host.cfg.Trust
	check := cmp.Or(trust.Local, Warn)
	if source == Remote {
		check = cmp.Or(trust.Remote, Require)
	}
	if check == Off || source == Builtin {
		return nil
	}
	seal, err := Verify(wasm, trust.Keys)
	if err == nil {
		m.seal = &seal
		return nil
	}
	if check == Require {
		return err
	}
	m.warning = err.Error()
	m.host.cfg.Log.Warn("plugin is not signed by a trusted key", "plugin", m.digest[:12], "err", err)
	return nil
}

func (m *Module) readManifest(wasm []byte, o LoadOptions) error {
	raw, ok, err := contract.Section(wasm, contract.ManifestSection)
	switch {
	case err != nil:
		return err
	case ok:
		m.manifest, err = contract.ParseManifest(raw)
	case o.Manifest != nil:
		copied := *o.Manifest
		m.manifest, err = &copied, copied.Check()
	default:
		return contract.Errorf(contract.BadManifest, "no section %s; write one with `easel plugin pack`",
			contract.ManifestSection)
	}
	if err != nil {
		return err
	}
	if err := m.manifest.CheckHost(m.host.cfg.Version); err != nil {
		return err
	}
	if builtIn := m.host.cfg.BuiltIn; builtIn != nil {
		if err := m.manifest.CheckNames(builtIn); err != nil {
			return err
		}
	}
	m.limits = m.manifest.Limits.Tighten(o.Limits).Effective(m.host.cfg.Limits)
	return nil
}

func (m *Module) grant(o LoadOptions) error {
	asked := m.manifest.Permissions
	if more := asked.Asks(o.Granted); o.Approval && len(more) > 0 {
		e := contract.Errorf(contract.NeedsApproval, "asks for %s; approve it with `easel plugin enable %s`",
			strings.Join(more, ", "), m.manifest.Name)
		e.Data = engine.Object("permissions", more)
		return e
	}
	m.granted = asked.Cut(o.Granted)
	return nil
}

func (m *Module) checkShape() error {
	if err := m.host.imports.check(m.shape); err != nil {
		return err
	}
	uses := map[string]bool{}
	for _, imp := range m.shape.Imports {
		uses[imp.Module] = true
	}
	exported := slices.ContainsFunc(m.shape.Exports, func(e meter.Export) bool { return e.Kind == meter.KindMemory && e.Name == "memory" })
	if (uses[bulkModule] || uses[wasiModule]) && !exported {
		return contract.Errorf(contract.Unsupported, "uses pointers but does not export its memory as \"memory\"")
	}
	names := []string{exportInvoke, exportDescribe, exportCheck}
	for _, c := range m.manifest.Components {
		if c.Entry == nil {
			names = append(names, c.Export())
		}
	}
	for _, name := range names {
		if t, ok := m.shape.Func(name); ok && letters(t.Params)+":"+letters(t.Results) != ":i" {
			return contract.Errorf(contract.Unsupported, "exports %s as %s, it is () -> i32", name,
				readable(letters(t.Params)+":"+letters(t.Results)))
		}
	}
	return nil
}

// checkEntries refuses a plugin without an export that calls of it, or of one of its components,
// need.
func (m *Module) checkEntries() error {
	for _, c := range m.manifest.Nodes() {
		if err := m.checkEntry(c); err != nil {
			return err
		}
	}
	return nil
}

func (m *Module) checkEntry(about *contract.Manifest) error {
	name := about.Export()
	t, ok := m.shape.Func(name)
	switch {
	case about.Entry != nil && (!ok || len(t.Params) > 0 || len(t.Results) > 1):
		return contract.Errorf(contract.Unsupported,
			"manifest names the entry %s, but no function without arguments is exported by that name", name)
	case !ok && name != exportInvoke:
		return contract.Errorf(contract.Unsupported, "exports no function %s, which the manifest names for %s", name,
			about.NodeName())
	case !ok:
		return contract.Errorf(contract.Unsupported, "exports no function %s; for a module of another kind run "+
			"`easel plugin adapt`, which writes the export to call into the manifest", exportInvoke)
	}
	return nil
}

func (m *Module) compile(ctx context.Context, wasm []byte, o LoadOptions) error {
	code, err := contract.WithoutOwn(wasm)
	if err != nil {
		return err
	}
	metered, err := meter.Rewrite(code, meter.Limits{Pages: uint32(m.limits.MemoryMB) << 4})
	if err != nil {
		return meterError(err)
	}
	if o.Interpret && o.Source == Builtin {
		err = m.interpret(ctx, metered)
	} else {
		m.compiled, err = m.host.compile(ctx, metered, o.Source)
	}
	if err != nil {
		return err
	}
	m.pool = newPool(m)
	return nil
}

// first makes an instance to see how long that takes. Its code has its turn as calls have.
func (m *Module) first(ctx context.Context) (g *guest, took time.Duration, err error) {
	h := m.host
	if _, entered := h.running.enter(ctx, "", m.name(), h.cfg.StartWait); !entered {
		return nil, 0, waited(ctx, "%d plugins are computing", h.cfg.MaxRunning)
	}
	began := time.Now()
	g, err = m.instantiate(ctx, "", h.cfg.StartWait, m.manifest.HasCommand())
	took = time.Since(began)
	h.running.leave("", m.name(), began)
	return g, took, err
}

// try makes the first instance, measures how long that takes and compares the plugin's description
// of itself with the manifest.
func (m *Module) try(ctx context.Context, o LoadOptions) error {
	if o.tried {
		return nil
	}
	g, took, err := m.first(ctx)
	if err != nil {
		return err
	}
	m.pool.firstTook(took)
	g.close()
	if _, ok := m.shape.Func("easel_describe"); !ok || o.undescribed {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, m.host.cfg.StartWait-took)
	defer cancel()
	res, err := m.Call(ctx, CallRequest{Export: "easel_describe", Grant: &contract.Permissions{}})
	if err != nil {
		return fmt.Errorf("easel_describe: %w", err)
	}
	return sameManifest(res.Output, m.manifest)
}
