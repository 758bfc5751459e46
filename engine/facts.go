package engine

import "unicode/utf8"

// Facts are parts of an event as values, for readers that need one or two of them and not the whole
// JSON. Events of a run have them; [ReadFacts] reads those of a stored event. They stay valid after
// the next event and must not be changed.
type Facts struct {
	Node      string // data.component_id; "" for an event that is about no node
	Component string // data.component_type of node_started and node_finished
	Failed    bool   // node_finished or tool_finished with an error
	Message   Piece  // of message
	Data      Value  // of message_end, user_inputs and the log's own entries; null for other events
	Usage     Value  // data.usage of workflow_finished; null when no model was called
}

// noFacts marks JSON without facts.
var noFacts Facts

// Piece is the part of a message in one event.
type Piece struct {
	Text          string
	Opens, Closes bool // the piece begins or ends reasoning
}

// Marked returns the text with the marks around reasoning, as a stored message has them.
func (p Piece) Marked() string {
	text := p.Text
	if p.Opens {
		text += ThinkOpen
	}
	if p.Closes {
		text += ThinkClose
	}
	return text
}

// ReadFacts parses the JSON of an event. Entries that only continue a run (result, checkpoint,
// snapshot) have no facts, and JSON that is not an event has none either.
func ReadFacts(t EventType, json []byte) Facts {
	switch t {
	case EventResult, EventCheckpoint, EventSnapshot:
		return Facts{}
	}
	v, err := ParseJSON(json)
	if err != nil {
		return Facts{}
	}
	data := v.Get("data")
	f := Facts{Node: data.Get("component_id").Str()}
	switch t {
	case EventNodeStarted, EventNodeFinished:
		f.Component = data.Get("component_type").Str()
		f.Failed = !data.Get("error").IsNull()
	case EventMessage:
		f.Message = Piece{
			Text:   data.Get("content").Text(),
			Opens:  data.Get("start_to_think").True(),
			Closes: data.Get("end_to_think").True(),
		}
	case EventWorkflowFinished:
		f.Usage = data.Get("usage")
	case EventWorkflowStarted, EventMessageReset:
	default:
		f = *dataFacts(data)
	}
	return f
}

// dataFacts returns the facts of an event that is written from a value.
func dataFacts(data Value) *Facts {
	return &Facts{Node: data.Get("component_id").Str(), Failed: data.Get("error").Truthy(), Data: data}
}

// asWritten returns a string as JSON encodes it: each byte that is not UTF-8 is U+FFFD.
func asWritten(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// callFacts returns the facts of an event of the call's node.
func callFacts(c *Call) *Facts {
	if c.err == nil {
		return &c.node.facts
	}
	f := c.node.facts
	f.Failed = true
	return &f
}
