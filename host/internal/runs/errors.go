package runs

import "errors"

var (
	// ErrSession says that the session does not exist, or is one of another
	// canvas; ask for one that is listed.
	ErrSession = errors.New("session not found")

	// ErrBusy says that the session had no room for another turn in time; try
	// again when the running one has ended.
	ErrBusy = errors.New("session is busy")

	// ErrCanvas says that the document cannot be run; correct the canvas.
	ErrCanvas = errors.New("canvas does not load")

	// ErrUnpublished says that nothing of the canvas is published; publish it, or
	// run what is saved.
	ErrUnpublished = errors.New("no available published version")

	// ErrClosed says that this host is stopping; ask another one.
	ErrClosed = errors.New("host is stopping")

	// ErrGone says that the run's records are no longer kept; the session has
	// its result.
	ErrGone = errors.New("records of the run are no longer kept")

	// ErrMemory says that this host has no memory for another run now; try again
	// when others have ended.
	ErrMemory = errors.New("host is out of memory for runs")

	// ErrTooLarge says that the document of a run needs more memory than this host
	// has for all of them; give the host more memory or make the canvas smaller.
	ErrTooLarge = errors.New("canvas is too large to run in the memory of this host")

	// ErrOutOfMemory says that the host of the run ran out of memory while the run
	// was among those that held most of it; it is not tried again.
	ErrOutOfMemory = errors.New("the host ran out of memory while this run held much of it; the run is not tried again")

	// ErrRecord says that a run cannot start again at the record asked for.
	ErrRecord = errors.New("no state is known at this record")
)
