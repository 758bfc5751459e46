package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// Invocation is one run of a plugin as a component or tool.
type Invocation struct {
	CallRequest // Export, Input are set by Invoke

	ID      string // of the call
	Node    string // id of the node, such as Weather:0
	Attempt int    // 1 for the first; 0 counts as 1
	Locale  string
	Preview bool
	// Params are the node's settings with references resolved; Arguments are what a
	// model filled in. Both are objects; nil is an empty one. Placeholders of secrets
	// that the canvas itself writes carry the SecretMark of the call.
	Params, Arguments map[string]any
}

// Answer is what an invocation gave.
type Answer struct {
	Outputs   map[string]any
	Artifacts []Artifact
	Usage     map[string]any
	Result    // of the call; Output is the raw message
}

// Artifact is a file a plugin made.
type Artifact struct {
	Name string `json:"name"`
	MIME string `json:"mime"`
	Ref  string `json:"ref"`
}

type inputMessage struct {
	ABI       int            `json:"abi"`
	Call      callMessage    `json:"call"`
	Params    map[string]any `json:"params"`
	Arguments map[string]any `json:"arguments,omitempty"`
}

type callMessage struct {
	ID         string `json:"id"`
	Run        string `json:"run,omitempty"`
	Node       string `json:"node,omitempty"`
	Attempt    int    `json:"attempt"`
	DeadlineMS int64  `json:"deadline_ms"`
	Locale     string `json:"locale,omitempty"`
	Preview    bool   `json:"preview,omitempty"`
	SecretMark string `json:"secret_mark,omitempty"` // of calls that may use secrets
}

// Invoke runs easel_invoke with the messages of the contract. Params and
// arguments are checked before, outputs after; a mismatch is InvalidArgument or
// BadOutput and names the place.
func (m *Module) Invoke(ctx context.Context, in Invocation) (Answer, error) {
	in.Export = "easel_invoke"
	input, err := m.Input(ctx, in)
	if err != nil {
		return Answer{}, asError(err, InvalidArgument).at(m.manifest.Name, in.Export)
	}
	in.CallRequest.Input = input
	res, err := m.Call(ctx, in.CallRequest)
	if err != nil {
		return Answer{Result: res}, err
	}
	a, err := m.output(res)
	if err != nil {
		return Answer{Result: res}, fail(BadOutput, "%s", err).at(m.manifest.Name, in.Export)
	}
	return a, nil
}

// Check runs easel_check on params, without any permission. A plugin without
// that export accepts what its schema accepts.
func (m *Module) Check(ctx context.Context, params map[string]any) error {
	if err := m.manifest.Params.Check("params", orEmpty(params)); err != nil {
		return fail(InvalidArgument, "%s", err).at(m.manifest.Name, "easel_check")
	}
	if !m.Has("easel_check") {
		return nil
	}
	raw, err := json.Marshal(map[string]any{"params": orEmpty(params)})
	if err != nil {
		return fail(InvalidArgument, "params: %s", err).at(m.manifest.Name, "easel_check")
	}
	_, err = m.Call(ctx, CallRequest{Export: "easel_check", Input: raw, Grant: &Permissions{}})
	return err
}

// Input is the message Invoke hands to the plugin, after params and arguments were checked.
func (m *Module) Input(ctx context.Context, in Invocation) ([]byte, error) {
	if err := m.manifest.Params.Check("params", unmarked(orEmpty(in.Params), in.SecretMark)); err != nil {
		return nil, err
	}
	if in.Arguments != nil {
		if err := m.manifest.Arguments.Check("arguments", unmarked(in.Arguments, in.SecretMark)); err != nil {
			return nil, err
		}
	}
	mark := in.SecretMark
	if !m.AllowsSecrets(in.Grant) {
		mark = ""
	}
	left := within(in.Timeout, m.limits.timeout())
	if d, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(d))
	}
	return json.Marshal(inputMessage{
		ABI: ABI, Params: orEmpty(in.Params), Arguments: in.Arguments,
		Call: callMessage{
			ID: in.ID, Run: in.Run, Node: in.Node, Attempt: max(in.Attempt, 1),
			DeadlineMS: max(left.Milliseconds(), 0), Locale: in.Locale, Preview: in.Preview, SecretMark: mark,
		},
	})
}

// AllowsSecrets reports whether a call with this grant, nil for the module's own, may use any
// secret.
func (m *Module) AllowsSecrets(grant *Permissions) bool {
	if grant == nil {
		grant = &m.granted
	}
	return len(grant.Secrets) > 0
}

// unmarked is a value of JSON without the mark of a call, as schemas describe it.
func unmarked(v any, mark string) any {
	switch v := v.(type) {
	case string:
		return engine.UnmarkSecrets(v, mark)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = unmarked(e, mark)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			out[name] = unmarked(e, mark)
		}
		return out
	}
	return v
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// output reads and checks the message of a plugin.
func (m *Module) output(res Result) (Answer, error) {
	a := Answer{Result: res}
	var text string
	if json.Unmarshal(res.Output, &text) == nil {
		a.Outputs = map[string]any{"text": text}
		return a, m.manifest.Outputs.Check("outputs", a.Outputs)
	}
	var msg struct {
		Outputs   map[string]any `json:"outputs"`
		Artifacts []Artifact     `json:"artifacts"`
		Usage     map[string]any `json:"usage"`
	}
	if err := json.Unmarshal(res.Output, &msg); err != nil {
		return a, fmt.Errorf("output is not the JSON of the contract: %w", err)
	}
	if msg.Outputs == nil {
		return a, fmt.Errorf("outputs: missing")
	}
	a.Outputs, a.Artifacts, a.Usage = msg.Outputs, msg.Artifacts, msg.Usage
	return a, m.manifest.Outputs.Check("outputs", a.Outputs)
}
