package model

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

var (
	// ErrSilent means that the server said nothing for too long; raise timeout_seconds or try
	// again.
	ErrSilent = errors.New("the server is silent")
	// ErrBroken means that the answer stopped in the middle; try again.
	ErrBroken = errors.New("the answer broke off")
	// ErrEmpty means that the answer holds neither text nor calls.
	ErrEmpty = errors.New("the answer is empty")
	// ErrTooLarge means that the answer went beyond every sensible size.
	ErrTooLarge = errors.New("the answer is too large")
)

// Error says what went wrong with which model of which provider.
type Error struct {
	Provider string
	Model    string
	Status   int // HTTP status; 0 when there was none
	Err      error
}

func (e *Error) Error() string {
	status := ""
	if e.Status != 0 {
		status = fmt.Sprintf("%d %s: ", e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("model %q of %s: %s%v", e.Model, e.Provider, status, e.Err)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may work later.
func (e *Error) Retryable() bool {
	return retryStatus(e.Status) || errors.Is(e.Err, ErrSilent) || errors.Is(e.Err, ErrBroken)
}

// wrap makes an Error of what the client reports. Messages of the server are cut, and the key is
// taken out of them.
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

// mark is how some drivers report errors inside a text; ours never do.
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
