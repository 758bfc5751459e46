package template

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"unicode/utf8"
)

var (
	// ErrSyntax is wrapped by the errors of Parse. Correct the template.
	ErrSyntax = errors.New("template does not parse")

	// ErrLimit is wrapped by the error of a render that reached one of its Limits.
	ErrLimit = errors.New("template limit reached")

	// ErrOutput is the ErrLimit of a string or result longer than Limits.Output.
	ErrOutput = fmt.Errorf("%w: text too long", ErrLimit)
)

// Error is a template error with its line.
type Error struct {
	Line   int    // 1-based
	Reason string // for the author of the template
	kind   error  // ErrSyntax, ErrLimit, ErrOutput, an error of Limits.Made, or nil
}

// Error returns the line and the reason.
func (e *Error) Error() string { return fmt.Sprintf("template line %d: %s", e.Line, e.Reason) }

// Unwrap lets errors.Is find ErrSyntax, ErrLimit, ErrOutput and errors of Limits.Made.
func (e *Error) Unwrap() error { return e.kind }

// The parser and the evaluator are deeply recursive, so inside this package a failure unwinds the
// stack as a panic with an *Error. Parse and Render recover it with caught.

// caught converts a recovered failure to err. A bug in this package becomes an error at line, too.
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

// Limits bound the cost of a render. Zero fields have defaults.
type Limits struct {
	Depth  int // nested evaluations, such as recursive macros; 1000
	Steps  int // evaluated nodes, plus one per element or 64 bytes processed; 3 million
	Output int // bytes of the result and of every intermediate string; 16 MiB
	Range  int // numbers in a range(); 100000

	// Made is called for every 64 KiB of strings built. Its error fails the render. If it is nil,
	// only Steps bounds the total size of all strings.
	Made func(n int64) error
}

func (l Limits) orDefault() Limits {
	l.Depth = cmp.Or(max(l.Depth, 0), 1000)
	l.Steps = cmp.Or(max(l.Steps, 0), 3_000_000)
	l.Output = cmp.Or(max(l.Output, 0), 16<<20)
	l.Range = cmp.Or(max(l.Range, 0), 100_000)
	return l
}

// budget counts the cost of a render and fails it at a limit.
type budget struct {
	limits Limits
	line   int   // of the node being evaluated
	steps  int   // remaining
	depth  int   // of nested evaluations
	bytes  int64 // of strings built
	asked  int64 // of those, accepted by limits.Made
}

// fail aborts the render with an error for the author of the template.
func (b *budget) fail(format string, args ...any) {
	panic(&Error{Line: b.line, Reason: fmt.Sprintf(format, args...)})
}

// stop aborts the render because a limit was reached. It is not inlined so that its callers can be.
//
//go:noinline
func (b *budget) stop(kind error, format string, limit int) {
	panic(&Error{Line: b.line, Reason: fmt.Sprintf(format, limit), kind: kind})
}

// tooLong aborts the render because a string exceeds the limit.
func (b *budget) tooLong(what string) {
	b.stop(ErrOutput, what+" is longer than %d bytes", b.limits.Output)
}

// enter adds a level of nesting. The caller removes it with depth--.
func (b *budget) enter() {
	if b.depth++; b.depth > b.limits.Depth {
		b.stop(ErrLimit, "nested deeper than %d evaluations", b.limits.Depth)
	}
}

// spend counts n steps.
func (b *budget) spend(n int) {
	if b.steps -= n; b.steps < 0 || n < 0 {
		b.stop(ErrLimit, "the render needs more than %d steps", b.limits.Steps)
	}
}

// scan and walk count the cost of searching a string and of decoding all its characters.
func (b *budget) scan(s string) { b.spend(len(s) / 64) }
func (b *budget) walk(s string) { b.spend(len(s) / 16) }

// made counts a string that was built and checks its size.
func (b *budget) made(s string) string {
	b.reserve(len(s))
	return s
}

// reserve counts a string of n bytes before it is built and checks its size.
func (b *budget) reserve(n int) {
	if n > b.limits.Output || n < 0 {
		b.tooLong("a text")
	}
	b.spend(n / 64)
	const often = 64 << 10
	if b.bytes += int64(n); b.limits.Made == nil || b.bytes-b.asked < often {
		return
	}
	if err := b.limits.Made(b.bytes - b.asked); err != nil {
		panic(&Error{Line: b.line, Reason: err.Error(), kind: err})
	}
	b.asked = b.bytes
}

// times reserves length bytes and n pieces of size bytes each.
func (b *budget) times(length, n, size int) {
	if size > 0 && n > b.limits.Output/size {
		b.tooLong("a text")
	}
	b.reserve(length + n*size)
}

// length returns the number of characters of s.
func (b *budget) length(s string) int {
	b.walk(s)
	return utf8.RuneCountInString(s)
}
