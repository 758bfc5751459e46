package plugin

import (
	"context"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// guest is one instance. It runs one call at a time; the fields below state are
// reset for each.
type guest struct {
	m       *Module
	mod     api.Module
	memory  api.Memory
	fuel    api.MutableGlobal // counter of the meter
	refused api.MutableGlobal // set when memory could not grow
	exports map[string]export
	ctx     guestContext
	served  int // calls
	stack   [2]uint64
	kernel  extism

	state
}

// export is an exported function without arguments.
type export struct {
	api.Function
	returns bool // a number
}

// state holds the data of one call.
type state struct {
	req      CallRequest
	grant    *contract.Permissions
	deadline time.Time
	done     <-chan struct{}
	told     time.Time     // when the guest learnt that the call is cancelled
	resumed  time.Time     // when it got its place; if idle, about the end of its call
	waited   time.Duration // for places

	budget, used int64
	allowance    int64

	input, output, failure, result []byte
	stderr                         []byte
	command                        bool        // the call is one of a program, see command.go
	lines                          stderrLines // of its stderr
	logs                           []LogLine
	emits, logCalls                int
	hostWorked                     uint64 // bytes the host handled since it looked at the clock
	emitErr                        error
	requests                       requests
	stored                         []engine.Value // files that the call has stored
	began                          bool           // the export runs; not the start of the instance
}

type guestKey struct{}

// guestContext is the context of everything a guest does. It is one value per
// instance, so that a call allocates no context; the caller's is swapped in.
type guestContext struct {
	context.Context
	g *guest
}

// Value finds the guest without walking the caller's contexts.
func (c *guestContext) Value(key any) any {
	if _, ok := key.(guestKey); ok {
		return c.g
	}
	return c.Context.Value(key)
}

// instantiate makes an instance and runs its start function and _initialize.
// A command has neither, its _start does that.
func (m *Module) instantiate(
	ctx context.Context, tenant string, patience time.Duration, command bool,
) (*guest, error) {
	g, now := &guest{m: m, exports: map[string]export{}}, time.Now()
	g.ctx = guestContext{Context: ctx, g: g}
	g.kernel.g = g
	g.state = state{
		req: CallRequest{Tenant: tenant}, grant: &contract.Permissions{}, deadline: now.Add(patience), resumed: now,
		done: ctx.Done(), budget: m.limits.Fuel, requests: requests{g: g},
	}
	mod, err := m.runtime.InstantiateModule(&g.ctx, m.compiled, g.wasiConfig())
	if err != nil {
		return nil, g.fault(err).At(m.name(), "start")
	}
	g.mod = mod
	m.host.alive.Add(1)
	g.findMemory(mod)
	g.fuel = mod.ExportedGlobal(meter.Fuel).(api.MutableGlobal)
	g.refused = mod.ExportedGlobal(meter.Refused).(api.MutableGlobal)
	for _, name := range []string{"_initialize", "__wasm_call_ctors", "hs_init"} {
		f := mod.ExportedFunction(name)
		if f == nil || command || name == "__wasm_call_ctors" && mod.ExportedFunction("_initialize") != nil {
			continue
		}
		args := make([]uint64, len(f.Definition().ParamTypes()))
		if _, err := f.Call(&g.ctx, args...); err != nil {
			e := g.fault(err)
			g.close()
			return nil, e.At(m.name(), name)
		}
	}
	return g, nil
}

// findMemory keeps the memory, which is a nil pointer in an interface for a module
// without one.
func (g *guest) findMemory(mod api.Module) {
	if g.memory == nil && g.m.shape.Memory != nil {
		g.memory = mod.Memory()
	}
}

// wasiConfig returns a configuration with a clock, random numbers and standard streams only.
func (g *guest) wasiConfig() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithStdin(stdinReader{g}).WithStdout(stdoutWriter{g}).WithStderr(stderrWriter{g}).
		WithRandSource(g.m.host.cfg.Random).
		WithWalltime(g.walltime, sys.ClockResolution(coarseStep)).
		WithNanotime(g.nanotime, sys.ClockResolution(coarseStep)).
		WithNanosleep(func(ns int64) { g.sleep(time.Duration(ns)) })
}

