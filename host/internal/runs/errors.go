package runs

import (
	"errors"

	"github.com/easel-canvas/easel/host/internal/store"
)

var (
	// ErrSession means that the session does not exist, or is one of another
	// canvas; ask for one that is listed.
	ErrSession = errors.New("session not found")

	// ErrBusy means that the session had no room for another turn in time; try
	// again when the running one has ended.
	ErrBusy = errors.New("session is busy")

	// ErrCanvas means that the document cannot be run; correct the canvas.
	ErrCanvas = errors.New("canvas does not load")

	// ErrUnpublished means that the canvas has no published version; publish it, or
	// run what is saved.
	ErrUnpublished = errors.New("no available published version")

	// ErrClosed means that this host is stopping; ask another one.
	ErrClosed = errors.New("host is stopping")

	// ErrGone means that the run's records are no longer kept; the session has
	// its result.
	ErrGone = errors.New("records of the run are no longer kept")

	// ErrMemory means that this host has no memory for another run now; try again
	// when others have ended.
	ErrMemory = errors.New("host is out of memory for runs")

	// ErrTooLarge means that the document of a run needs more memory than this host
	// has for all of them; give the host more memory or make the canvas smaller.
	ErrTooLarge = errors.New("canvas is too large to run in the memory of this host")

	// ErrOutOfMemory means that the host of the run ran out of memory while the run
	// was among those that held most of it; it is not tried again.
	ErrOutOfMemory = errors.New("the host ran out of memory while this run held much of it; the run is not tried again")

	// ErrCase means that no case can be made of a run, for the reason that is named.
	ErrCase = errors.New("the run cannot become a test")

	// ErrAnswered means that a run does not wait for an answer any more.
	ErrAnswered = store.ErrAnswered

	// ErrRecord means that a run cannot start again at the requested record.
	ErrRecord = errors.New("no state is known at this record")
)
