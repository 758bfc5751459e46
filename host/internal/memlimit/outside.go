package memlimit

import (
	"math"
	"runtime/debug"
	"sync"
)

// outsideMu guards the soft limit between reading and setting it.
var outsideMu sync.Mutex

// Outside counts n bytes that this process maps outside the heap: the collector's soft limit does
// not see them, so it is lowered by as much, if there is one. back raises it again.
func Outside(n int64) (back func()) {
	if !shift(-n) {
		return func() {}
	}
	return func() { shift(n) }
}

// shift changes the soft limit of the collector, if there is one.
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
