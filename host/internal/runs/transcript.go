package runs

import (
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/runlog"
)

// Transcript collects the messages of a run from its events. It keeps the last
// events as JSON and parses them only when they are asked for.
type Transcript struct {
	Text       strings.Builder // the answer, reasoning between <think> and </think>
	Deltas     strings.Builder // the contents of all message events, joined
	References []engine.Value  // of the message_end events that have one
	Status     engine.Value    // status of the last message_end
	Tokens     int64           // of language models, so far
	Cost       int64           // of these in millionths of the currency of the prices
	last       []byte          // the last event of the wire
	turned     []byte          // the last message_end or user_inputs
	mark       [2]int          // lengths of both texts when the present message began
}

// Take adds one event, whose data must not change.
func (t *Transcript) Take(r runlog.Record) {
	switch engine.EventType(r.Kind) {
	case engine.EventMessageReset:
		t.reset()
		return
	case engine.EventUsage:
		t.usage(read(r.Data).Get("data").Get("run"))
		return
	case engine.EventUserInputs:
		t.turned = r.Data
	case engine.EventMessage:
		t.message(Facts(r).Message)
	case engine.EventMessageEnd:
		t.turned = r.Data
		t.messageEnd(Facts(r).Data)
	case engine.EventWorkflowFinished, engine.EventNodeFinished, engine.EventWorkflowStarted:
	default:
		return
	}
	t.last = r.Data
}

// Last is the last event of the wire, null when there was none.
func (t *Transcript) Last() engine.Value { return read(t.last) }

// Asked returns the last event that ends a message or requests input: message_end or user_inputs;
// null without one.
func (t *Transcript) Asked() engine.Value { return read(t.turned) }

func read(event []byte) engine.Value {
	v, err := engine.ParseJSON(event)
	if err != nil {
		return engine.Null // none was kept
	}
	return v
}

func (t *Transcript) messageEnd(d engine.Value) {
	t.mark = [2]int{t.Text.Len(), t.Deltas.Len()}
	if r := d.Get("reference"); !r.IsNull() {
		t.References = append(t.References, r)
	}
	if s := d.Get("status"); !s.IsNull() {
		t.Status = s
	}
}

func (t *Transcript) message(p engine.Piece) {
	t.Deltas.WriteString(p.Text)
	t.Text.WriteString(p.Marked())
}

// usage takes the totals of a run. Calls that run at once may report them in another order.
func (t *Transcript) usage(run engine.Value) {
	tokens, _ := run.Get("total_tokens").Int()
	cost, _ := run.Get("cost").Float()
	t.Tokens, t.Cost = max(t.Tokens, tokens), max(t.Cost, engine.MicrosOf(cost))
}

// value is everything that was collected, as data.
func (t *Transcript) value() engine.Value {
	deltas := engine.String(t.Deltas.String())
	if t.Deltas.String() == t.Text.String() {
		deltas = engine.Null // there is no reasoning, as most often
	}
	return engine.Object(
		"text", t.Text.String(), "deltas", deltas, "references", engine.List(t.References...), "last", t.Last(),
		"status", t.Status, "mark", engine.List(engine.Int(int64(t.mark[0])), engine.Int(int64(t.mark[1]))),
		"tokens", engine.Int(t.Tokens), "cost", engine.Int(t.Cost),
	)
}

// readTranscript is the reverse of value.
func readTranscript(v engine.Value) *Transcript {
	t := &Transcript{}
	t.Text.WriteString(v.Get("text").Str())
	t.Deltas.WriteString(t.Text.String())
	if deltas := v.Get("deltas"); !deltas.IsNull() {
		t.Deltas.Reset()
		t.Deltas.WriteString(deltas.Str())
	}
	for _, r := range v.Get("references").Elements() {
		t.References = append(t.References, r)
	}
	t.Tokens, _ = v.Get("tokens").Int()
	t.Cost, _ = v.Get("cost").Int()
	t.Status, t.last = v.Get("status"), v.Get("last").AppendJSON(nil)
	for i, most := range [2]int{t.Text.Len(), t.Deltas.Len()} {
		n, _ := v.Get("mark").At(i).Int()
		t.mark[i] = min(max(int(n), 0), most)
	}
	return t
}

// reset forgets the present message, which starts again.
func (t *Transcript) reset() {
	text, deltas := t.Text.String()[:t.mark[0]], t.Deltas.String()[:t.mark[1]]
	t.Text.Reset()
	t.Deltas.Reset()
	t.Text.WriteString(text)
	t.Deltas.WriteString(deltas)
}

// Reference is all references in one, with integer keys as texts: {chunks,
// doc_aggs}; null when nothing was cited.
func (t *Transcript) Reference() engine.Value {
	if len(t.References) == 0 {
		return engine.Null
	}
	chunks, aggs := engine.NewObject(8), engine.NewObject(8)
	for _, r := range t.References {
		for k, v := range r.Get("chunks").Fields() {
			chunks.Set(k, v)
		}
		for k, v := range r.Get("doc_aggs").Fields() {
			aggs.Set(k, v)
		}
	}
	return engine.Object("chunks", chunks.Value(), "doc_aggs", aggs.Value())
}
