package python

import (
	"time"

	"github.com/easel-canvas/easel/host/internal/worker"
)

// Limits bound one script. Zero fields mean the defaults.
type Limits struct {
	Time   time.Duration // default 10 s, not counting the start of the interpreter and waits for memory
	Memory int64         // bytes of the interpreter's memory, default 256 MB
	Output int           // bytes of each output channel and of the result, default 8 MB
	Script int           // bytes of the script itself, default 256 KB
	Files  int64         // bytes of all artifacts, default 16 MB; files of a script hold twice of that
}

func (l Limits) withDefaults() Limits {
	if l.Time <= 0 {
		l.Time = 10 * time.Second
	}
	if l.Memory <= 0 {
		l.Memory = 256 << 20
	}
	if l.Output <= 0 {
		l.Output = 8 << 20
	}
	if l.Script <= 0 {
		l.Script = 256 << 10
	}
	if l.Files <= 0 {
		l.Files = 16 << 20
	}
	return l
}

const (
	// overhead bounds the memory of a worker besides that of the interpreter: the compiled module,
	// files, output and the Go runtime.
	overhead = 2*worker.Arena + worker.Overhead
	// startLimit bounds the start of an interpreter, whose first one is compiled.
	startLimit = 5 * time.Minute
	// minMemory is the memory of an interpreter, with room for a small script.
	minMemory = worker.Arena
)

// response bounds the bytes that a worker sends: artifacts in base64, the result and both output
// channels, in which a control character takes six bytes.
func (l Limits) response() int64 { return 2*l.Files + 18*int64(l.Output) + 1<<20 }
