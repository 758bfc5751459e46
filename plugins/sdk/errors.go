package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Codes that a plugin may return.
const (
	InvalidArgument = "invalid_argument" // the caller must change the call
	NotFound        = "not_found"
	Unauthorized    = "unauthorized"
	RateLimited     = "rate_limited" // retryable; Data may contain retry_after_ms
	Upstream        = "upstream"     // a service behind the plugin failed; retryable
	Internal        = "internal"
)

// Codes of the host only.
const (
	Denied      = "denied"      // not in the manifest, or not granted
	Unsupported = "unsupported" // this host does not offer it
)

// ErrCancelled means that the call was cancelled: return it promptly.
var ErrCancelled = errors.New("cancelled")

// Error is a failure in the form of the contract.
type Error struct {
	Code      string         `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable,omitempty"`
	Data      map[string]any `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Fail returns an Error. RateLimited and Upstream are retryable.
func Fail(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Retryable: code == RateLimited || code == Upstream}
}

// IsCode reports whether err is an Error with the code.
func IsCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// failure converts an error to the form for the host.
func failure(err error) []byte {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: Internal, Message: err.Error()}
	} else if wrapped := err.Error(); wrapped != e.Error() {
		copied := *e
		copied.Message, e = wrapped, &copied
	}
	b, err := json.Marshal(e)
	if err != nil { // Data contains a value that is not JSON
		return []byte(e.Message)
	}
	return b
}
