package sdk

import (
	"encoding/json"
	"fmt"
	"time"
)

// Call is one call of the plugin: information about the call, and access to everything outside.
type Call struct {
	callInfo
	host      host
	artifacts []Artifact
	citations []Citation
	usage     *Usage
	next      string
}

// callInfo is the host's information about a call.
type callInfo struct {
	ID         string `json:"id"`  // the same when the call is repeated after a crash of the host
	Run        string `json:"run"` // of the canvas
	Node       string `json:"node"`
	Attempt    int    `json:"attempt"`     // 1 for the first
	DeadlineMS int64  `json:"deadline_ms"` // remaining at the start of the call
	Locale     string `json:"locale"`
	Preview    bool   `json:"preview"` // in the preview of a canvas
	SecretMark string `json:"secret_mark"`
	Component  string `json:"component"` // of a file with several
}

// Artifact is a file that the plugin generated.
type Artifact struct {
	Name string `json:"name"`
	MIME string `json:"mime"`
	Ref  string `json:"ref"`
}

// Citation is a passage that the answer cites. The same passage has the same ID; Title and URL
// may be empty.
type Citation struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Title   string `json:"title,omitempty"`
	URL     string `json:"url,omitempty"`
}

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// host has the functions of the contract.
type host interface {
	emit(kind int, data []byte) (cancelled bool)
	ask(request []byte) (answer []byte, ok bool) // not ok: cancelled
	log(level Level, text string)
	setting(name string) (string, bool)
	variable(name string) []byte
	setVariable(name string, value []byte)
}

// Level of a log line.
type Level int

// The levels.
const (
	Trace Level = iota
	Debug
	Info
	Warn
	LogError
)

// Kinds of emissions.
const (
	kindDelta = iota + 1
	kindReasoning
	kindProgress
	kindPartial
)

// Emit sends a piece of the answer. The error is ErrCancelled: return promptly.
func (c *Call) Emit(text string) error { return c.send(kindDelta, []byte(text)) }

// Think sends a piece of the reasoning.
func (c *Call) Think(text string) error { return c.send(kindReasoning, []byte(text)) }

// Progress reports the progress of the work in percent.
func (c *Call) Progress(percent float64, note string) error {
	return c.sendJSON(kindProgress, map[string]any{"pct": percent, "note": note})
}

// Partial sends a piece of one output.
func (c *Call) Partial(output, delta string) error {
	return c.sendJSON(kindPartial, map[string]any{"key": output, "delta": delta})
}

func (c *Call) sendJSON(kind int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("emit: %w", err)
	}
	return c.send(kind, b)
}

func (c *Call) send(kind int, data []byte) error {
	if c.host.emit(kind, data) {
		return ErrCancelled
	}
	return nil
}

// Log writes a line to the host's log, for the operator.
func (c *Call) Log(level Level, format string, args ...any) {
	c.host.log(level, fmt.Sprintf(format, args...))
}

// Setting returns a setting of this plugin; settings are never secrets.
func (c *Call) Setting(name string) (string, bool) { return c.host.setting(name) }

// Recall returns the bytes that Remember stored under a name in this run, or nil.
func (c *Call) Recall(name string) []byte { return c.host.variable(name) }

// Remember stores bytes under a name until the end of the run; nil deletes them.
func (c *Call) Remember(name string, value []byte) { c.host.setVariable(name, value) }

// Attach adds a file to the answer.
func (c *Call) Attach(a Artifact) { c.artifacts = append(c.artifacts, a) }

// Cite adds a passage to the references of the run.
func (c *Call) Cite(passage Citation) { c.citations = append(c.citations, passage) }

// Next selects the branch with which the run continues, of those in the manifest.
func (c *Call) Next(branch string) { c.next = branch }

// Used counts tokens that the plugin used through its own providers, not those of Chat.
func (c *Call) Used(u Usage) { c.usage = &u }

// Sleep waits. It counts against the deadline.
func (c *Call) Sleep(d time.Duration) error {
	return c.ask("sleep", map[string]any{"ms": d.Milliseconds()}, nil)
}

// Ask makes a request for which this package has no method, such as an operation of a newer host:
// out receives the member "ok", unless it is nil. A host without the operation returns the code
// Unsupported.
func (c *Call) Ask(op string, args, out any) error { return c.ask(op, args, out) }

// ask sends a request to the host and decodes the answer into out, unless that is nil.
func (c *Call) ask(op string, args, out any) error {
	request, err := json.Marshal(map[string]any{"op": op, "args": args})
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	answer, ok := c.host.ask(request)
	if !ok {
		return ErrCancelled
	}
	var a struct {
		OK    json.RawMessage `json:"ok"`
		Error *Error          `json:"error"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if a.Error != nil {
		return a.Error
	}
	if out == nil || len(a.OK) == 0 {
		return nil
	}
	if err := json.Unmarshal(a.OK, out); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}
