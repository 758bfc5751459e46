package api

import (
	"errors"
	"net/http"

	"github.com/easel-canvas/easel/host/internal/app"
)

// Status is a failure with an HTTP status and a stable word for its kind, as our own API and
// OpenAI's clients read it.
type Status struct {
	HTTP    int
	Code    string
	Message string
}

func (s *Status) Error() string { return s.Message }

// StatusFor is the status that an error is, or is translated to; f is what the dialects would
// answer.
func StatusFor(f *Failure, err error) *Status {
	var s *Status
	var service *app.Error
	switch {
	case errors.As(err, &s):
		return s
	case errors.As(err, &service):
		return &Status{serviceStatus[service.Code], service.Code, service.Message}
	}
	return statusOf(f, err)
}

// serviceStatus is the status of each code of a service.
var serviceStatus = map[string]int{
	app.CodeBadArgument:   http.StatusUnprocessableEntity,
	app.CodeForbidden:     http.StatusForbidden,
	app.CodeWrongPassword: http.StatusForbidden,
	app.CodeNotFound:      http.StatusNotFound,
	app.CodeExists:        http.StatusConflict,
	app.CodeChanged:       http.StatusConflict,
	app.CodeTooMany:       http.StatusConflict,
	app.CodeNotPaused:     http.StatusConflict,
	app.CodeNoUser:        http.StatusConflict,
	app.CodeLastOwner:     http.StatusConflict,
	app.CodeOperator:      http.StatusConflict,
	app.CodeNotEmpty:      http.StatusConflict,
	app.CodeMemoryFull:    http.StatusInsufficientStorage,
	app.CodeMemoryModel:   http.StatusBadGateway,
}

// statusOf translates what the dialects say with codes.
func statusOf(f *Failure, err error) *Status {
	switch {
	case errors.Is(err, app.ErrUnpublished):
		return &Status{http.StatusConflict, app.CodeOf(err), "nothing of this canvas is published; publish it first"}
	case errors.Is(err, app.ErrGone):
		return &Status{http.StatusGone, "gone", f.Message}
	case errors.Is(err, app.ErrRecord), errors.Is(err, app.ErrCanvas):
		return &Status{http.StatusUnprocessableEntity, app.CodeOf(err), f.Message}
	case errors.Is(err, app.ErrNotFound), errors.Is(err, app.ErrSession):
		return &Status{http.StatusNotFound, app.CodeNotFound, "not found"}
	case errors.Is(err, app.ErrConflict):
		return &Status{http.StatusConflict, "changed", f.Message}
	}
	for _, known := range []struct {
		code   int
		status int
		word   string
	}{
		{CodeArgument, http.StatusUnprocessableEntity, "bad_argument"},
		{CodeData, http.StatusNotFound, "not_found"},
		{CodeOperating, http.StatusForbidden, "forbidden"},
		{CodeRunning, http.StatusConflict, "session_busy"},
		{CodeForbidden, http.StatusForbidden, "forbidden"},
		{CodeAuth, http.StatusUnauthorized, "unauthorized"},
		{CodeUnknown, http.StatusUnauthorized, "unauthorized"},
		{CodeConflict, http.StatusConflict, "changed"},
	} {
		if f.Code == known.code {
			return &Status{known.status, known.word, f.Message}
		}
	}
	if word, ok := statusWords[f.Status]; ok {
		return &Status{f.Status, word, f.Message}
	}
	if _, internal := AsFailure(err); f.Code == CodeException && !internal {
		return &Status{http.StatusBadRequest, "bad_request", f.Message}
	}
	return &Status{http.StatusInternalServerError, "internal", f.Message}
}

// statusWords are the codes of failures that have a status of their own.
var statusWords = map[int]string{
	http.StatusBadRequest:            "bad_request",
	http.StatusRequestTimeout:        "body_timeout",
	http.StatusRequestURITooLong:     "url_too_long",
	http.StatusUnsupportedMediaType:  "bad_encoding",
	http.StatusRequestEntityTooLarge: "body_too_large",
	http.StatusTooManyRequests:       "rate_limited",
	http.StatusServiceUnavailable:    "unavailable",
	http.StatusInsufficientStorage:   "storage_full",
}
