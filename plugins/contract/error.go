package contract

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Code names a kind of failure; section 7 of the contract lists them. A Code is an error, so
// errors.Is(err, contract.Timeout) matches every [Error] with that code.
type Code string

// Codes that a plugin may return.
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
	// MissingSetting means that the manifest requires a setting that is not set.
	MissingSetting Code = "missing_setting"
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

// Error is a failure of a plugin, or of the host on its behalf.
type Error struct {
	Code      Code
	Message   string
	Retryable bool
	Data      engine.Value // an object, or null
	Plugin    string       // name of the plugin; not part of the message
	Step      string       // export that was called, or step of loading; not part of the message
	Cause     error        // the cause, may be nil; not part of the message
}

// Errorf returns an Error. Those with a code for temporary failures are retryable.
func Errorf(code Code, format string, args ...any) *Error {
	retryable := code == Unavailable || code == RateLimited || code == Upstream
	return &Error{Code: code, Message: Printable(fmt.Sprintf(format, args...)), Retryable: retryable}
}

// Error formats the error from outside in: plugin weather: easel_invoke: timeout: ….
func (e *Error) Error() string {
	text := "plugin "
	for _, part := range [...]string{e.Plugin, e.Step} {
		if part != "" {
			text += part + ": "
		}
	}
	return Printable(text + string(e.Code) + ": " + e.Message)
}

// Is makes a Code match the errors with that code.
func (e *Error) Is(target error) bool {
	c, ok := target.(Code)
	return ok && c == e.Code
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// At sets the plugin and the step of an error unless they are set, and returns it.
func (e *Error) At(plugin, step string) *Error {
	if e.Plugin == "" {
		e.Plugin = plugin
	}
	if e.Step == "" {
		e.Step = step
	}
	return e
}

// Unmarked removes the mark of a call from the error, and returns it.
func (e *Error) Unmarked(mark string) *Error {
	e.Message = engine.UnmarkSecrets(e.Message, mark)
	e.Data = Unmarked(e.Data, mark)
	return e
}

// Value returns the error as a message: {code, message, retryable, data?}.
func (e *Error) Value() engine.Value {
	v := engine.Object("code", string(e.Code), "message", e.Message, "retryable", e.Retryable)
	if e.Data.Len() > 0 {
		v = v.With("data", e.Data)
	}
	return v
}

// ReadError reads an error message of the contract; ok is false for anything else.
func ReadError(v engine.Value) (e *Error, ok bool) {
	code := v.Get("code")
	if code.Kind() != engine.KindString || code.Str() == "" {
		return nil, false
	}
	e = &Error{
		Code: Code(code.Str()), Message: Printable(v.Get("message").Text()), Retryable: v.Get("retryable").True(),
	}
	if data := v.Get("data"); data.Kind() == engine.KindObject {
		e.Data = data
	}
	return e, true
}

// fromGuest are the codes a plugin may use.
var fromGuest = []Code{InvalidArgument, NotFound, Unauthorized, RateLimited, Upstream, Internal}

// GuestError reads the error that a plugin wrote: JSON of the contract, or text. Codes that a
// plugin may not use become Internal. status is the result of the export.
func GuestError(raw []byte, status int32) *Error {
	text := strings.ToValidUTF8(string(raw), "\uFFFD")
	v, err := engine.ParseJSONText(text)
	e, ok := ReadError(v)
	switch {
	case text == "":
		return Errorf(Internal, "returned %d and no error message", status)
	case err != nil || !ok:
		return &Error{Code: Internal, Message: Printable(text)}
	}
	if slices.Contains(fromGuest, e.Code) {
		return e
	}
	e.Message, e.Code, e.Retryable = Printable(string(e.Code))+": "+e.Message, Internal, false
	return e
}

// AsError returns the Error in err, or else a new one with code.
func AsError(err error, code Code) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return Errorf(code, "%s", err.Error())
}
