package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/app"
)

// Failure is why a request failed; an [ErrorForm] writes it.
type Failure struct {
	Kind    Kind
	Message string
	// Data is for faces that answer it in addition to the message; without HasData it is absent,
	// not null.
	Data    engine.Value
	HasData bool
	// Status is the HTTP status on every face; 0 leaves it to the face.
	Status int
	After  time.Duration // when to try again, 0 for unknown
	Param  string        // the member of the request that is wrong, "" when it is none
}

func (f *Failure) Error() string { return f.Message }

// Failed is a failure without data; that of a bad request has null.
func Failed(kind Kind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Message: fmt.Sprintf(format, args...), HasData: kind == KindBadRequest}
}

// Refused is a failure with data false.
func Refused(kind Kind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Message: fmt.Sprintf(format, args...), Data: engine.Bool(false), HasData: true}
}

// stopped is a failure that has the HTTP status of its kind on every face.
func stopped(kind Kind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Message: fmt.Sprintf(format, args...), Status: kind.HTTP()}
}

// Lacking refuses a request without the named members; nil when there are
// none.
func Lacking(names []string) error {
	if len(names) == 0 {
		return nil
	}
	text := "required argument are missing: " + strings.Join(names, ",") + "; "
	return &Failure{Kind: KindBadArgument, Message: text, HasData: true, Param: names[0]}
}

// Unauthorized is the response to an unauthenticated request.
func Unauthorized() *Failure {
	return &Failure{
		Kind: KindUnauthorized, Message: "<Unauthorized '401: Unauthorized'>", HasData: true,
		Status: http.StatusUnauthorized,
	}
}

// Messages of failures that several faces answer.
const (
	WrongParent = "Session does not belong to the requested agent."
	NoCanvas    = "canvas not found."
	NoSession   = "Session not found!"
	noPublished = "No available published version"
)

// AsFailure turns any error into a failure. The text of an error that is not meant for clients is
// replaced; internal reports that the error belongs in the log.
func AsFailure(err error) (f *Failure, internal bool) {
	if errors.As(err, &f) {
		return f, false
	}
	var large *http.MaxBytesError
	var own *Status
	var service *app.Error
	var order *app.OrderError
	switch {
	case errors.As(err, &own):
		return Failed(KindBadRequest, "%s", own.Message), false
	case errors.As(err, &service):
		return serviceFailure(service), false
	case errors.As(err, &large):
		return TooLarge("the request is larger than %d bytes", large.Limit), false
	case errors.Is(err, app.ErrSession):
		return Failed(KindNotFound, NoSession), false
	case errors.Is(err, app.ErrOtherCanvas):
		return Failed(KindNotOwner, WrongParent), false
	case errors.Is(err, app.ErrUnpublished):
		return Failed(KindNotFound, noPublished), false
	case errors.Is(err, app.ErrTooLarge):
		return TooLarge("%s", err), false
	case errors.Is(err, app.ErrBusy):
		return Failed(KindBusy, "The session is busy with another turn; try again."), false
	case app.IsPublic(err):
		return Failed(KindBadRequest, "%s", err), false
	case errors.As(err, &order):
		return UnknownOrder(order.Order, order.Accepted), false
	case errors.Is(err, app.ErrInvalid):
		return Failed(KindBadArgument, "%s", err), false
	case errors.Is(err, app.ErrNotFound), errors.Is(err, app.ErrLogNotFound):
		return Failed(KindNotFound, NoCanvas), false
	case errors.Is(err, app.ErrExists):
		return Failed(KindExists, "It already exists."), false
	case errors.Is(err, app.ErrConflict):
		return Failed(KindChanged, "It has a newer revision; reload and retry."), false
	case errors.Is(err, app.ErrFull), errors.Is(err, app.ErrReadOnly), errors.Is(err, app.ErrIndexFull),
		errors.Is(err, app.ErrLogFull):
		return stopped(KindStorageFull, "The host cannot store anything now: %s", rootText(err)), true
	}
	if message := away(err); message != "" {
		// A full or stopping host refuses as it should: a line for each request would flood its
		// log.
		expected := errors.Is(err, app.ErrMemory) || errors.Is(err, app.ErrClosed)
		f = stopped(KindUnavailable, "%s", message)
		f.After = awayFor
		return f, !expected
	}
	return &Failure{Kind: KindInternal, Message: internalError, HasData: true}, true
}

// internalError stands for an error that callers are not meant to see: it may name files, addresses
// or statements of the database.
const internalError = "internal error; the log of the host says what failed"

// inLog adds under which request the log of the host has an error.
func (f *Failure) inLog(request string) *Failure {
	if f.Message != internalError {
		return f
	}
	known := *f
	known.Message = internalError + ", under request " + request
	return &known
}

// serviceFailure answers the refusal of a service.
func serviceFailure(e *app.Error) *Failure {
	f := Failed(KindBadRequest, "%s", e.Message)
	switch e.Code {
	case app.CodeBadArgument:
		f = Refused(KindBadArgument, "%s", e.Message)
	case app.CodeForbidden:
		f = Refused(KindForbidden, "%s", e.Message)
		f.Status = http.StatusForbidden
	case app.CodeNotFound:
		f = Failed(KindNotFound, NoCanvas)
	}
	f.Param = e.Param
	return f
}

// UnknownOrder refuses the parameter orderby of a list.
func UnknownOrder(got string, accepted []string) *Failure {
	return Failed(KindBadRequest, "argument orderby must be one of %s, not %.40q", strings.Join(accepted, ", "), got)
}

// awayFor is the Retry-After while a service cannot be reached.
const awayFor = 2 * time.Second

// away names the service that the host cannot reach, if that is the cause of an error.
func away(err error) string {
	switch {
	case errors.Is(err, app.ErrClosed), errors.Is(err, app.ErrLogStopping):
		return "The host cannot answer now: it is stopping; try again."
	case errors.Is(err, app.ErrMemory):
		return "The host cannot take runs now: it is out of memory for them; try again."
	case errors.Is(err, app.ErrLogUnavailable):
		return "The host cannot answer now: its run log does not answer; try again."
	case errors.Is(err, app.ErrStoreUnavailable):
		return "The host cannot answer now: its database does not answer; try again."
	}
	return ""
}

// rootText is the sentinel's text of a storage error.
func rootText(err error) string {
	for _, known := range []error{app.ErrFull, app.ErrReadOnly, app.ErrLogReadOnly, app.ErrLogFull, app.ErrIndexFull} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "storage"
}
