// Package script runs the JavaScript of CodeExec components behind the engine's code port.
//
// A script defines main(args), which gets one object and returns a value or a promise of one; it
// may also put main into module.exports. There are no modules, no files and no network: only the
// language, console and timers. Time, memory and output are limited, and the end of the context
// ends the script.
//
// Scripts come from the authors of canvases. The interpreter (goja) shares the memory of its
// process, and a hostile script can use that up or overflow the stack, which ends a Go program. So
// a host sets Worker, and each script runs in a process of its own, whose memory the kernel bounds
// on Linux; without it scripts run in this process, which is enough for tests and trusted canvases.
// With a budget, a script that does not fit into memory beside those at work waits for them, in
// order.
//
// Python needs a sandbox of its own and is refused with an error that says so.
package script

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/memlimit"
)

var (
	// ErrLanguage means that scripts of a language do not run here; set the node's language to
	// javascript.
	ErrLanguage = fmt.Errorf("language %w", engine.ErrNoPort)
	// ErrNested means that calls, brackets or values of a script nest too deep for the stack of its
	// worker.
	ErrNested = errors.New("it nests too deep")
)

// Limits bound one script. Zero fields get the defaults.
type Limits struct {
	Time   time.Duration // default 10 s; waiting for other scripts does not count
	Memory int64         // bytes of data, default 256 MB; a worker cannot take more than 144 MB beyond it
	Output int           // bytes of printed text and of the result each, default 8 MB
	Script int           // bytes of the script itself, default 256 KB
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
	return l
}

// Runner answers the engine's code port. The zero value is ready and runs scripts in this process.
type Runner struct {
	Limits Limits
	// Memory is what scripts may use together; nil means any. On a small budget each gets less than
	// its limit.
	Memory *memlimit.Budget
	// Worker is the command of a process that calls Work, such as the host's own binary with an
	// argument.
	Worker []string

	started func(pid int) // of a worker; nil outside of tests
}

var _ engine.Code = (*Runner)(nil)

// RunCode calls main of a script. What the script throws comes back in Stderr; an error means that
// it was refused, cancelled, or went over a limit (engine.ErrLimit).
func (r *Runner) RunCode(ctx context.Context, c *engine.CodeCall) (engine.CodeResult, error) {
	limits := r.Limits.withDefaults()
	switch c.Language {
	case "javascript", "nodejs", "js":
	default:
		return engine.CodeResult{}, fmt.Errorf("%w: %q; scripts run in javascript only, so rewrite this one and set lang to javascript", ErrLanguage, c.Language)
	}
	if len(c.Script) > limits.Script {
		return engine.CodeResult{}, fmt.Errorf("script of %d bytes: %w: at most %d are accepted", len(c.Script), engine.ErrLimit, limits.Script)
	}
	release, err := r.reserve(ctx, &limits)
	if err != nil {
		return engine.CodeResult{}, err
	}
	defer release()
	limited, cancel := context.WithTimeoutCause(ctx, limits.Time, errTime)
	defer cancel()
	var result engine.CodeResult
	if len(r.Worker) > 0 {
		result, err = r.outside(limited, limits, c)
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

const (
	// atOnce is how many scripts a budget has room for at least.
	atOnce = 2
	// arena is the step in which the Go runtime of a worker reserves memory for its heap.
	arena = 64 << 20
	// overhead is what a worker may use beyond its limit: a part of an arena, the interpreter, and
	// stacks.
	overhead = arena + 16<<20
)

// Share is how much of a memory limit scripts may use together, as the size of a [Runner]'s budget:
// two at once of 128 MB each at 1 GiB, two of 256 MB at 2 GiB.
func Share(limit int64) int64 { return limit / 16 * 7 }

// wholeArenas is the memory that a worker with a limit can use for its heap, but for the rest of
// its first arena.
func wholeArenas(memory int64) int64 { return (memory + arena - 1) / arena * arena }

// reserve waits for the memory of a script, and lowers the limit where the whole budget is small.
func (r *Runner) reserve(ctx context.Context, limits *Limits) (release func(), err error) {
	if r.Memory == nil {
		return func() {}, nil
	}
	share := (r.Memory.Size()/atOnce - overhead) / arena * arena
	limits.Memory = min(limits.Memory, max(share, arena))
	account := r.Memory.Open()
	if err := account.Wait(ctx, min(wholeArenas(limits.Memory)+overhead, r.Memory.Size())); err != nil {
		return nil, err
	}
	return account.Close, nil
}

// errTime is the cause of a context that ended because the script's time is over.
var errTime = errors.New("time is over")
