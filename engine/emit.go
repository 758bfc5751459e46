package engine

import (
	"encoding/hex"
	"time"
)

// emitter emits the events of a run in order. Only the owner of the run uses it, except for note,
// which is safe for concurrent use.
type emitter struct {
	*basis // also in account; here it is one step nearer, as are the next two
	*ending
	*progress
	*account
	*cancellation
	*redactor
	*notebook
	yield  func(*Event, error) bool
	inner  innerEvents // of concurrent bodies
	event  Event
	number uint64 // Event.Note of the next event
	seen   int    // matches of CancelAfter so far
}

// emitWire emits an event that counts towards Limits.Events.
func (e *emitter) emitWire(t EventType, node string, f *Facts) {
	e.bytes += int64(len(e.enc.buf))
	e.emit(t, node, f)
}

// emit passes the event in enc.buf to the consumer.
func (e *emitter) emit(t EventType, node string, f *Facts) {
	if e.gone {
		return
	}
	e.seq++
	own := len(e.enc.buf) > largeEvent
	// One by one: a composite literal is built elsewhere and copied.
	e.event.Seq, e.event.Type, e.event.Node, e.event.Note = e.seq, t, node, e.number
	e.event.JSON, e.event.Own, e.event.Facts = e.enc.buf, own, f
	if own {
		e.enc.buf = nil
	}
	more := e.yield(&e.event, nil)
	e.event.JSON, e.event.Facts = nil, nil // they may be large
	if !more {
		e.gone = true
		e.halt()
		return
	}
	if a := e.opt.CancelAfter; a != nil && a.Event == t && (a.Node == "" || a.Node == node) {
		if e.seen++; e.seen == max(a.Nth, 1) {
			e.cancelNow()
		}
	}
}

func (e *emitter) emitWorkflowStarted() {
	b := e.enc.begin(EventWorkflowStarted)
	b = append(b, `{"inputs":`...)
	b = e.in.Inputs.AppendJSON(b)
	e.enc.buf = append(b, "}}"...)
	e.emitWire(EventWorkflowStarted, "", &noFacts)
}

func (e *emitter) emitNodeStarted(call *Call) {
	b := append(e.enc.buf[:0], e.enc.started...)
	b = e.enc.appendSecond(b, call.started)
	e.enc.buf = append(b, call.node.started...)
	e.emitWire(EventNodeStarted, call.id, callFacts(call))
}

