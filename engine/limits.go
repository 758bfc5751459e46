package engine

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Limits bound what one run may hold and use, so that a canvas cannot take the memory of the
// process that runs it. In every field zero means the default and a negative number no limit. Sizes
// are in bytes, as [Value.Size] counts them; that of a text is its length.
//
// A limit is checked before memory is taken wherever the size is known before. Reaching one is an
// error of the node that reached it, which the node's handlers apply to; Events, and State at the
// start and the end of a run, end the run.
type Limits struct {
	Text       int64 // one text that a node makes, reads from a model or sends; 16 MiB
	Output     int64 // one output or variable; 32 MiB
	State      int64 // outputs, variables, conversation and references together; 64 MiB
	Event      int64 // one event: inputs and outputs of one node; 64 MiB
	Events     int64 // all events of a run and what its log repeats of variables; 512 MiB
	ModelCalls int64 // calls of language models; 10,000
	Tokens     int64 // tokens that language models report, input and output; none by default
	Cost       int64 // millionths of the currency of [Options].Prices; none by default
	ToolCalls  int64 // calls of tools by agents; 10,000
	Rounds     int64 // rounds of tool calls of all agents; none by default
	Seconds    int64 // of one execution, in which waiting for a form does not count; none by default
	// RepeatedCalls bounds the calls of a tool by an agent with the same arguments; 10. Further
	// calls are refused, and as many of them end the agent. The agents inside of one have ten times
	// as many together.
	RepeatedCalls int64
	ToolSeconds   int64 // one call of a tool by an agent; none by default
}

// LimitNames returns the names of the fields of Limits, as options of programs name them, in order.
func LimitNames() []string {
	names := make([]string, len(limitKinds))
	for i, k := range limitKinds {
		names[i] = k.name
	}
	return names
}

// Set sets a limit by its name.
//
// Errors: an unknown name; the message lists the names.
func (l *Limits) Set(name string, n int64) error {
	for _, k := range limitKinds {
		if k.name == name {
			*k.field(l) = n
			return nil
		}
	}
	return fmt.Errorf("unknown limit %q (one of %v)", name, LimitNames())
}

// limitKind is a limit and the error of reaching it.
type limitKind struct {
	name, code, text string
	standard         int64
	field            func(*Limits) *int64
}

func (k *limitKind) Error() string { return k.text }

// Unwrap makes every such error an ErrLimit.
func (k *limitKind) Unwrap() error { return ErrLimit }

// The errors of reaching one of the Limits; each is an ErrLimit, and a *LimitError has the amount.
// The caller raises the limit or changes the canvas.
var (
	ErrTextTooLarge error = &limitKind{
		"text", "text_too_large", "text is too large", 16 << 20,
		func(l *Limits) *int64 { return &l.Text },
	}
	ErrOutputTooLarge error = &limitKind{
		"output", "output_too_large", "output is too large", 32 << 20,
		func(l *Limits) *int64 { return &l.Output },
	}
	ErrStateTooLarge error = &limitKind{
		"state", "state_too_large", "state of the run is too large", 64 << 20,
		func(l *Limits) *int64 { return &l.State },
	}
	ErrEventTooLarge error = &limitKind{
		"event", "event_too_large", "inputs and outputs of the node are too large", 64 << 20,
		func(l *Limits) *int64 { return &l.Event },
	}
	ErrEventsTooLarge error = &limitKind{
		"events", "events_too_large", "events of the run are too large", 512 << 20,
		func(l *Limits) *int64 { return &l.Events },
	}
	ErrTooManyModelCalls error = &limitKind{
		"model_calls", "too_many_model_calls", "too many model calls", 10_000,
		func(l *Limits) *int64 { return &l.ModelCalls },
	}
	ErrTooManyTokens error = &limitKind{
		"tokens", "too_many_tokens", "too many model tokens", math.MaxInt64,
		func(l *Limits) *int64 { return &l.Tokens },
	}
	ErrTooExpensive error = &limitKind{
		"cost", "cost_too_high", "model calls cost too much, in millionths", math.MaxInt64,
		func(l *Limits) *int64 { return &l.Cost },
	}
	ErrTooManyToolCalls error = &limitKind{
		"tool_calls", "too_many_tool_calls", "too many tool calls", 10_000,
		func(l *Limits) *int64 { return &l.ToolCalls },
	}
	ErrTooManyRounds error = &limitKind{
		"rounds", "too_many_rounds", "too many rounds of tool calls", math.MaxInt64,
		func(l *Limits) *int64 { return &l.Rounds },
	}
	ErrTooSlow error = &limitKind{
		"seconds", "run_too_long", "took too many seconds", math.MaxInt64,
		func(l *Limits) *int64 { return &l.Seconds },
	}
	ErrTooManyRepeats error = &limitKind{
		"repeated_calls", "too_many_repeats", "the same tool call was asked for too often", 10,
		func(l *Limits) *int64 { return &l.RepeatedCalls },
	}
	ErrToolTooSlow error = &limitKind{
		"tool_seconds", "tool_too_slow", "tool took too many seconds", math.MaxInt64,
		func(l *Limits) *int64 { return &l.ToolSeconds },
	}
)

