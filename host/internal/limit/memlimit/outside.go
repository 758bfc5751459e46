package memlimit

import (
	"math"
	"runtime/debug"
	"sync"
)

// outsideMu guards the soft limit between reading and setting it.
var outsideMu sync.Mutex

// Outside accounts for n bytes mapped outside the Go heap. The soft memory limit of the runtime
// does not include them, so it is lowered by n if one is set; back raises it again.
func Outside(n int64) (back func()) {
	if !shift(-n) {
		return func() {}
	}
	return func() { shift(n) }
}

// shift changes the soft memory limit by n, if one is set, and reports whether it did.
func shift(n int64) bool {
	outsideMu.Lock()
	defer outsideMu.Unlock()
	limit := debug.SetMemoryLimit(-1)
	if limit > math.MaxInt64/2 {
		return false
	}
	debug.SetMemoryLimit(limit + n)
	return true
}
