// Package meter rewrites a WebAssembly module so that it can be stopped and so
// that its work can be counted.
//
// Native code made from a loop never returns to whoever started it, and the
// ways to interrupt it from outside are slow (4 to 15 times on busy loops) or,
// on the main thread of a page, do not exist. So the module itself counts: at
// each loop header and function entry it takes the cost of what follows from a
// counter, and when the counter falls below zero it calls one imported
// function, the tick. The tick belongs to the host: it looks at the clock, at
// the caller's context and at the fuel budget, and either hands out a new
// allowance or ends the call. The same bytes give the same fuel on every
// runtime, because nothing but the module decides when it counts.
//
// The rewritten module
//
//   - imports [Module].[Tick], type (i32) -> i32: it receives the counter, which
//     is negative, and returns the next allowance; when it receives [Overflow],
//     the guest recursed too deep and traps next;
//   - exports the global [Fuel], mutable i32, the counter; it starts at 0, so
//     the first thing that counts asks for an allowance;
//   - exports the global [Refused], mutable i32, set to 1 when the memory could
//     not grow;
//   - has a maximum for its memory and tables, at most [Limits];
//   - takes the frame of each function that calls from a budget and gives it
//     back (depth.go); with counting that is 12 % on code that is all calls, and
//     about 15 % on a Go guest that reads JSON;
//   - has blocks around loops and bodies, so that the way to the tick lies
//     outside of the hot code (loop.go);
//   - keeps its name section and loses the sections that address code by offset.
//
// One unit of fuel is one pass through a loop header or one function entry,
// plus one for each 256 instructions that may follow before the next unit, plus
// one per KiB that a bulk instruction moves. A small function that calls nothing
// and does not loop is free; its callers pay for it.
//
// The package parses bytes of strangers. It never executes them, never
// allocates more than a small multiple of their size, and returns an error
// wrapping one of the sentinels for everything it does not know: an instruction
// it cannot read is one it cannot count. It does not validate types; the runtime
// that compiles the result does. It holds no state and uses the standard library
// only, so a page can carry it too.
package meter

// Version names the rules of counting. Two modules metered by the same version
// burn the same fuel for the same work; caches hold it in their keys.
const Version = 1

// Names the rewritten module adds. A module that already uses one is refused.
const (
	Module  = "easel:meter/v1" // import module of the tick
	Tick    = "tick"           // import name of the tick
	Fuel    = "easel:fuel"     // export name of the counter
	Refused = "easel:refused"  // export name of the flag for refused memory
)

// Interval is the allowance a host should return from a tick, in units of fuel.
// A tick every 10,000 units is one in ten to fifty microseconds; shorter
// intervals gain nothing and longer ones delay a stop.
const Interval = 10_000

// Limits bounds what a module may reserve outside its own code. The zero value
// of a field means its default.
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

// Rewrite returns wasm with counting added and its memory and tables bounded by
// limits. The input is not changed.
//
// Errors wrap ErrMalformed (not a module), ErrUnsupported (a feature outside
// WebAssembly 2.0), ErrForged (the module uses the meter's own names) or ErrLimit
// (it needs more memory than allowed from the start).
func Rewrite(wasm []byte, limits Limits) ([]byte, error) {
	m, err := parse(wasm)
	if err != nil {
		return nil, err
	}
	return m.rewrite(limits.withDefaults())
}
