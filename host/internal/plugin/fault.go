package plugin

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/sys"

	"github.com/easel-canvas/easel/plugins/contract"
	"github.com/easel-canvas/easel/plugins/meter"
)

// stop ends the call of a guest from inside a host function. wazero recovers the
// panic and returns the error to the caller of the export.
func (g *guest) stop(e *contract.Error) { panic(e) }

// tick is called by the meter: it takes the counter and returns an allowance.
func (g *guest) tick(stack []uint64) {
	if int32(uint32(stack[0])) == meter.Overflow {
		g.stop(contract.Errorf(contract.StackOverflow, "endless recursion, or one deeper than the host has stack for"))
	}
	g.used += g.allowance - int64(int32(uint32(stack[0])))
	if g.used > g.budget {
		g.allowance = int64(int32(uint32(stack[0])))
		g.stop(contract.Errorf(contract.OutOfFuel, "used %d units of fuel, allowed are %d", g.used, g.budget))
	}
	g.allowance = int64(int32(uint32(stack[0]))) // what is left if the check below stops the call
	g.check()
	g.share()
	g.allowance = min(interval, g.budget-g.used)
	stack[0] = uint64(uint32(g.allowance))
}

// check stops the call when its time is over.
func (g *guest) check() {
	if time.Now().After(g.deadline) {
		e := contract.Errorf(contract.Timeout, "did not finish in time")
		e.Retryable = g.m.manifest != nil && g.m.manifest.Idempotent
		g.stop(e)
	}
	if g.over() && (g.told.IsZero() || time.Since(g.told) > grace) {
		g.stop(ended(g.ctx.Context))
	}
}

// over reports whether the caller cancelled the call.
func (g *guest) over() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

// tell reports whether the call is cancelled, and records that the guest was notified.
func (g *guest) tell() bool {
	if !g.over() && g.emitErr == nil {
		return false
	}
	if g.told.IsZero() {
		g.told = time.Now()
	}
	return true
}

// outside runs something that may wait for the world, without a place among the
// running guests. Deadline and cancellation are looked at afterwards.
func (g *guest) outside(wait func()) {
	if !g.began { // the start of an instance keeps its place
		wait()
		g.check()
		return
	}
	g.leave()
	wait()
	g.enter()
}

// share yields the processor to the rest of the host when this guest has computed for a slice, and
// its place to another guest that waits. The order matters: the runtime continues with a guest that
// gets the place before anything else.
func (g *guest) share() {
	computed := time.Since(g.resumed)
	if computed < slice {
		return
	}
	crowded := g.m.host.running.crowded()
	if !crowded && computed < breath {
		return
	}
	runtime.Gosched()
	if crowded {
		g.leave()
		g.enter()
	} else {
		g.resumed = time.Now()
	}
}

// leave releases the guest's place among the computing ones.
func (g *guest) leave() {
	g.m.host.running.leave(g.req.Tenant, g.m.name(), g.resumed)
}

// enter waits for a place among the computing guests, until the deadline.
func (g *guest) enter() {
	h := g.m.host
	waited, entered := h.running.enter(&g.ctx, g.req.Tenant, g.m.name(), time.Until(g.deadline))
	g.resumed = time.Now()
	g.waited += waited
	if !entered {
		h.running.seize()
		g.told = time.Time{}
		g.check()
		g.stop(contract.Errorf(contract.Unavailable, "%d other plugins are computing", h.cfg.MaxRunning))
	}
	if g.resumed.After(g.deadline) {
		g.check()
	}
}

// hostContext returns the context of work outside the guest: the caller's, ending at the deadline.
func (g *guest) hostContext() (context.Context, context.CancelFunc) {
	return context.WithDeadline(g.ctx.Context, g.deadline)
}

// sleep waits, at most until the deadline or the end of the caller.
func (g *guest) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	g.outside(func() {
		t := time.NewTimer(min(d, time.Until(g.deadline)+time.Millisecond))
		defer t.Stop()
		select {
		case <-t.C:
		case <-g.done:
		}
	})
}

// fault finds out why a guest ended badly.
func (g *guest) fault(err error) *contract.Error {
	var own *contract.Error
	if errors.As(err, &own) {
		return own
	}
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return g.withStderr(contract.Exit, "the plugin called exit with status %d", exit.ExitCode())
	}
	text := err.Error()
	reason, trace, _ := strings.Cut(text, "\n")
	reason = strings.TrimPrefix(reason, "wasm error: ")
	switch {
	case strings.HasPrefix(reason, "stack overflow"):
		return contract.Errorf(contract.StackOverflow, "endless recursion%s", frame(trace))
	case g.grewTooFar():
		return contract.Errorf(contract.OutOfMemory, "wanted more memory than %d MB%s", g.m.limits.MemoryMB,
			frame(trace))
	case len(g.failure) > 0: // what the SDK of the language wrote before it gave up
		return contract.Errorf(contract.Panic, "%s", printable(g.failure, maxStderr))
	case len(g.stderr) > 0:
		return g.withStderr(contract.Panic, "%s", reason)
	}
	return contract.Errorf(contract.Trap, "%s%s", reason, frame(trace))
}

func (g *guest) grewTooFar() bool {
	return g.refused != nil && g.refused.Get() != 0 || strings.Contains(string(g.stderr), "out of memory")
}

// withStderr returns an error whose message is the guest's stderr, up to the stack trace of its
// language; without one, the formatted message.
func (g *guest) withStderr(code contract.Code, format string, args ...any) *contract.Error {
	text := strings.TrimSpace(strings.ToValidUTF8(string(g.stderr), ""))
	text, _, _ = strings.Cut(text, "\n\ngoroutine ")
	if text == "" {
		return contract.Errorf(code, format, args...)
	}
	return contract.Errorf(code, "%s", text)
}

// frame names the function on top of a wasm stack trace, when it has a name.
func frame(trace string) string {
	for line := range strings.Lines(trace) {
		line = strings.TrimSpace(line)
		name, _, ok := strings.Cut(line, "(")
		name = strings.TrimPrefix(name, ".")
		if !ok || name == "" || strings.HasPrefix(name, "$") || strings.HasPrefix(line, "wasm stack trace") {
			continue
		}
		return " in " + name
	}
	return ""
}
