package node

import (
	"errors"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Error is a failure of a plugin or of the host on its behalf, as the contract writes it.
type Error struct {
	Code      string
	Message   string
	Retryable bool
	Data      engine.Value // object or null
	Plugin    string       // name, stays on the host's side
	Step      string       // the export that ran, stays on the host's side
	Cause     error        // what a host wrapped, may be nil
}

// Error reads from outside in: plugin weather: easel_invoke: timeout: ….
func (e *Error) Error() string {
	text := "plugin "
	for _, part := range [...]string{e.Plugin, e.Step} {
		if part != "" {
			text += part + ": "
		}
	}
	return text + e.Code + ": " + e.Message
}

// Unwrap gives the host's own error.
func (e *Error) Unwrap() error { return e.Cause }

// Value is the error as a message: {code, message, retryable, data?}.
func (e *Error) Value() engine.Value {
	v := engine.Object("code", e.Code, "message", e.Message, "retryable", e.Retryable)
	if e.Data.Len() > 0 {
		v = v.With("data", e.Data)
	}
	return v
}

// Codes a node looks at.
const (
	codeTimeout         = "timeout"
	codeInvalidArgument = "invalid_argument"
	codeBadOutput       = "bad_output"
)

// longestPause bounds how long a plugin may ask to be left alone.
const longestPause = time.Minute

// passing reports whether another try may help: the error says so, or time ran out in a plugin that
// may be asked twice.
func passing(err error, m *Manifest) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Retryable || e.Code == codeTimeout && m != nil && m.Idempotent
}

// pause is how long to wait before the next try: what the node says, longer when the plugin asks
// for it.
func (n *component) pause(err error) time.Duration {
	d := time.Duration(n.DelayAfterError * float64(time.Second))
	var e *Error
	if errors.As(err, &e) {
		if ms, ok := e.Data.Get("retry_after_ms").Float(); ok && ms > 0 {
			d = max(d, time.Duration(min(ms, float64(longestPause.Milliseconds())))*time.Millisecond)
		}
	}
	return d
}

// told is the error as its reader wants it: a model gets the JSON of the contract, so that it can
// mend its call.
func told(call *engine.Call, err error) error {
	var e *Error
	if !call.IsTool() || !errors.As(err, &e) {
		return err
	}
	return &toolError{e}
}

// toolError is a plugin's error as the result of a tool.
type toolError struct{ err *Error }

func (t *toolError) Error() string { return engine.Object("error", t.err.Value()).JSON() }

func (t *toolError) Unwrap() error { return t.err }