var (
	// ErrRepeatedCall means that an agent has called a tool with the same arguments too often; the
	// model receives it and the tool does not run.
	ErrRepeatedCall = errors.New("repeated tool call")
	// ErrNoPrice means that a run has a limit on money and calls a model of which the price is not
	// known; add the model to the prices.
	ErrNoPrice = fmt.Errorf("%w: no price", ErrLimit)
)

// ErrTooDeep means that a value nests deeper than documents may; flatten it.
var ErrTooDeep = errors.New("value is nested too deeply")

var limitKinds = [...]*limitKind{
	kindOf(ErrTextTooLarge), kindOf(ErrOutputTooLarge), kindOf(ErrStateTooLarge), kindOf(ErrEventTooLarge),
	kindOf(ErrEventsTooLarge), kindOf(ErrTooManyModelCalls), kindOf(ErrTooManyTokens), kindOf(ErrTooExpensive),
	kindOf(ErrTooManyToolCalls), kindOf(ErrTooManyRounds), kindOf(ErrTooSlow), kindOf(ErrTooManyRepeats),
	kindOf(ErrToolTooSlow),
}

func kindOf(err error) *limitKind {
	k, _ := err.(*limitKind)
	return k
}

// LimitError names the limit that a run reached, and the amount.
type LimitError struct {
	Kind  error // ErrTextTooLarge, ...
	Size  int64 // what was asked for, or the least it was
	Limit int64
	Of    string // id of the agent whose limit it is; "" for a limit of the run
}

func (e *LimitError) Error() string {
	if e.Of != "" {
		return fmt.Sprintf("%v: %d exceeds the limit of %d of %s; raise its limit %q if it should fit",
			e.Kind, e.Size, e.Limit, brief(e.Of), kindOf(e.Kind).name)
	}
	return fmt.Sprintf("%v: %d exceeds the limit of %d; raise the limit %q (--limit %s=N) if it should fit",
		e.Kind, e.Size, e.Limit, kindOf(e.Kind).name, kindOf(e.Kind).name)
}

// Unwrap returns the kind.
func (e *LimitError) Unwrap() error { return e.Kind }

// within checks n against a limit.
func within(kind error, n, limit int64) error {
	if n <= limit {
		return nil
	}
	return &LimitError{Kind: kind, Size: n, Limit: limit}
}

// setDefaults does not iterate over limitKinds, so that the limits of a run are not allocated.
func (l *Limits) setDefaults() {
	set := func(field *int64, kind error) {
		switch {
		case *field == 0:
			*field = kindOf(kind).standard
		case *field < 0:
			*field = math.MaxInt64
		}
	}
	set(&l.Text, ErrTextTooLarge)
	set(&l.Output, ErrOutputTooLarge)
	set(&l.State, ErrStateTooLarge)
	set(&l.Event, ErrEventTooLarge)
	set(&l.Events, ErrEventsTooLarge)
	set(&l.ModelCalls, ErrTooManyModelCalls)
	set(&l.Tokens, ErrTooManyTokens)
	set(&l.Cost, ErrTooExpensive)
	set(&l.ToolCalls, ErrTooManyToolCalls)
	set(&l.Rounds, ErrTooManyRounds)
	set(&l.Seconds, ErrTooSlow)
	set(&l.RepeatedCalls, ErrTooManyRepeats)
	set(&l.ToolSeconds, ErrToolTooSlow)
}

