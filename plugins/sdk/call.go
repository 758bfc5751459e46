package sdk

import (
	"encoding/json"
	"fmt"
	"time"
)

// Call is one call of the plugin: who calls, and the way to everything outside.
type Call struct {
	callInfo
	host      host
	artifacts []Artifact
	citations []Citation
	usage     *Usage
	next      string
}

// callInfo is what the host says about a call.
type callInfo struct {
	ID         string `json:"id"`  // the same when the same thing is tried again after a crash of the host
	Run        string `json:"run"` // of the canvas
	Node       string `json:"node"`
	Attempt    int    `json:"attempt"`     // 1 for the first
	DeadlineMS int64  `json:"deadline_ms"` // left when the call began
	Locale     string `json:"locale"`
	Preview    bool   `json:"preview"` // somebody tries the canvas out
	SecretMark string `json:"secret_mark"`
}

// Artifact is a file the plugin made.
type Artifact struct {
	Name string `json:"name"`
	MIME string `json:"mime"`
	Ref  string `json:"ref"`
}

// Citation is a passage that the answer rests on. The same passage has the same ID; Title and URL
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

// host is the border: the functions of the contract.
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

// Kinds of what a plugin emits.
const (
	kindDelta = iota + 1
	kindReasoning
	kindProgress
	kindPartial
)

// Emit says a piece of the answer. The error is ErrCancelled: finish.
func (c *Call) Emit(text string) error { return c.send(kindDelta, []byte(text)) }

// Think says a piece of the reasoning.
func (c *Call) Think(text string) error { return c.send(kindReasoning, []byte(text)) }

// Progress tells how far the work is, in percent.
func (c *Call) Progress(percent float64, note string) error {
	return c.sendJSON(kindProgress, map[string]any{"pct": percent, "note": note})
}

// Partial says a piece of one output.
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

// Setting is what the operator set for this plugin; never a secret.
func (c *Call) Setting(name string) (string, bool) { return c.host.setting(name) }

// Recall gives what Remember kept under a name in this run, nil when there is nothing.
func (c *Call) Recall(name string) []byte { return c.host.variable(name) }

// Remember keeps bytes under a name until the run is over; nil forgets them.
func (c *Call) Remember(name string, value []byte) { c.host.setVariable(name, value) }

// Attach adds a file to the answer.
func (c *Call) Attach(a Artifact) { c.artifacts = append(c.artifacts, a) }

// Cite adds a passage to the references of the run.
func (c *Call) Cite(passage Citation) { c.citations = append(c.citations, passage) }

// Next chooses the branch by which the run continues, of those that the manifest names.
func (c *Call) Next(branch string) { c.next = branch }

// Used counts tokens the plugin used on its own account, not those of Chat.
func (c *Call) Used(u Usage) { c.usage = &u }

// Sleep waits. It counts against the deadline.
func (c *Call) Sleep(d time.Duration) error {
	return c.ask("sleep", map[string]any{"ms": d.Milliseconds()}, nil)
}

// Ask makes a request this package has no method for, such as an operation of a newer host: out receives what stands
// in "ok", unless it is nil. A host without the operation answers with the code Unsupported.
func (c *Call) Ask(op string, args, out any) error { return c.ask(op, args, out) }

// ask makes a request of the host and reads the answer into out, unless that is nil.
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