// emitNodeFinished emits node_finished. Inputs, and then outputs, that exceed the limits are left
// out: the node or the run has failed because of them.
func (e *emitter) emitNodeFinished(call *Call) {
	now := e.clock.Now()
	if call.ended.IsZero() {
		call.ended = now
	}
	call.elapsed = call.ended.Sub(call.started)
	outs := e.st.nodes[call.node.index].outs
	e.slots = append(e.slots[:0], call.ins...)
	if !e.small(call) {
		outs = e.fitEvent(call, outs)
		e.enc.reserve(e.st.outSize(call.node.index) + inputSize(call))
	}
	for i := range e.slots {
		if s := e.slots[i].value.Stream(); s != nil {
			text, _ := s.result()
			e.slots[i].value = String(text)
		}
		e.slots[i].value = e.redact(e.slots[i].value)
	}
	b := append(e.enc.buf[:0], e.enc.finished...)
	b = appendSlots(b, e.slots)
	b = append(b, `,"outputs":{"_created_time":`...)
	b = e.enc.appendTime(b, call.started)
	b = append(b, `,"_elapsed_time":`...)
	from := len(b)
	b = appendSeconds(b, call.elapsed)
	elapsed := b[from:]
	for _, o := range outs {
		b = append(b, ',')
		b = AppendQuoted(b, o.name)
		b = append(b, ':')
		b = o.value.AppendJSON(b)
	}
	b = append(b, call.node.finished...)
	if call.err != nil {
		b = AppendQuoted(b, e.redactText(errorText(call.err)))
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"elapsed_time":`...)
	b = append(b, elapsed...)
	b = append(b, `,"created_at":`...)
	b = e.enc.appendTime(b, now)
	e.enc.buf = append(b, "}}"...)
	e.emitWire(EventNodeFinished, call.id, callFacts(call))
}

// fitEvent drops those inputs in r.slots, and those of outs, that exceed the limits.
func (e *emitter) fitEvent(call *Call, outs []slot) []slot {
	size, ins := e.st.outSize(call.node.index), inputSize(call)
	most := min(e.opt.Limits.Event, e.opt.Limits.Events-e.bytes)
	if size+ins <= most {
		return outs
	}
	e.room(size + ins)
	e.slots = e.slots[:0]
	if size > most {
		return nil
	}
	return outs
}

// emitContainerFinished reports that the last turn of a container has ended.
func (e *emitter) emitContainerFinished(n *node, started time.Time, ins []slot) {
	c := &Call{}
	c.node, c.id = n, n.id
	c.ins, c.long, c.started = ins, len(ins) > 0, started
	e.emitNodeFinished(c)
}

func (e *emitter) emitMessage(content string, start, end bool, sound []byte) {
	if !e.room(textSize(content) + 2*int64(len(sound))) {
		return
	}
	e.enc.reserve(int64(len(content)))
	b := e.enc.begin(EventMessage)
	b = append(b, `{"content":`...)
	content = asWritten(e.redactText(content))
	b = AppendQuoted(b, content)
	if start {
		b = append(b, `,"start_to_think":true`...)
	}
	if end {
		b = append(b, `,"end_to_think":true`...)
	}
	if len(sound) > 0 {
		b = append(b, `,"audio_binary":"`...)
		b = hex.AppendEncode(b, sound)
		b = append(b, '"')
	}
	e.enc.buf = append(b, "}}"...)
	e.emitWire(EventMessage, "", &Facts{Message: Piece{content, start, end}})
}

func (e *emitter) emitMessageEnd(said *Said, reference Value) {
	data := NewObject(4)
	for _, f := range [...]slot{
		{"status", said.Status},
		{"attachment", said.Attachment},
		{"downloads", said.Downloads},
		{"reference", reference},
	} {
		if f.value.Truthy() && e.room(f.value.Size()) {
			data.Set(f.name, f.value)
		}
	}
	e.emitData(EventMessageEnd, "", data.Value())
}

func (e *emitter) emitUserInputs(fields Value, tips string) {
	data := Object("inputs", fields, "tips", tips)
	if e.c.settings.visitors {
		data = data.With("visitors_approve", Bool(true))
	}
	e.emitData(EventUserInputs, "", data)
}

func (e *emitter) emitWorkflowFinished(outputs Value) {
	now := e.clock.Now()
	e.enc.reserve(outputs.Size() + e.inputs.Size())
	b := e.enc.begin(EventWorkflowFinished)
	b = append(b, `{"inputs":`...)
	b = e.inputs.AppendJSON(b)
	b = append(b, `,"outputs":`...)
	b = outputs.AppendJSON(b)
	b = append(b, `,"elapsed_time":`...)
	b = appendSeconds(b, now.Sub(e.began))
	b = append(b, `,"created_at":`...)
	b = e.enc.appendTime(b, now)
	f := &noFacts
	if u := e.usage; u.Calls > 0 {
		f = &Facts{Usage: u.Value()}
		b = append(b, `,"usage":`...)
		b = f.Usage.AppendJSON(b)
	}
	e.enc.buf = append(b, "}}"...)
	e.emitWire(EventWorkflowFinished, "", f)
}

func (e *emitter) emitData(t EventType, node string, data Value) {
	e.enc.reserve(data.Size())
	b := e.enc.begin(t)
	b = data.AppendJSON(b)
	e.enc.buf = append(b, '}')
	if t == EventMessageEnd || t == EventUserInputs {
		e.bytes += int64(len(e.enc.buf))
	}
	var f *Facts
	if t != EventResult && t != EventExchange && t != EventPart {
		f = dataFacts(data)
	}
	e.emit(t, node, f)
}

// note keeps an entry of the log until the owner emits it; workers call it.
func (e *emitter) note(typ EventType, n *node, data Value) {
	if !e.logs() || typ == EventWarning && !e.isNew(data.Get("text").Str()) {
		return
	}
	if err := within(ErrEventTooLarge, data.Size(), e.opt.Limits.Event); err != nil {
		data = Object(
			"component_id", data.Get("component_id"), "tool_name", data.Get("tool_name"), "error", err.Error())
	}
	id := ""
	if n != nil {
		id = n.id
	}
	e.add(typ, id, e.redact(data))
}

// logWorked reports that an execution has ended before its batch can be settled.
func (e *emitter) logWorked(call *Call) {
	if e.logs() {
		e.emitData(EventWorked, call.id, call.timed(Object("component_id", call.id), call.started))
	}
}

// flushNotes emits the entries of workers before the event that ends their execution.
func (e *emitter) flushNotes() {
	if !e.logs() {
		return
	}
	for _, n := range e.takeNotes() {
		e.number = n.number
		e.emitData(n.typ, n.node, n.data)
	}
	e.number = 0
}
