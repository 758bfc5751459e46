package runlog

import "errors"

var (
	// ErrFenced is returned when another host owns the run; stop working on it and write nothing
	// more for it.
	ErrFenced = errors.New("another host owns the run")

	// ErrEnded is returned when the run has ended; follow it to read how.
	ErrEnded = errors.New("run has ended")

	// ErrActive is returned when the run has an active owner; follow it instead.
	ErrActive = errors.New("run is active")

	// errClaiming is returned while this host is claiming the run; the queue
	// must deliver it again.
	errClaiming = errors.New("run is being claimed")

	// ErrCanceled is the cause of a lease's context when the run was canceled;
	// append the final event and end the run.
	ErrCanceled = errors.New("run has been canceled")

	// ErrStopping is the cause of a lease's context when this host shuts down;
	// return, another host continues the run.
	ErrStopping = errors.New("host is stopping")
)
