package template

import (
	"errors"
	"fmt"
	"runtime"
)

// ErrSyntax is what a template that does not parse fails with.
var ErrSyntax = errors.New("template does not parse")

// ErrLimit is what a render that reached one of its Limits fails with.
var ErrLimit = errors.New("template limit reached")

// ErrOutput is the ErrLimit of a text, or a result, that is longer than Limits.Output.
var ErrOutput = fmt.Errorf("%w: text too long", ErrLimit)

// Error says what is wrong with a template, and on which line.
type Error struct {
	Line   int    // 1-based
	Reason string // for the author of the template
	kind   error  // ErrSyntax, ErrLimit, ErrOutput, an error of Limits.Made, or nil
}

func (e *Error) Error() string { return fmt.Sprintf("template line %d: %s", e.Line, e.Reason) }

// Unwrap makes errors.Is work with ErrSyntax and ErrLimit.
func (e *Error) Unwrap() error { return e.kind }

// Functions marked noinline are called from so many places that copies of them would be a fifth of what this package
// adds to the browser module.

// The parser and the evaluator are deeply recursive, so inside this package a failure unwinds the stack as a
// panic with an *Error. Parse and Render are the only ways in, and both end in caught: nothing gets out.

// caught turns a failure into err. A mistake of the evaluator itself also ends as an error, at line.
func caught(err *error, line *int) {
	switch x := recover().(type) {
	case nil:
	case *Error:
		*err = x
	case runtime.Error:
		*err = &Error{Line: *line, Reason: "internal error: " + x.Error()}
	default:
		panic(x)
	}
}

// fail ends the render.
//
//go:noinline
func (r *render) fail(format string, args ...any) {
	panic(&Error{Line: r.line, Reason: fmt.Sprintf(format, args...)})
}

// tooLong ends the render because a text is longer than it may be.
//
//go:noinline
func (r *render) tooLong(what string) {
	panic(&Error{Line: r.line, Reason: fmt.Sprintf("%s is longer than %d bytes", what, r.limits.Output), kind: ErrOutput})
}

// stop ends the render because a limit was reached.
//
//go:noinline
func (r *render) stop(format string, args ...any) {
	panic(&Error{Line: r.line, Reason: fmt.Sprintf(format, args...), kind: ErrLimit})
}
