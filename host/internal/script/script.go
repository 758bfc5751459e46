// Package script runs the JavaScript of CodeExec components behind the engine's code port.
//
// A script defines main(args), which gets one object and returns a value or a promise of one; it may also put main
// into module.exports. There are no modules, no files and no network: only the language, console and timers. Time,
// memory and output are limited, and the end of the context ends the script.
//
// Scripts come from whoever drew the canvas. The interpreter (goja) shares the memory of its process, and a hostile
// script can use that up or overflow the stack, which ends a Go program. So a host sets Worker, and each script runs
// in a process of its own; without it scripts run in this process, which is enough for tests and trusted canvases.
//
// Python needs a sandbox of its own and is refused with an error that says so.
package script

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
)

var (
	// ErrLanguage means that scripts of a language do not run here; set the node's language to javascript.
	ErrLanguage = fmt.Errorf("language %w", engine.ErrNoPort)
	// ErrCrashed means that a script ended the process it ran in: out of memory or of stack.
	ErrCrashed = errors.New("the script broke its worker: it used too much memory or nested too deep")
)

// Limits bound one script. Zero fields get the defaults.
type Limits struct {
	Time   time.Duration // default 10 s
	Memory int64         // bytes, default 256 MB; measured, so a little more may be used for a moment
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
	// Worker is the command of a process that calls Work, such as the host's own binary with an argument.
	Worker []string
}

var _ engine.Code = (*Runner)(nil)

// RunCode calls main of a script. What the script throws comes back in Stderr; an error means that it was refused,
// cancelled, or went over a limit (engine.ErrLimit).
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
	limited, cancel := context.WithTimeoutCause(ctx, limits.Time, errTime)
	defer cancel()
	var result engine.CodeResult
	var err error
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

// errTime is the cause of a context that ended because the script's time is over.
var errTime = errors.New("time is over")
