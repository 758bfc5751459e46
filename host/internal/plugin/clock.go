package plugin

import "time"

// Steps of a guest's clocks in nanoseconds. Fine ones can measure other activity on the machine, so
// they need a permission.
const (
	coarseStep  = int64(time.Millisecond)
	preciseStep = int64(time.Nanosecond)
)

// clockFuncs replace the function of WASI that returns a resolution: wazero has one per instance,
// but each call has its own grant.
var clockFuncs = []hostFunc{{"clock_res_get", "ii:i", func(g *guest, stack []uint64) {
	const (
		ok, fault, inval = 0, 21, 28
		clocks           = 2 // realtime and monotonic
	)
	id, at := uint32(stack[0]), uint32(stack[1])
	switch {
	case id >= clocks:
		stack[0] = inval
	case g.memory == nil || !g.memory.WriteUint64Le(at, uint64(g.clockStep())):
		stack[0] = fault
	default:
		stack[0] = ok
	}
}}}

// clockStep returns the step of the clocks in the current call.
func (g *guest) clockStep() int64 {
	if g.grant.PreciseClock() {
		return preciseStep
	}
	return coarseStep
}

// nanotime returns both clocks, in nanoseconds.
func (g *guest) nanotime() int64 {
	now, step := g.m.host.cfg.Now().UnixNano(), g.clockStep()
	return now - now%step
}

// walltime returns nanotime as seconds and nanoseconds.
func (g *guest) walltime() (sec int64, nsec int32) {
	const second = int64(time.Second)
	now := g.nanotime()
	return now / second, int32(now % second)
}
