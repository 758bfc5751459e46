package broker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

var (
	// ErrNotFound is returned for a key, file or schedule that does not exist.
	ErrNotFound = errors.New("not found")

	// ErrGone is returned for data that is no longer stored; start from the session instead.
	ErrGone = errors.New("records are no longer kept")

	// ErrFull is returned when the disk or the quota of the run log is used up.
	// Free space; nothing that was acknowledged is lost.
	ErrFull = errors.New("storage of the run log is full")

	// ErrReadOnly is returned when the disk of the run log cannot be written any
	// more, perhaps after a disk error; repair it and restart the host. It is an
	// [ErrFull] as well: callers that wait for space wait for the repair.
	ErrReadOnly error = readOnly{}

	// ErrUnavailable is returned when the run log did not answer in time; retry.
	ErrUnavailable = errors.New("run log is unavailable")

	// ErrLocked is returned when another process uses the data directory; stop
	// it, or let both use one NATS server.
	ErrLocked = errors.New("data directory is in use by another process")

	// ErrFiles is returned when the embedded server cannot read its files;
	// restore a backup, or move them away.
	ErrFiles = errors.New("files of the run log are damaged")

	// ErrDamaged is returned for stored bytes that easel did not write.
	ErrDamaged = errors.New("stored record is damaged")
)

type readOnly struct{}

func (readOnly) Error() string        { return "disk of the run log is read-only" }
func (readOnly) Is(target error) bool { return target == ErrFull }

// JetStream's error codes that matter here.
const (
	codeWrongLastSeq   jetstream.ErrorCode = 10071
	codeWrongLastSubj  jetstream.ErrorCode = 10164 // the same, in an answer of constant size
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

// Outdated reports whether a write was refused because the subject has a newer message than the
// writer expected.
func Outdated(err error) bool {
	code := codeOf(err)
	return code == codeWrongLastSeq || code == codeWrongLastSubj
}

// Fail adds the failed operation to err, and the sentinel of its kind; nil stays nil.
func Fail(err error, format string, args ...any) error {
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
	code := codeOf(err)
	switch {
	case full(code), hasText(err, syscall.ENOSPC), hasText(err, syscall.EDQUOT):
		return ErrFull
	case hasText(err, syscall.EROFS):
		return ErrReadOnly
	case code == codeNoMessage, errors.Is(err, jetstream.ErrMsgNotFound), errors.Is(err, jetstream.ErrObjectNotFound),
		errors.Is(err, nats.ErrMsgNotFound):
		return ErrNotFound
	case Transient(err):
		return ErrUnavailable
	}
	return nil
}

// hasText reports whether the error of a server has the text of an error of its disk.
func hasText(err error, disk syscall.Errno) bool {
	var api *jetstream.APIError
	return errors.Is(err, disk) || errors.As(err, &api) && strings.Contains(api.Description, disk.Error())
}

func full(code jetstream.ErrorCode) bool {
	switch code {
	case codeNoResources, codeNoStorage, codeMemoryExceeded, codeStoreFailed:
		return true
	}
	return false
}

// Transient reports whether a retry may help: the server was away, had no leader or answered too
// late.
func Transient(err error) bool {
	for _, kind := range []error{
		nats.ErrTimeout, nats.ErrNoServers, nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrConnectionReconnecting,
		nats.ErrReconnectBufExceeded, nats.ErrStaleConnection, io.EOF,
		jetstream.ErrNoStreamResponse, jetstream.ErrJetStreamNotEnabled, context.DeadlineExceeded,
	} {
		if errors.Is(err, kind) {
			return true
		}
	}
	var network *net.OpError
	if errors.As(err, &network) {
		return true
	}
	var api *jetstream.APIError
	return errors.As(err, &api) && api.Code == 503 && !full(api.ErrorCode)
}

// Retry repeats an operation that fails because the server is unavailable or has no leader, for the
// duration of an election, or until ctx ends.
func Retry[T any](ctx context.Context, do func(context.Context) (T, error)) (T, error) {
	deadline := time.Now().Add(30 * time.Second)
	pause := 20 * time.Millisecond
	for {
		once, done := context.WithTimeout(ctx, Wait)
		v, err := do(once)
		done()
		if err == nil || !Transient(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return v, err
		}
		if !Sleep(ctx, pause) {
			return v, err
		}
		pause = min(2*pause, 500*time.Millisecond)
	}
}

// Sleep waits and reports true, or false when ctx ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
