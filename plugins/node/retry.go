package node

import (
	"errors"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// longestPause bounds how long a plugin may ask to be left alone.
const longestPause = time.Minute

// mayPass reports whether another try may help: the error says so, or time ran out in a plugin that
// may be asked twice.
func mayPass(err error, m *contract.Manifest) bool {
	var e *contract.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Retryable || e.Code == contract.Timeout && m.Idempotent
}

// pause is how long to wait before the next try: what the node says, longer when the plugin asks
// for it.
func (n *component) pause(err error) time.Duration {
	d := time.Duration(n.DelayAfterError * float64(time.Second))
	var e *contract.Error
	if errors.As(err, &e) {
		if ms, ok := e.Data.Get("retry_after_ms").Float(); ok && ms > 0 {
			d = max(d, time.Duration(min(ms, float64(longestPause.Milliseconds())))*time.Millisecond)
		}
	}
	return d
}

// forReader returns the error as its reader expects it: a model gets the JSON of the contract, so
// that it can correct its call.
func forReader(call *engine.Call, err error) error {
	var e *contract.Error
	if !call.IsTool() || !errors.As(err, &e) {
		return err
	}
	return &toolError{e}
}

// toolError is a plugin's error as the result of a tool.
type toolError struct{ err *contract.Error }

func (t *toolError) Error() string { return engine.Object("error", t.err.Value()).JSON() }

func (t *toolError) Unwrap() error { return t.err }
