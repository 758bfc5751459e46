package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

var (
	// errShown ends the program without a further message.
	errShown = errors.New("shown")
	// errPaused means that the run waits for a form.
	errPaused = errors.New("the run waits for input")
	// errUnanswered means that the input ended before a form was filled in.
	errUnanswered = errors.New("the form was left unanswered")
	// errInvalid means that a canvas has errors, which have been listed.
	errInvalid = errors.New("the canvas has errors")
	// errFailed means that cases failed, which have been listed.
	errFailed = errors.New("some cases failed")
)

// usageError is a mistake in the arguments.
type usageError struct {
	command string // "" for the program itself
	err     error
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// misuse makes a usageError.
func misuse(command, format string, args ...any) error {
	return &usageError{command, fmt.Errorf(format, args...)}
}

// exit reports the error and returns its exit code.
func (a *app) exit(ctx context.Context, err error) int {
	var usage *usageError
	var param *engine.ParamError
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, errShown):
		return ExitUsage
	case errors.Is(err, errPaused):
		return ExitPaused
	case errors.Is(err, errInvalid):
		return ExitInvalid
	case errors.Is(err, errFailed):
		return ExitFailed
	case ctx.Err() != nil || errors.Is(err, engine.ErrCanceled) || errors.Is(err, context.Canceled):
		fmt.Fprintln(a.err, "easel: cancelled")
		return ExitCanceled
	}
	fmt.Fprintf(a.err, "easel: %v\n", err)
	switch {
	case errors.As(err, &usage):
		if usage.command != "" {
			fmt.Fprintf(a.err, "See `easel help %s`.\n", usage.command)
		}
		return ExitUsage
	case errors.As(err, &param), errors.Is(err, errLoad):
		return ExitInvalid
	}
	return ExitFailed
}
