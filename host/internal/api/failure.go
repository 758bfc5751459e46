package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/broker"
	docs "github.com/easel-canvas/easel/host/internal/document"
	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/quota"
	"github.com/easel-canvas/easel/host/internal/runlog"
	"github.com/easel-canvas/easel/host/internal/runs"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/upload"
)

// Codes of the dialects, in the member code of their answers.
const (
	codeOK        = 0
	codeException = 100
	codeArgument  = 101
	codeData      = 102
	codeOperating = 103
	codeRunning   = 106
	codeForbidden = 108
	codeAuth      = 109
	codeBad       = 400
	codeUnknown   = 401
	codeNotFound  = 404
	codeConflict  = 409
	codeServer    = 500
)

// failure is an answer that tells what went wrong.
type failure struct {
	code    int
	message string
	data    engine.Value // put in when hasData
	hasData bool
	status  int           // HTTP; 0 means 200, as the dialects do
	after   time.Duration // when to come back, told when it is not 0
	param   string        // the member of the request that is wrong, "" when it is none
}

func (f *failure) Error() string { return f.message }

// failed is a failure without data; an exception has null.
func failed(code int, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...), hasData: code == codeException}
}

// refused is a failure with data false.
func refused(code int, format string, args ...any) *failure {
	return &failure{code: code, message: fmt.Sprintf(format, args...), data: engine.Bool(false), hasData: true}
}

// lacking refuses a request without the named members; nil when there are
// none.
func lacking(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return &failure{code: codeArgument, message: "required argument are missing: " + strings.Join(names, ",") + "; ", hasData: true, param: names[0]}
}

// unauthorized is the response to an unauthenticated request.
func unauthorized() *failure {
	return &failure{code: codeUnknown, message: "<Unauthorized '401: Unauthorized'>", hasData: true, status: http.StatusUnauthorized}
}

const (
	notOwner      = "Only owner of canvas authorized for this operation."
	notOwnerNewer = "Only the owner of the agent is authorized for this operation."
	notAccess     = "Make sure you have permission to access the agent."
	noCanvas      = "canvas not found."
	noSession     = "Session not found!"
	wrongParent   = "Session does not belong to the requested agent."
	noPublished   = "No available published version"
)

// asFailure makes an answer of any error. Texts of errors that are not meant
// for clients are replaced; internal says that the log should have the error.
func asFailure(err error) (f *failure, internal bool) {
	if errors.As(err, &f) {
		return f, false
	}
	var large *http.MaxBytesError
	var own *status
	var order *store.OrderError
	switch {
	case errors.As(err, &own):
		return failed(codeException, "%s", own.message), false
	case errors.As(err, &large):
		return &failure{code: codeBad, message: fmt.Sprintf("the request is larger than %d bytes", large.Limit), status: http.StatusRequestEntityTooLarge}, false
	case errors.Is(err, runs.ErrSession):
		return failed(codeData, noSession), false
	case errors.Is(err, runs.ErrUnpublished):
		return failed(codeData, noPublished), false
	case errors.Is(err, runs.ErrTooLarge):
		return &failure{code: codeBad, message: err.Error(), status: http.StatusRequestEntityTooLarge}, false
	case errors.Is(err, runs.ErrBusy):
		return failed(codeRunning, "The session is busy with another turn; try again."), false
	case isPublic(err):
		return failed(codeException, "%s", err), false
	case errors.As(err, &order):
		return unknownOrder(order.Order, order.Accepted), false
	case errors.Is(err, store.ErrInvalid):
		return failed(codeArgument, "%s", err), false
	case errors.Is(err, store.ErrNotFound), errors.Is(err, broker.ErrNotFound):
		return failed(codeData, noCanvas), false
	case errors.Is(err, store.ErrExists):
		return failed(codeData, "It already exists."), false
	case errors.Is(err, store.ErrConflict):
		return failed(codeConflict, "It was changed meanwhile; read it again."), false
	case errors.Is(err, store.ErrFull), errors.Is(err, store.ErrReadOnly), errors.Is(err, broker.ErrFull):
		return &failure{code: codeServer, message: "The host cannot store anything now: " + rootText(err), status: http.StatusInsufficientStorage}, true
	}
	if message := away(err); message != "" {
		// A full or stopping host refuses as it should: a line for each request would flood its
		// log.
		expected := errors.Is(err, runs.ErrMemory) || errors.Is(err, runs.ErrClosed)
		return &failure{code: codeServer, message: message, status: http.StatusServiceUnavailable, after: awayFor}, !expected
	}
	return failed(codeException, internalError), true
}

// publicErrors are those whose texts, with what is around them, are for callers.
var publicErrors = []error{
	runs.ErrCanvas, runs.ErrRecord, runs.ErrGone, engine.ErrRef, quota.ErrUsedUp,
	model.ErrUnknownModel, model.ErrKeyNeeded, upload.ErrNotFound, upload.ErrTooLarge,
	docs.ErrFormat, docs.ErrEncrypted, docs.ErrDamaged, docs.ErrNoText, docs.ErrLimit,
	docs.ErrBusy,
}

func isPublic(err error) bool {
	return slices.ContainsFunc(publicErrors, func(public error) bool { return errors.Is(err, public) })
}

// internalError stands for an error that callers are not meant to see: it may name files, addresses
// or statements of the database.
const internalError = "internal error; the log of the host says what failed"

// inLog adds under which request the log of the host has an error.
func (f *failure) inLog(request string) *failure {
	if f.message != internalError {
		return f
	}
	known := *f
	known.message = internalError + ", under request " + request
	return &known
}

// unknownOrder refuses the parameter orderby of a list, which is an exception to the dialects.
func unknownOrder(got string, accepted []string) *failure {
	return failed(codeException, "argument orderby must be one of %s, not %.40q", strings.Join(accepted, ", "), got)
}

// awayFor is when a client should come back to a host that cannot answer.
const awayFor = 2 * time.Second

// away says what of the host cannot be reached, when that is what failed.
func away(err error) string {
	switch {
	case errors.Is(err, runs.ErrClosed), errors.Is(err, runlog.ErrStopping):
		return "The host cannot answer now: it is stopping; try again."
	case errors.Is(err, runs.ErrMemory):
		return "The host cannot take runs now: it is out of memory for them; try again."
	case errors.Is(err, broker.ErrUnavailable):
		return "The host cannot answer now: its run log does not answer; try again."
	case errors.Is(err, store.ErrUnavailable):
		return "The host cannot answer now: its database does not answer; try again."
	}
	return ""
}

// rootText is the sentinel's text of a storage error.
func rootText(err error) string {
	for _, known := range []error{store.ErrFull, store.ErrReadOnly, broker.ErrReadOnly, broker.ErrFull} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "storage"
}
