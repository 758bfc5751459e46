package engine

import (
	"context"
	"errors"
	"strconv"
	"sync"
)

// tape records the answers of models and tools to an execution that may be suspended. When it runs
// again, each call that was answered before gets the recorded answer, so that the component reaches
// the point where it stopped.
type tape struct {
	mu     sync.Mutex
	past   Value            // by key, of the executions before
	now    Value            // by key, of this one
	counts map[string]int64 // of keys so far
}

func newTape(past Value) *tape {
	if past.IsNull() {
		past = emptyObject
	}
	return &tape{past: past, now: emptyObject, counts: map[string]int64{}}
}

// value returns the whole record.
func (t *tape) value() Value {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.past
	for key, v := range t.now.Fields() {
		all = all.With(key, v)
	}
	return all
}

// key names a call: the same in each execution, because the calls of one scope are made in the same
// order, and concurrent calls differ or are interchangeable.
func (t *tape) key(scope, name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := scope + "/" + name
	t.counts[key]++
	return key + "#" + strconv.FormatInt(t.counts[key], 10)
}

func (t *tape) recorded(key string) (Value, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.past.Lookup(key)
}

func (t *tape) record(key string, v Value) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = t.now.With(key, v)
}

// replaying reports whether the execution has not reached the point where it stopped.
func (t *tape) replaying() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := int64(0)
	for _, c := range t.counts {
		n += c
	}
	return n < int64(t.past.Len())
}

// tapeKey is the key of a context with the tape key of the tool that runs in it.
type tapeKey struct{}

// Perform runs a tool call of an agent once, also if the agent is suspended and runs again. A tool
// that needs approval waits for a person, who may refuse it or change the arguments, which must fit
// schema. The error is for the model, except for a *Suspension.
func (c *Call) Perform(
	ctx context.Context, t *Ask, do func(ctx context.Context, args Value) (ToolAnswer, error),
) (ToolAnswer, error) {
	tape := c.root().tape
	if tape == nil {
		return do(ctx, t.Arguments)
	}
	key := tape.key(c.scope, t.Tool+" "+t.Arguments.JSON())
	if v, ok := tape.recorded(key); ok && v.Get("state").IsNull() {
		if text := v.Get("error"); !text.IsNull() {
			return ToolAnswer{}, errors.New(text.Str())
		}
		return ReadToolAnswer(v), nil
	}
	args, err := t.Arguments, error(nil)
	if t.Approval {
		args, err = c.approved(t, key)
	}
	var answer ToolAnswer
	if err == nil {
		answer, err = do(context.WithValue(ctx, tapeKey{}, key), args)
	}
	var waits *Suspension
	switch {
	case errors.As(err, &waits):
		if !waits.State.IsNull() {
			tape.record(key, Object("state", waits.State))
		}
	case c.Canceled() != nil || ctx.Err() != nil:
	case err != nil:
		tape.record(key, Object("error", err.Error()))
	default:
		tape.record(key, answer.Value())
	}
	return answer, err
}

// inScope makes an execution of a tool part of the tape of its agent.
func (c *Call) inScope(ctx context.Context) {
	key, ok := ctx.Value(tapeKey{}).(string)
	tape := c.root().tape
	if !ok || tape == nil {
		return
	}
	c.scope = key
	if v, ok := tape.recorded(key); ok {
		c.resumed = v.Get("state")
	}
}

// replayed returns the model's answer to this call from before the execution was suspended.
func (c *Call) replayed(req *ModelRequest, emit func(string) error) (a Answer, key string, ok bool, err error) {
	tape := c.root().tape
	if tape == nil {
		return a, "", false, nil
	}
	key = tape.key(c.scope, "model")
	v, ok := tape.recorded(key)
	if !ok {
		return a, key, false, nil
	}
	a.Usage = usageOf(v.Get("usage"))
	for _, t := range v.Get("calls").Elements() {
		a.ToolCalls = append(a.ToolCalls, ToolCall{t.At(0).Str(), t.At(1).Str(), t.At(2).Str()})
	}
	a.Text, a.Opaque = v.Get("text").Str(), v.Get("opaque")
	for _, level := range c.allowances() {
		if level.of != "" {
			level.used.add(a.Usage)
			level.used.Calls++
		}
	}
	if emit != nil && a.Text != "" {
		err = emit(a.Text)
	}
	if text := v.Get("error"); !text.IsNull() && err == nil {
		err = &ModelError{Text: text.Str()}
	}
	return a, key, true, err
}

// recordAnswer records the answer of a model, unless a cancel or a limit stopped it.
func (c *Call) recordAnswer(key string, a Answer, err error) {
	var reported *ModelError
	if key == "" || err != nil && !errors.As(err, &reported) {
		return
	}
	entry := a.value().With("usage", a.Usage.Value())
	if err != nil {
		entry = entry.With("error", String(err.Error()))
	}
	c.root().tape.record(key, entry)
}
