package plugin

import "time"

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
