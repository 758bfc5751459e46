package plugin

import "time"

// Limits bound one call of a plugin. A zero field means that the limit is not
// set; unset ones have the value of DefaultLimits.
type Limits struct {
	MemoryMB  int   `json:"memory_mb,omitempty"`
	TimeoutMS int   `json:"timeout_ms,omitempty"`
	OutputKB  int   `json:"output_kb,omitempty"` // output, error and each emit
	Fuel      int64 `json:"fuel,omitempty"`      // units of plugins/meter
}

// DefaultLimits hold where neither the plugin nor the operator says more. They
// are also the operator's ceiling when the operator sets none.
var DefaultLimits = Limits{MemoryMB: 64, TimeoutMS: 30_000, OutputKB: 16 << 10, Fuel: 50_000_000_000}

// Caps that are the same for every plugin, per call.
const (
	maxEmits     = 10_000
	maxHostCalls = 1_000
	maxLogs      = 500    // kept
	maxLogCalls  = 10_000 // a flood beyond it is a fault
	maxLogBytes  = 2 << 10
	maxStderr    = 2 << 10
	maxKernel    = 64 << 20 // Extism memory blocks alive at once
	maxScratch   = 1 << 20  // Extism variables of a run
	maxCallBytes = 4 << 20  // one request of call
	grace        = 250 * time.Millisecond
)

// tighten returns the smaller of the set values of a and b.
func tighten(a, b Limits) Limits {
	return Limits{
		MemoryMB: least(a.MemoryMB, b.MemoryMB), TimeoutMS: least(a.TimeoutMS, b.TimeoutMS),
		OutputKB: least(a.OutputKB, b.OutputKB), Fuel: least(a.Fuel, b.Fuel),
	}
}

// effective is what holds for a plugin that asks for l under an operator's ceiling.
func (l Limits) effective(ceiling Limits) Limits {
	def := DefaultLimits
	most := Limits{
		MemoryMB: set(ceiling.MemoryMB, def.MemoryMB), TimeoutMS: set(ceiling.TimeoutMS, def.TimeoutMS),
		OutputKB: set(ceiling.OutputKB, def.OutputKB), Fuel: set(ceiling.Fuel, def.Fuel),
	}
	return tighten(l, most)
}

func (l Limits) timeout() time.Duration { return time.Duration(l.TimeoutMS) * time.Millisecond }
func (l Limits) output() int            { return l.OutputKB << 10 }

func least[T int | int64](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func set[T int | int64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}