// run calls the export. It reports whether the instance may serve again.
func (g *guest) run(ctx context.Context, req *CallRequest) (Result, bool, *contract.Error) {
	f, e := g.export(req.Export, req.command)
	if e != nil {
		g.resumed = time.Now()
		return Result{}, true, e
	}
	g.prepare(ctx, req)
	g.served++
	err := f.CallWithStack(&g.ctx, g.stack[:])
	if req.command {
		err = g.exited(err)
	}
	g.requests.hangUpAll()
	g.used += g.allowance - int64(int32(uint32(g.fuel.Get())))
	res := Result{Fuel: g.used, Logs: g.logs, Memory: int64(g.memorySize()), Stored: g.stored}
	switch {
	case err != nil:
		return res, false, g.fault(err)
	case g.emitErr != nil && ctx.Err() == nil:
		return res, true, contract.AsError(g.emitErr, contract.Cancelled)
	case g.returned(f) != 0 || g.failed():
		return res, true, contract.GuestError(g.errorText(), g.returned(f))
	}
	out, e := g.takeOutput()
	if e != nil {
		return res, false, e
	}
	res.Output = out
	return res, !req.command, nil
}

// export finds an exported function without arguments. A runtime has names that begin with _; only
// those of commands are called.
func (g *guest) export(name string, command bool) (export, *contract.Error) {
	if f, ok := g.exports[name]; ok {
		return f, nil
	}
	t, ok := g.m.shape.Func(name)
	if !ok || len(t.Params) > 0 || len(t.Results) > 1 || strings.HasPrefix(name, "_") && !command {
		return export{}, contract.Errorf(contract.UnknownExport, "no exported function %q without arguments", name)
	}
	f := export{g.mod.ExportedFunction(name), len(t.Results) > 0}
	g.exports[name] = f
	return f, nil
}

// prepare sets the state of a call.
func (g *guest) prepare(ctx context.Context, req *CallRequest) {
	logs, now := g.logs[:0:0], time.Now()
	g.state = state{
		req: *req, grant: &g.m.granted, done: ctx.Done(), began: true, input: req.Input, logs: logs,
		command: req.command,
		stderr:  g.stderr[:0], result: nil, budget: g.m.limits.Fuel,
		deadline: now.Add(within(req.Timeout, g.m.limits.Timeout())), resumed: now, requests: requests{g: g},
	}
	if req.Grant != nil {
		g.grant = req.Grant
	}
	if req.Fuel > 0 {
		g.budget = min(g.budget, req.Fuel)
	}
	g.ctx.Context = ctx
	g.kernel.reset()
	g.allowance = min(interval, g.budget)
	g.fuel.Set(uint64(uint32(g.allowance)))
	g.refused.Set(0)
}

// returned returns the value of the export, 0 for one without result.
func (g *guest) returned(f export) int32 {
	if !f.returns {
		return 0
	}
	return int32(uint32(g.stack[0]))
}

func (g *guest) failed() bool { return len(g.failure) > 0 || g.kernel.errAt != 0 }

func (g *guest) errorText() []byte {
	if len(g.failure) > 0 {
		return g.failure
	}
	return append([]byte(nil), g.kernel.block(g.kernel.errAt)...)
}

// takeOutput hands the output over; the guest keeps nothing of it.
func (g *guest) takeOutput() ([]byte, *contract.Error) {
	if g.kernel.outN == 0 {
		return g.output, nil
	}
	b, ok := g.kernel.output()
	if !ok {
		return nil, contract.Errorf(contract.Trap, "output_set names %d bytes at %d, outside kernel memory",
			g.kernel.outN, g.kernel.outAt)
	}
	if len(b) > g.m.limits.OutputBytes() {
		return nil, tooLarge("output", len(b), g.m.limits.OutputBytes())
	}
	return append([]byte(nil), b...), nil
}

func tooLarge(what string, n, most int) *contract.Error {
	return contract.Errorf(contract.OutputTooLarge, "%s of at least %d bytes, allowed are %d", what, n, most)
}

func (g *guest) memorySize() uint32 {
	if g.memory == nil {
		return 0
	}
	return g.memory.Size()
}

// close frees the instance.
func (g *guest) close() {
	if g.mod == nil {
		return
	}
	g.kernel = extism{}
	g.m.host.alive.Add(-1)
	if err := g.mod.Close(context.Background()); err != nil {
		g.m.host.cfg.Log.Warn("plugin instance was not closed", "plugin", g.m.name(), "err", err)
	}
}
