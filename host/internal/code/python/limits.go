package python

import (
	"time"

	"github.com/easel-canvas/easel/host/internal/code/worker"
)

// Limits bound one script; Memory bounds the interpreter.
type Limits = worker.Limits

const (
	// overhead bounds the memory of a worker besides that of the interpreter: the compiled module,
	// files, output and the Go runtime.
	overhead = 2*worker.Arena + worker.Overhead
	// startLimit bounds the start of an interpreter, whose first one is compiled.
	startLimit = 5 * time.Minute
)

// memoryOf returns the memory of a worker with a limit.
func memoryOf(limit int64) int64 { return limit + overhead }

// responseLimit bounds the bytes that a worker sends: artifacts in base64, the result and both
// output channels, in which a control character takes six bytes.
func responseLimit(l Limits) int64 { return 2*l.Files + 18*int64(l.Output) + 1<<20 }
