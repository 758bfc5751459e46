package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Code names a kind of failure; the contract lists them. A Code is an error, so
// errors.Is(err, plugin.Timeout) works on whatever this package returns.
type Code string

// Codes a plugin may give.
const (
	InvalidArgument Code = "invalid_argument"
	NotFound        Code = "not_found"
	Unauthorized    Code = "unauthorized"
	RateLimited     Code = "rate_limited"
	Upstream        Code = "upstream"
	Internal        Code = "internal"
)

// Codes of the host, during a call.
const (
	Timeout        Code = "timeout"
	Cancelled      Code = "cancelled"
	OutOfFuel      Code = "out_of_fuel"
	OutOfMemory    Code = "oom"
	StackOverflow  Code = "stack_overflow"
	Panic          Code = "panic"
	Trap           Code = "trap"
	Exit           Code = "exit"
	OutputTooLarge Code = "output_too_large"
	TooManyCalls   Code = "too_many_calls"
	BadOutput      Code = "bad_output"
	Denied         Code = "denied"
	Unsupported    Code = "unsupported"
	Unavailable    Code = "unavailable"
	UnknownExport  Code = "unknown_export"
	Closed         Code = "closed"
)

// Codes of the host, when a plugin is loaded. Unsupported is used here too.
const (
	Malformed     Code = "malformed"
	Forged        Code = "forged"
	BadManifest   Code = "bad_manifest"
	BadSignature  Code = "bad_signature"
	ABIMismatch   Code = "abi_mismatch"
	NeedsApproval Code = "needs_approval"
	OverLimit     Code = "over_limit"
)

// Error returns the code itself.
func (c Code) Error() string { return string(c) }

// Error is a failure of a plugin or of the host on its behalf, as the contract
// writes it. Plugin and Step stay on the host's side.
type Error struct {
	Code      Code           `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"`
	Data      map[string]any `json:"data,omitempty"`
	Plugin    string         `json:"-"`
	Step      string         `json:"-"` // the export that ran, or the step of loading
}

// unmarked removes the mark of a call from an error.
func (e *Error) unmarked(mark string) *Error {
	e.Message = engine.UnmarkSecrets(e.Message, mark)
	if e.Data != nil && mark != "" {
		e.Data = unmarked(e.Data, mark).(map[string]any)
	}
	return e
}

// Error reads from outside in: plugin weather: easel_invoke: timeout: ….
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("plugin ")
	if e.Plugin != "" {
		b.WriteString(e.Plugin)
		b.WriteString(": ")
	}
	if e.Step != "" {
		b.WriteString(e.Step)
		b.WriteString(": ")
	}
	b.WriteString(string(e.Code))
	b.WriteString(": ")
	b.WriteString(e.Message)
	return b.String()
}

// Is makes a Code match the errors that carry it.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

func fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Retryable: code == Unavailable || code == RateLimited || code == Upstream}
}

// at names the plugin and step of an error that has none yet.
func (e *Error) at(plugin, step string) *Error {
	if e.Plugin == "" {
		e.Plugin = plugin
	}
	if e.Step == "" {
		e.Step = step
	}
	return e
}

// fromGuest are the codes a plugin may use; anything else becomes Internal.
var fromGuest = map[Code]bool{
	InvalidArgument: true, NotFound: true, Unauthorized: true, RateLimited: true, Upstream: true, Internal: true,
}

// guestError reads what a plugin wrote as its error: JSON of the contract, or text.
func guestError(raw []byte, status uint64) *Error {
	e := &Error{}
	if err := json.Unmarshal(raw, e); err != nil || e.Code == "" {
		text := strings.ToValidUTF8(string(raw), "\uFFFD")
		if text == "" {
			text = fmt.Sprintf("returned %d and no error message", int32(status))
		}
		return fail(Internal, "%s", text)
	}
	if !fromGuest[e.Code] {
		e.Message = fmt.Sprintf("%s: %s", e.Code, e.Message)
		e.Code, e.Retryable = Internal, false
	}
	return e
}

// asError turns any error into an *Error, with code for those that are none.
func asError(err error, code Code) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return fail(code, "%s", err.Error())
}
