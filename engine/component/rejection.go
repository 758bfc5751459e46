package component

import (
	"errors"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/pattern"
)

// Rejection is the condition under which a model node rejects an answer and calls the model again:
// as often as the node retries failures, and once if it does not. An answer that may be rejected
// does not stream. An answer with a schema has its own checks.
type Rejection struct {
	RetryWhen    string `json:"retry_when" label:"Ask again if the answer" doc:"such an answer is rejected and the model is called again" section:"fail" options:"never=Never|empty=Is empty|not_json=Is not JSON|matches=Matches a pattern" default:"never"`
	RetryPattern string `json:"retry_pattern" label:"Pattern of rejected answers" doc:"regular expression that is found in an answer" section:"fail" show:"retry_when=matches"`
	pattern      *pattern.Pattern
}

// mostSteps bounds the search of retry_pattern in an answer, which nothing cancels: about a second.
const mostSteps = 50_000_000

// errRejected means that the model was called again as often as allowed.
var errRejected = errors.New("the answer is rejected")

// compile reads the condition.
func (r *Rejection) compile(s *engine.Setup) (err error) {
	if r.RetryWhen != "matches" {
		return nil
	}
	if r.pattern, err = pattern.Compile(r.RetryPattern); err != nil || r.RetryPattern == "" {
		problem := "is empty, and retry_when is matches"
		if err != nil {
			problem = "is not a regular expression: " + err.Error()
		}
		return s.Fail("retry_pattern", engine.String(r.RetryPattern), problem)
	}
	return nil
}

// rejects reports whether there are answers that are rejected.
func (r *Rejection) rejects() bool { return r.RetryWhen != "never" }

// check returns an error for an answer that is rejected.
func (r *Rejection) check(text string) error {
	text = strings.TrimSpace(afterReasoning(text))
	switch r.RetryWhen {
	case "empty":
		if text == "" {
			return fmt.Errorf("%w: it is empty", errRejected)
		}
	case "not_json":
		if _, err := readLooseJSON(text); err != nil {
			return fmt.Errorf("%w: it is not JSON: %w", errRejected, err)
		}
	case "matches":
		start, _, ok := r.pattern.FindWithin(text, mostSteps)
		if !ok {
			return fmt.Errorf("retry_pattern: the search in %d bytes takes too long; simplify it", len(text))
		}
		if start >= 0 {
			return fmt.Errorf("%w: it matches %s", errRejected, r.RetryPattern)
		}
	}
	return nil
}

// again reports whether the model is called once more because its answer is rejected; n counts such
// calls. An answer that is rejected after the last one is an error.
func (l *LLM) again(call *engine.Call, text string, n int) (bool, error) {
	if !l.schema.IsNull() {
		return false, nil
	}
	err := l.check(text)
	if !errors.Is(err, errRejected) || n >= max(1, l.MaxRetries) {
		return false, err
	}
	warn(call, "answer", fmt.Errorf("%w; the model is called again", err))
	return true, nil
}
