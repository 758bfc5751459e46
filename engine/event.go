package engine

import (
	"math"
	"strconv"
	"time"
)

// EventType is the type of an event.
type EventType string

// The events of the wire, with their names as clients know them.
const (
	EventWorkflowStarted  EventType = "workflow_started"
	EventNodeStarted      EventType = "node_started"
	EventNodeFinished     EventType = "node_finished"
	EventMessage          EventType = "message"
	EventMessageEnd       EventType = "message_end"
	EventUserInputs       EventType = "user_inputs"
	EventWorkflowFinished EventType = "workflow_finished"
)

// Entries of the run log that RAGFlow's API does not have.
const (
	EventToolStarted  EventType = "tool_started"
	EventToolFinished EventType = "tool_finished" // {component_id, path, tool_name, arguments, result, elapsed_time}
	EventProgress     EventType = "progress"
	EventWarning      EventType = "warning"
	EventInner        EventType = "canvas_event"  // {component_id, path, inner, event, data}
	EventUsage        EventType = "usage"         // {component_id, path, model, tokens and cost, node, run}
	EventLimitReached EventType = "limit_reached" // {component_id, path, code, message}
	EventWorked       EventType = "worked"        // {component_id, elapsed_time, created_at}
	EventQueued       EventType = "queued"        // {component_id, path, queue, name, elapsed_time, created_at}
	EventMessageReset EventType = "message_reset"
	EventResult       EventType = "result"
	EventCheckpoint   EventType = "checkpoint"
	EventSnapshot     EventType = "snapshot"
	EventExchange     EventType = "exchange" // {port, component_id, path, nth, key, request, answer, ms}
	EventPart         EventType = "part"     // {hash, value} or {hash, size}
)

// Events that the browser module adds, for views of a run.
const (
	EventModelStarted     EventType = "model_started"
	EventModelFinished    EventType = "model_finished"
	EventVariablesChanged EventType = "variables_changed"
)

// Audience is the set of readers of events of a type.
type Audience int

// Each audience also receives the events of those before it.
const (
	AudienceWire Audience = iota // every client, RAGFlow's included
	AudienceOwn                  // clients of our own API and the page
	AudienceLog                  // the run log alone
)

// EventDoc describes a type of event.
type EventDoc struct {
	Type     EventType
	Audience Audience
	Doc      string
}

// EventTypes lists every type of event, those of the wire first.
func EventTypes() []EventDoc {
	return []EventDoc{
		{EventWorkflowStarted, AudienceWire, "a run begins, or continues after a form"},
		{EventNodeStarted, AudienceWire, "a node starts"},
		{EventNodeFinished, AudienceWire, "a node has finished, with inputs, outputs and error"},
		{EventMessage, AudienceWire, "a piece of a message"},
		{EventMessageEnd, AudienceWire, "the end of a message, with references and attachments"},
		{EventUserInputs, AudienceWire, "the run pauses and asks for the fields of a form"},
		{EventWorkflowFinished, AudienceWire, "the run has ended without an unhandled error"},
		{EventToolStarted, AudienceOwn, "an agent calls a tool"},
		{EventToolFinished, AudienceOwn, "a tool has answered"},
		{EventProgress, AudienceOwn, "progress of a long step"},
		{EventWarning, AudienceOwn, "something unexpected that does not stop the run"},
		{EventInner, AudienceOwn, "an event of a canvas that a node runs; inner is the ids on the way to its node"},
		{EventUsage, AudienceOwn, "the usage of a model call, with the totals of its node and of the run"},
		{EventLimitReached, AudienceOwn, "a limit stopped a node or a tool; the code names it"},
		{EventWorked, AudienceOwn, "a node has done its work and waits for the rest of its batch to be settled"},
		{EventQueued, AudienceOwn, "a node or a call has waited for a slot: of the run, of a model or among plugins"},
		{EventMessageReset, AudienceOwn, "a message starts its text again after a takeover"},
		{EventModelStarted, AudienceOwn, "a language model is called; only from the browser module"},
		{EventModelFinished, AudienceOwn, "a language model has answered; only from the browser module"},
		{EventVariablesChanged, AudienceOwn, "variables have changed; only from the browser module"},
		{EventResult, AudienceLog, "the result of one node of a batch, before the batch is settled"},
		{EventCheckpoint, AudienceLog, "the changes of the last batch"},
		{EventSnapshot, AudienceLog, "the whole document with its state"},
		{EventExchange, AudienceLog, "a question to a port with its answer; the key is the hash of the question"},
		{EventPart, AudienceLog, "a large value of exchanges, in which {$part: hash} stands for it"},
	}
}

// Wire reports whether the event is part of RAGFlow's API.
func (t EventType) Wire() bool {
	switch t {
	case EventWorkflowStarted, EventNodeStarted, EventNodeFinished, EventMessage, EventMessageEnd, EventUserInputs,
		EventWorkflowFinished:
		return true
	}
	return false
}

