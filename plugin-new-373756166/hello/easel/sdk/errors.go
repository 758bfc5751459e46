package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Codes a plugin may answer with.
const (
	InvalidArgument = "invalid_argument" // the caller has to change something
	NotFound        = "not_found"
	Unauthorized    = "unauthorized"
	RateLimited     = "rate_limited" // worth another try; Data may hold retry_after_ms
	Upstream        = "upstream"     // something behind the plugin failed; worth another try
	Internal        = "internal"
)

// Codes only the host gives.
const (
	Denied      = "denied"      // not in the manifest, or not granted
	Unsupported = "unsupported" // this host does not offer it
)

// ErrCancelled says that nobody waits for the answer any more: return it, soon.
var ErrCancelled = errors.New("cancelled")

// Error is a failure as the contract writes it.
type Error struct {
	Code      string         `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable,omitempty"`
	Data      map[string]any `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Fail makes an Error. Rate limits and failures upstream are worth another try.
func Fail(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Retryable: code == RateLimited || code == Upstream}
}

// IsCode reports whether err is an Error with the code.
func IsCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// failure is an error as the host reads it.
func failure(err error) []byte {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Code: Internal, Message: err.Error()}
	} else if wrapped := err.Error(); wrapped != e.Error() {
		copied := *e
		copied.Message, e = wrapped, &copied
	}
	b, err := json.Marshal(e)
	if err != nil { // Data holds something that is not JSON
		return []byte(e.Message)
	}
	return b
}
