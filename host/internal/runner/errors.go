package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var (
	// ErrFenced says that another host owns the run now; stop working on it and
	// write nothing more for it.
	ErrFenced = errors.New("another host owns the run")

	// ErrEnded says that the run has ended; follow it to read how.
	ErrEnded = errors.New("run has ended")

	// ErrActive says that the run is being worked on; follow it instead.
	ErrActive = errors.New("run is active")

	// errClaiming says that this host is about to own the run, or not: what is
	// queued must come again.
	errClaiming = errors.New("run is being claimed")

	// ErrCanceled is the cause of a lease's context when somebody canceled the
	// run; append what tells of it and end the run.
	ErrCanceled = errors.New("run has been canceled")

	// ErrStopping is the cause of a lease's context when this host shuts down;
	// return, the run goes on elsewhere.
	ErrStopping = errors.New("host is stopping")

	// ErrGone says that the records asked for are no longer kept; start from the
	// session instead.
	ErrGone = errors.New("records are no longer kept")

	// ErrNotFound says that there is no such key, file or schedule.
	ErrNotFound = errors.New("not found")

	// ErrFull says that the disk or the quota of the run log is used up; free
	// space, nothing that was acknowledged is lost.
	ErrFull = errors.New("storage of the run log is full")

	// ErrReadOnly says that the disk of the run log cannot be written any more,
	// after an error of it perhaps; repair it and start the host again. It is an
	// [ErrFull] as well: who waits for room waits for this.
	ErrReadOnly error = readOnly{}

	// ErrUnavailable says that the run log did not answer in time; try again.
	ErrUnavailable = errors.New("run log is unavailable")

	// ErrLocked says that another process uses the data directory; stop it, or
	// let both use one NATS server.
	ErrLocked = errors.New("data directory is in use by another process")

	// ErrDamaged says that stored bytes are not what this package writes.
	ErrDamaged = errors.New("stored record is damaged")

	// ErrFiles says that the embedded server cannot read its files; restore a
	// backup, or move them away.
	ErrFiles = errors.New("files of the run log are damaged")
)

type readOnly struct{}

func (readOnly) Error() string        { return "disk of the run log is read-only" }
func (readOnly) Is(target error) bool { return target == ErrFull }

// JetStream's error codes that matter here.
const (
	codeWrongLastSeq   jetstream.ErrorCode = 10071
	codeWrongLastSubj  jetstream.ErrorCode = 10164 // the same, told by a constant-size answer
	codeNoMessage      jetstream.ErrorCode = 10037
	codeNoResources    jetstream.ErrorCode = 10023
	codeNoStorage      jetstream.ErrorCode = 10047
	codeMemoryExceeded jetstream.ErrorCode = 10028
	codeStoreFailed    jetstream.ErrorCode = 10077
)

func codeOf(err error) jetstream.ErrorCode {
	var api *jetstream.APIError
	if errors.As(err, &api) {
		return api.ErrorCode
	}
	return 0
}

func wrongLast(err error) bool {
	code := codeOf(err)
	return code == codeWrongLastSeq || code == codeWrongLastSubj
}

// fail puts what was being done before err, and a sentinel where one fits.
func fail(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := "run log: " + fmt.Sprintf(format, args...)
	if kind := classify(err); kind != nil && !errors.Is(err, kind) {
		return fmt.Errorf("%s: %w (%v)", what, kind, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func classify(err error) error {
	switch codeOf(err) {
	case codeNoResources, codeNoStorage, codeMemoryExceeded, codeStoreFailed:
		return ErrFull
	case codeNoMessage:
		return ErrNotFound
	}
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound), errors.Is(err, jetstream.ErrObjectNotFound), errors.Is(err, nats.ErrMsgNotFound):
		return ErrNotFound
	case transient(err):
		return ErrUnavailable
	}
	return nil
}

// transient says that trying again may help: the server was away, had no
// leader or answered too late.
func transient(err error) bool {
	for _, kind := range []error{
		nats.ErrTimeout, nats.ErrNoServers, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting,
		nats.ErrReconnectBufExceeded, nats.ErrStaleConnection,
		jetstream.ErrNoStreamResponse, jetstream.ErrJetStreamNotEnabled, context.DeadlineExceeded,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code == 503 && classifyFull(api.ErrorCode) == nil
}

func classifyFull(code jetstream.ErrorCode) error {
	switch code {
	case codeNoResources, codeNoStorage, codeMemoryExceeded, codeStoreFailed:
		return ErrFull
	}
	return nil
}