// Event is one numbered entry of a run. JSON is valid until the next event; use Clone to keep it.
type Event struct {
	Seq  uint64 // 1-based, without gaps within a run
	Type EventType
	Node string // the node it is about, if any
	Note uint64 // number among the entries that components and ports noted, from 1; 0 for any other
	JSON []byte // {"event", "message_id", "created_at", "task_id", "data"}
	Own  bool   // JSON stays valid: the run does not use its memory again, because it is large
	// Facts are parts of JSON as values; nil in stored events and in entries that only continue a
	// run.
	Facts *Facts
}

// Clone returns a copy that stays valid.
func (e *Event) Clone() *Event {
	c := *e
	c.JSON = append([]byte(nil), e.JSON...)
	return &c
}

// Value returns the parsed event.
func (e *Event) Value() Value {
	v, _ := ParseJSON(e.JSON) // the engine wrote it
	return v
}

// Data returns the data member of the event.
func (e *Event) Data() Value { return e.Value().Get("data") }

// encoder appends events to one buffer, which it reuses for each of them, without reflection.
type encoder struct {
	buf      []byte
	tail     []byte // `","message_id":"..","created_at":..,"task_id":"..","data":`
	started  []byte // the start of every node_started, and of every node_finished
	finished []byte
	second   int64 // the second whose text prefix holds
	prefix   []byte
}

// name sets the members every event of a run has.
func (e *encoder) name(messageID, taskID string, createdAt int64) {
	t := append(e.tail[:0], `","message_id":`...)
	t = AppendQuoted(t, messageID)
	t = append(t, `,"created_at":`...)
	t = strconv.AppendInt(t, createdAt, 10)
	t = append(t, `,"task_id":`...)
	t = AppendQuoted(t, taskID)
	e.tail = append(t, `,"data":`...)
	e.started = append(e.named(e.started, EventNodeStarted), `{"inputs":null,"created_at":`...)
	e.finished = append(e.named(e.finished, EventNodeFinished), `{"inputs":`...)
}

// reserve makes room for an event of about n bytes in one piece, if that is much.
func (e *encoder) reserve(n int64) {
	if n > largeEvent && n < math.MaxInt32 && int64(cap(e.buf)) < n {
		e.buf = make([]byte, 0, n+1024)
	}
}

// largeEvent is the size from which the memory of an event is not reused.
const largeEvent = 256 << 10

// begin starts an event; the caller appends data and the closing brace.
func (e *encoder) begin(t EventType) []byte { return e.named(e.buf, t) }

// named writes the members that come before data into dst.
func (e *encoder) named(dst []byte, t EventType) []byte {
	dst = append(dst[:0], `{"event":"`...)
	dst = append(dst, t...)
	return append(dst, e.tail...)
}

// appendTime appends Unix seconds with six digits of a fraction.
func (e *encoder) appendTime(dst []byte, t time.Time) []byte {
	dst = append(e.appendSecond(dst, t), '.')
	return appendMicros(dst, t.Nanosecond()/1000)
}

// appendSecond appends whole Unix seconds. Their text is kept: most times of a run share it.
func (e *encoder) appendSecond(dst []byte, t time.Time) []byte {
	if s := t.Unix(); s != e.second || len(e.prefix) == 0 {
		e.second = s
		e.prefix = strconv.AppendInt(e.prefix[:0], s, 10)
	}
	return append(dst, e.prefix...)
}

func appendMicros(dst []byte, us int) []byte {
	high, middle, low := 2*(us/10000), 2*(us/100%100), 2*(us%100)
	return append(dst, pairs[high], pairs[high+1], pairs[middle], pairs[middle+1], pairs[low], pairs[low+1])
}

// pairs are the numbers below 100 with two digits each: dividing by 10 for each digit is slower.
var pairs = func() (p [200]byte) {
	for i := range 100 {
		p[2*i], p[2*i+1] = byte('0'+i/10), byte('0'+i%10)
	}
	return p
}()

// appendSeconds appends a duration as seconds with six digits of a fraction.
func appendSeconds(dst []byte, d time.Duration) []byte {
	us := int64(max(d, 0) / time.Microsecond)
	dst = append(strconv.AppendInt(dst, us/1e6, 10), '.')
	return appendMicros(dst, int(us%1e6))
}

// appendNodeHead appends the members that name a node.
func appendNodeHead(dst []byte, n *node) []byte {
	dst = append(dst, `"component_id":`...)
	dst = AppendQuoted(dst, n.id)
	dst = append(dst, `,"component_name":`...)
	dst = AppendQuoted(dst, n.name)
	dst = append(dst, `,"component_type":`...)
	return AppendQuoted(dst, n.spec.Name)
}

func appendSlots(dst []byte, slots []slot) []byte {
	dst = append(dst, '{')
	for i := range slots {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendQuoted(dst, slots[i].name)
		dst = append(dst, ':')
		dst = slots[i].value.AppendJSON(dst)
	}
	return append(dst, '}')
}

// appendText is append. Where speed does not matter, a call is smaller in the browser module than
// an append in line.
//
//go:noinline
func appendText(dst []byte, s string) []byte { return append(dst, s...) }
