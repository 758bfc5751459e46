package api

import (
	"errors"
	"net/http"

	"github.com/easel-canvas/easel/engine"
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

// StatusFor is the status of an error; f is the failure that was made of it.
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
	engine.CodeExpired:    http.StatusConflict,
	app.CodeNoCase:        http.StatusConflict,
	app.CodeRunning:       http.StatusConflict,
	app.CodeNoUser:        http.StatusConflict,
	app.CodeLastOwner:     http.StatusConflict,
	app.CodeLastPassword:  http.StatusConflict,
	app.CodeStrongerRole:  http.StatusConflict,
	app.CodeOperator:      http.StatusConflict,
	app.CodeNotEmpty:      http.StatusConflict,
	app.CodeMemoryFull:    http.StatusInsufficientStorage,
	app.CodeMemoryModel:   http.StatusBadGateway,
}

// statusOf is the status of an error that is not one of a service.
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
	return &Status{f.HTTP(), f.Kind.Code(), f.Message}
}

// HTTP is the status of a failure on our own API.
func (f *Failure) HTTP() int {
	if f.Status != 0 {
		return f.Status
	}
	return f.Kind.HTTP()
}
