package app

import (
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/knowledge/index"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/nats/broker"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/upload"
)

// Errors of records. Faces convert them to responses; [Unavailable] reports which of them a client
// should retry.
var (
	ErrNotFound = store.ErrNotFound
	ErrExists   = store.ErrExists
	ErrConflict = store.ErrConflict
	ErrInvalid  = store.ErrInvalid
	ErrQuota    = store.ErrQuota
)

// Errors of storage and of the run log. The host's log should have the first four.
var (
	ErrFull             = store.ErrFull
	ErrReadOnly         = store.ErrReadOnly
	ErrIndexFull        = index.ErrFull
	ErrLogFull          = broker.ErrFull
	ErrLogReadOnly      = broker.ErrReadOnly
	ErrLogNotFound      = broker.ErrNotFound
	ErrLogUnavailable   = broker.ErrUnavailable
	ErrStoreUnavailable = store.ErrUnavailable
	ErrLogStopping      = runlog.ErrStopping
)

// Errors of runs.
var (
	ErrSession     = runs.ErrSession
	ErrUnpublished = runs.ErrUnpublished
	ErrTooLarge    = runs.ErrTooLarge
	ErrTooMany     = schedule.ErrTooMany
	ErrBusy        = runs.ErrBusy
	ErrCanvas      = runs.ErrCanvas
	ErrRecord      = runs.ErrRecord
	ErrGone        = runs.ErrGone
	ErrAnswered    = runs.ErrAnswered
	ErrMemory      = runs.ErrMemory
	ErrClosed      = runs.ErrClosed
)

// Errors of uploaded files.
var (
	ErrNoFile       = upload.ErrNotFound
	ErrFileTooLarge = upload.ErrTooLarge
)

// errNoDatabases refuses to test a database.
var errNoDatabases = errors.New("this host tests no databases")

// public are errors whose texts, with what is around them, are for callers.
var public = []error{
	ErrCanvas, ErrRecord, ErrGone, engine.ErrRef, quota.ErrUsedUp, model.ErrUnknownModel, model.ErrKeyNeeded,
	ErrNoFile, ErrFileTooLarge, ErrQuota, ErrUnknownModel, document.ErrFormat, document.ErrEncrypted,
	document.ErrDamaged,
	document.ErrNoText, document.ErrLimit, document.ErrBusy,
}

// IsPublic reports whether the text of an error is for callers.
func IsPublic(err error) bool {
	return slices.ContainsFunc(public, func(known error) bool { return errors.Is(err, known) })
}

// Codes of [Error].
const (
	CodeBadArgument   = "bad_argument"
	CodeForbidden     = "forbidden"
	CodeNotFound      = "not_found"
	CodeExists        = "exists"
	CodeChanged       = "changed"
	CodeTooMany       = "too_many"
	CodeNotPaused     = "not_paused"
	CodeNoCase        = "no_case"
	CodeRunning       = "still_running"
	CodeNoUser        = "no_user"
	CodeLastOwner     = "last_owner"
	CodeLastPassword  = "last_password"
	CodeStrongerRole  = "stronger_role"
	CodeOperator      = "operator"
	CodeWrongPassword = "wrong_password"
	CodeNotEmpty      = "not_empty"
	CodeMemoryFull    = "memory_full"
	CodeMemoryModel   = "memory_model"
)

// Error refuses a request, with a message for the caller. Code is the reason, and does not change;
// the message may.
type Error struct {
	Code    string
	Message string
	// Param is the member of the request that is wrong, "" when it is none.
	Param string
}

func (e *Error) Error() string { return e.Message }

// Is makes a missing row an [ErrNotFound].
func (e *Error) Is(target error) bool { return e.Code == CodeNotFound && target == ErrNotFound }

// Refuse returns an error with a code.
func Refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// BadArgument returns the error of a value that is not accepted.
func BadArgument(format string, args ...any) *Error { return Refuse(CodeBadArgument, format, args...) }

// Forbidden returns the error of something that the caller may not do.
func Forbidden(format string, args ...any) *Error { return Refuse(CodeForbidden, format, args...) }

// Missing returns the error of an id that the caller does not have.
func Missing(what string) *Error { return Refuse(CodeNotFound, "%s not found", what) }

// missing names the record that was not found; other errors are unchanged.
func missing(err error, what string) error {
	if errors.Is(err, ErrNotFound) {
		return Missing(what)
	}
	return err
}
