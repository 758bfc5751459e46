// Package meter rewrites a WebAssembly module so that it can be interrupted and its work can be
// counted.
//
// Native code compiled from a loop never returns to its caller, and the ways to interrupt it from
// outside are slow (4 to 15 times on busy loops) or, on the main thread of a page, do not exist. So
// the module itself counts: at each loop header and function entry it takes the cost of the
// following code from a counter, and when the counter drops below zero it calls one imported
// function, the tick. The tick is part of the host: it checks the clock, the caller's context and
// the fuel budget, and either returns a new allowance or ends the call. The same bytes use the same
// fuel on every runtime because only the module determines when it counts.
//
// The rewritten module
//
//   - imports [Module].[Tick], type (i32) -> i32: it receives the counter, which is negative, and
//     returns the next allowance; when it receives [Overflow], the recursion of the guest was too
//     deep and it traps next;
//   - exports the global [Fuel], mutable i32, the counter; it starts at 0, so the first code that
//     counts requests an allowance;
//   - exports the global [Refused], mutable i32, set to 1 when the memory could not grow;
//   - has a maximum for its memory and tables, at most [Limits];
//   - takes the frame of each function that calls from a budget and returns it (depth.go);
//     together with counting this costs 12 % in code that consists of calls, and about 15 % in a Go
//     guest that reads JSON;
//   - has blocks around loops and bodies, so that the path to the tick is outside the hot code
//     (loop.go);
//   - retains its name section and loses the sections that address code by offset.
//
// One unit of fuel is one pass through a loop header or one function entry, plus one for each 256
// instructions that may follow before the next unit, plus one per KiB that a bulk instruction
// moves. A small function without calls and loops is free; its callers pay for it.
//
// The package parses untrusted bytes. It never executes them, never allocates more than a small
// multiple of their size, and returns an error wrapping one of the sentinels for everything
// unknown: an instruction that it cannot read is one that it cannot count. It does not validate
// types; the runtime that compiles the result does. It has no state and uses only the standard
// library, so a page can include it too.
package meter

// Version identifies the counting rules. Two modules metered by the same version use the same fuel
// for the same work; caches include it in their keys.
const Version = 1

// Names added by the rewriter. A module that already uses one is rejected.
const (
	Module  = "easel:meter/v1" // import module of the tick
	Tick    = "tick"           // import name of the tick
	Fuel    = "easel:fuel"     // export name of the counter
	Refused = "easel:refused"  // export name of the flag for a failed memory.grow
)

// Interval is the allowance a host should return from a tick, in units of fuel. A tick every 10,000
// units is one in ten to fifty microseconds; shorter intervals have no benefit and longer ones
// delay an interruption.
const Interval = 10_000

// Limits bounds the resources that a module may reserve outside its code. Zero fields have
// defaults.
type Limits struct {
	Pages    uint32 // memory, in pages of 64 KiB; default 1024 (64 MiB)
	Elements uint32 // each table, in entries; default 131072 (1 MiB of host memory)
}

const (
	defaultPages    = 1024
	defaultElements = 1 << 17
	maxTables       = 8
)

func (l Limits) withDefaults() Limits {
	if l.Pages == 0 {
		l.Pages = defaultPages
	}
	if l.Elements == 0 {
		l.Elements = defaultElements
	}
	return l
}

// Rewrite returns wasm with counting added and its memory and tables bounded by limits. The input
// is not changed.
//
// Errors wrap ErrMalformed (not a module), ErrUnsupported (a feature outside WebAssembly 2.0),
// ErrForged (the module uses the meter's own names) or ErrLimit (its initial memory exceeds the
// limits, or its code has more blocks, loops, branch targets or sections than a compiler takes in
// linear time).
func Rewrite(wasm []byte, limits Limits) ([]byte, error) {
	m, err := parse(wasm)
	if err != nil {
		return nil, err
	}
	return m.rewrite(limits.withDefaults())
}
