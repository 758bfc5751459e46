package model

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

var (
	// ErrSilent means that the server sent no data for too long; raise timeout_seconds or retry.
	ErrSilent = errors.New("the server is silent")
	// ErrBroken means that the response ended early; retry.
	ErrBroken = errors.New("the answer broke off")
	// ErrEmpty means that the response has neither text nor tool calls.
	ErrEmpty = errors.New("the answer is empty")
	// ErrTooLarge means that the response exceeds the size limit.
	ErrTooLarge = errors.New("the answer is too large")
)

// Error is the failure of a model call, with its provider and model.
type Error struct {
	Provider string
	Model    string
	Status   int // HTTP status; 0 without a response
	Err      error
}

func (e *Error) Error() string {
	status := ""
	if e.Status != 0 {
		status = fmt.Sprintf("%d %s: ", e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("model %q of %s: %s%v", e.Model, e.Provider, status, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may succeed later.
func (e *Error) Retryable() bool {
	return retryStatus(e.Status) || errors.Is(e.Err, ErrSilent) || errors.Is(e.Err, ErrBroken)
}

// wrap converts an error of the client library. It truncates server messages and removes the key
// from them.
func (p *provider) wrap(model string, err error) error {
	e := &Error{Provider: p.config.Label(), Model: model, Err: err}
	var api *openai.APIError
	var request *openai.RequestError
	switch {
	case errors.As(err, &api):
		e.Status = api.HTTPStatusCode
		e.Err = errors.New(p.clean(api.Message))
	case errors.As(err, &request):
		e.Status = request.HTTPStatusCode
		e.Err = errors.New(p.clean(string(request.Body)))
	}
	return e
}

// mark is the prefix by which some drivers report errors inside text; the drivers here never do.
const mark = "**ERROR**"

func (p *provider) clean(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, mark, "")), " ")
	if p.config.Key != "" {
		text = strings.ReplaceAll(text, p.config.Key, "***")
	}
	if r := []rune(text); len(r) > 500 {
		text = string(r[:500]) + "..."
	}
	if text == "" {
		return "the server gave no reason"
	}
	return text
}
