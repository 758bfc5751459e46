package pluginnode

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// longestPause bounds how long a plugin may ask to be left alone.
const longestPause = time.Minute

// passing reports whether another try may help: the error says so, or time ran out in a plugin that may be asked
// twice.
func passing(err error, m *plugin.Module) bool {
	var e *plugin.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Retryable || e.Code == plugin.Timeout && m != nil && m.Manifest().Idempotent
}

// pause is how long to wait before the next try: what the node says, longer when the plugin asks for it.
func (n *node) pause(err error) time.Duration {
	d := time.Duration(n.DelayAfterError * float64(time.Second))
	var e *plugin.Error
	if errors.As(err, &e) {
		if ms, ok := e.Data["retry_after_ms"].(float64); ok && ms > 0 {
			d = max(d, time.Duration(min(ms, float64(longestPause.Milliseconds())))*time.Millisecond)
		}
	}
	return d
}

// told is the error as its reader wants it: a model gets the JSON of the contract, so that it can mend its call.
func told(call *engine.Call, err error) error {
	var e *plugin.Error
	if !call.IsTool() || !errors.As(err, &e) {
		return err
	}
	return &toolError{e}
}

// toolError is a plugin's error as the result of a tool.
type toolError struct{ err *plugin.Error }

func (t *toolError) Error() string {
	b, err := json.Marshal(map[string]any{"error": t.err})
	if err != nil { // data of a plugin came out of JSON
		return t.err.Error()
	}
	return string(b)
}

func (t *toolError) Unwrap() error { return t.err }
