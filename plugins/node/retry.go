package node

import (
	"errors"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/plugins/contract"
)

// longestPause limits the pause that a plugin may request before a retry.
const longestPause = time.Minute

// mayPass reports whether a retry may succeed: the error is retryable, or a plugin timed out that
// is idempotent.
func mayPass(err error, m *contract.Manifest) bool {
	var e *contract.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Retryable || e.Code == contract.Timeout && m.Idempotent
}

// pause returns the time until the next retry: that of the node, or longer if the plugin requests
// it.
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

// forReader returns the error in the form for its reader: a model gets the JSON of the contract, so
// that it can correct its call.
func forReader(call *engine.Call, err error) error {
	var e *contract.Error
	if !call.IsTool() || !errors.As(err, &e) {
		return err
	}
	return &toolError{e}
}

// toolError is the error of a plugin as the result of a tool.
type toolError struct{ err *contract.Error }

func (t *toolError) Error() string { return engine.Object("error", t.err.Value()).JSON() }

func (t *toolError) Unwrap() error { return t.err }
