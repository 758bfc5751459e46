// Package script runs the JavaScript of CodeExec components. It implements the code port of the
// engine.
//
// A script defines main(args), which receives one object and returns a value or a promise; it may
// also assign main to module.exports. Scripts have the language, console and timers, and neither
// modules nor files nor network. Time, memory and output are limited, and a script stops when its
// context is done.
//
// Scripts are written by the authors of canvases. The interpreter (goja) shares the memory of its
// process, and a hostile script can exhaust that memory or overflow the stack, which terminates a
// Go program. Therefore a host sets Worker, and each script runs in a separate process whose memory
// the kernel limits on Linux. Without Worker scripts run in this process, which is enough for tests
// and trusted canvases. With a memory budget, scripts that do not fit next to the running ones wait
// in order.
package script

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code/worker"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// ErrLanguage means that scripts in this language do not run in this sandbox.
var ErrLanguage = fmt.Errorf("language %w", engine.ErrNoPort)

// Limits bound one script, which has no files; a worker uses at most 144 MB more than Memory.
type Limits = worker.Limits

// Runner implements the code port of the engine. The zero value is ready to use and runs scripts in
// this process.
type Runner struct {
	Limits Limits
	// Memory bounds the memory of all scripts together; nil means no bound. With a small budget
	// each script gets less than its limit.
	Memory *memlimit.Budget
	// Worker is the command line of a process that calls [Work], such as the host binary with an
	// argument.
	Worker []string

	started func(pid int) // called with the process ID of a worker; nil outside of tests
}

var _ engine.Code = (*Runner)(nil)

// RunCode calls main of a script. Errors that the script throws are returned in Stderr; an error
// means that it was rejected, canceled, or exceeded a limit (engine.ErrLimit).
func (r *Runner) RunCode(ctx context.Context, c *engine.CodeCall) (engine.CodeResult, error) {
	limits := r.Limits.WithDefaults()
	switch c.Language {
	case "javascript", "nodejs", "js":
	default:
		return engine.CodeResult{}, fmt.Errorf("%w: %q; this sandbox runs javascript only", ErrLanguage, c.Language)
	}
	if len(c.Script) > limits.Script {
		return engine.CodeResult{}, fmt.Errorf("script of %d bytes: %w: at most %d are accepted", len(c.Script),
			engine.ErrLimit, limits.Script)
	}
	release, err := limits.Reserve(ctx, r.Memory, memoryOf)
	if err != nil {
		return engine.CodeResult{}, err
	}
	defer release()
	limited, cancel := context.WithTimeoutCause(ctx, limits.Time, errTime)
	defer cancel()
	var result engine.CodeResult
	if len(r.Worker) > 0 {
		result, err = r.runWorker(limited, limits, c)
	} else {
		result, err = run(limited, limits, c)
	}
	switch {
	case ctx.Err() != nil:
		return engine.CodeResult{}, ctx.Err()
	case err != nil && errors.Is(context.Cause(limited), errTime):
		return result, fmt.Errorf("script: %w: it ran longer than %s", engine.ErrLimit, limits.Time)
	}
	return result, err
}

// Share returns the size of a [Runner]'s budget for a memory limit of the process: two scripts of
// 128 MB each at 1 GiB, two of 256 MB at 2 GiB.
func Share(limit int64) int64 { return limit / 16 * 7 }

// memoryOf returns the memory of a worker with a limit.
func memoryOf(limit int64) int64 { return worker.WholeArenas(limit) + worker.Overhead }

// errTime is the cause of a context whose time limit expired.
var errTime = errors.New("time is over")