// CheckText returns nil when a text of n bytes may be made, and an ErrTextTooLarge otherwise.
// Components call it before they make a text whose length depends on values; the error is the
// node's.
//
// The bytes count as memory of the run until the node is done, see [Memory].
func (c *execution) CheckText(n int64) error {
	if err := within(ErrTextTooLarge, n, c.run.opt.Limits.Text); err != nil {
		return err
	}
	return c.reserve(n)
}

// TextLimit returns the longest text in bytes that a node may make.
func (c *execution) TextLimit() int64 { return c.run.opt.Limits.Text }

// TextOfValue returns v.Text, refused when it is longer than a text may be.
func (c *execution) TextOfValue(v Value) (string, error) {
	if v.kind != KindString {
		if err := c.CheckText(v.textLen(c.run.opt.Limits.Text)); err != nil {
			return "", err
		}
	}
	return v.Text(), nil
}

// JoinText returns the elements of a list as texts with a separator between them, refused when it
// is longer than a text may be.
func (c *execution) JoinText(list Value, separator string) (string, error) {
	most := c.run.opt.Limits.Text
	n := int64(len(separator)) * int64(list.Len())
	for _, e := range list.Elements() {
		if n += e.textLen(most); n > most {
			break
		}
	}
	if err := c.CheckText(n); err != nil {
		return "", err
	}
	parts := make([]string, list.Len())
	for i, e := range list.Elements() {
		parts[i] = e.Text()
	}
	return strings.Join(parts, separator), nil
}

// JSONOf returns v.JSON, refused when it is longer than a text may be.
func (c *execution) JSONOf(v Value) (string, error) {
	if err := c.CheckText(v.jsonLen(c.run.opt.Limits.Text, 1)); err != nil {
		return "", err
	}
	return v.JSON(), nil
}

// CheckSize returns nil when a value of this size, as [Value.Size] counts it, may be made.
// Components call it before they make a value that is much larger than its parts.
func (c *execution) CheckSize(n int64) error {
	return within(ErrOutputTooLarge, n, c.run.opt.Limits.Output)
}

// MadeMeter returns a function that counts the bytes of intermediate texts of an execution, and
// refuses more than four times the limit of a text.
func (c *execution) MadeMeter() func(n int64) error {
	total, most := int64(0), 4*min(c.run.opt.Limits.Text, math.MaxInt64/4)
	return func(n int64) error {
		total += n
		if err := within(ErrTextTooLarge, total, most); err != nil {
			return err
		}
		return c.reserve(n)
	}
}

// CheckParse returns an error if the value of a JSON text would exceed the default limit of
// outputs. It reads each byte of a long text and allocates nothing.
func CheckParse(text string) error {
	return within(ErrOutputTooLarge, parsedSize(text), kindOf(ErrOutputTooLarge).standard)
}

// CheckValue returns nil when v may be an output or a variable.
func (c *execution) CheckValue(v Value) error { return c.run.opt.Limits.checkValue(v) }

func (l *Limits) checkValue(v Value) error {
	if v.kind == KindString {
		return within(ErrTextTooLarge, int64(len(v.text)), l.Text)
	}
	if v.depth() > maxValueDepth {
		return fmt.Errorf("%w: more than %d levels", ErrTooDeep, maxValueDepth)
	}
	return within(ErrOutputTooLarge, v.Size(), l.Output)
}

// checkPrompt returns nil when a request is no longer than a text may be.
func (c *Call) checkPrompt(req *ModelRequest) error {
	size := int64(len(req.System))
	for i := range req.Messages {
		size += int64(len(req.Messages[i].Content))
	}
	if err := within(ErrTextTooLarge, size, c.run.opt.Limits.Text); err != nil {
		return fmt.Errorf("prompt: %w", err)
	}
	return nil
}

func toolCallsLen(calls []ToolCall) int {
	n := 0
	for i := range calls {
		n += len(calls[i].Name) + len(calls[i].Arguments)
	}
	return n
}
