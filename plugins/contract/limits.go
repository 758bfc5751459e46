package contract

import (
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Limits are the limits of one call of a plugin. A zero field is not set; unset ones have the value
// of [DefaultLimits].
type Limits struct {
	MemoryMB  int
	TimeoutMS int
	OutputKB  int   // of the output; the error and each emit have at most MaxPiece too
	Fuel      int64 // units of plugins/meter
}

// MaxPiece limits an error and each emit, in bytes: hosts and their readers get both as JSON, which
// is up to six times as long.
const MaxPiece = 1 << 20

// DefaultLimits apply unless the plugin or the operator sets lower ones. They are also the
// operator's ceiling when the operator sets none.
var DefaultLimits = Limits{MemoryMB: 64, TimeoutMS: 30_000, OutputKB: 16 << 10, Fuel: 50_000_000_000}

// Tighten returns the smaller of the values that are set in l or other.
func (l Limits) Tighten(other Limits) Limits {
	return Limits{
		MemoryMB: least(l.MemoryMB, other.MemoryMB), TimeoutMS: least(l.TimeoutMS, other.TimeoutMS),
		OutputKB: least(l.OutputKB, other.OutputKB), Fuel: least(l.Fuel, other.Fuel),
	}
}

// Effective returns the limits of a plugin that requests l under an operator's ceiling.
func (l Limits) Effective(ceiling Limits) Limits {
	def := DefaultLimits
	return l.Tighten(Limits{
		MemoryMB: orDefault(ceiling.MemoryMB, def.MemoryMB), TimeoutMS: orDefault(ceiling.TimeoutMS, def.TimeoutMS),
		OutputKB: orDefault(ceiling.OutputKB, def.OutputKB), Fuel: orDefault(ceiling.Fuel, def.Fuel),
	})
}

// Timeout returns TimeoutMS as a duration.
func (l Limits) Timeout() time.Duration { return time.Duration(l.TimeoutMS) * time.Millisecond }

// OutputBytes returns OutputKB in bytes.
func (l Limits) OutputBytes() int { return l.OutputKB << 10 }

// ReadLimits reads limits: {memory_mb, timeout_ms, output_kb, fuel}.
func ReadLimits(v engine.Value) (l Limits, err error) {
	l = readLimits(readObject("limits", v, &err))
	return l, err
}

func readLimits(o *object) Limits {
	return Limits{
		MemoryMB: int(o.whole("memory_mb")), TimeoutMS: int(o.whole("timeout_ms")),
		OutputKB: int(o.whole("output_kb")), Fuel: o.whole("fuel"),
	}
}

// Value writes the limits that are set.
func (l Limits) Value() engine.Value {
	w := newWriter()
	w.whole("memory_mb", int64(l.MemoryMB))
	w.whole("timeout_ms", int64(l.TimeoutMS))
	w.whole("output_kb", int64(l.OutputKB))
	w.whole("fuel", l.Fuel)
	return w.b.Value()
}

func least[T int | int64](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

func orDefault[T int | int64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}
