package engine

import (
	"encoding/hex"
	"strconv"
	"time"
)

// emitWire hands out an event that counts, see Limits.Events.
func (r *run) emitWire(t EventType, node string, f *Facts) {
	r.bytes += int64(len(r.enc.buf))
	r.emit(t, node, f)
}

// emit hands out the event that enc.buf holds.
func (r *run) emit(t EventType, node string, f *Facts) {
	if r.gone {
		return
	}
	r.seq++
	own := len(r.enc.buf) > largeEvent
	r.event = Event{Seq: r.seq, Type: t, Node: node, Note: r.number, JSON: r.enc.buf, Own: own, Facts: f}
	if own {
		r.enc.buf = nil
	}
	more := r.yield(&r.event, nil)
	r.event.JSON, r.event.Facts = nil, nil // they may be large
	if !more {
		r.gone = true
		r.halt()
		return
	}
	if a := r.opt.CancelAfter; a != nil && a.Event == t && (a.Node == "" || a.Node == node) {
		if r.seen++; r.seen == max(a.Nth, 1) {
			r.cancelNow()
		}
	}
}

func (r *run) emitWorkflowStarted() {
	b := r.enc.begin(EventWorkflowStarted)
	b = append(b, `{"inputs":`...)
	b = r.in.Inputs.AppendJSON(b)
	r.enc.buf = append(b, "}}"...)
	r.emitWire(EventWorkflowStarted, "", &noFacts)
}

func (r *run) emitNodeStarted(call *Call) {
	b := r.enc.begin(EventNodeStarted)
	b = append(b, `{"inputs":null,"created_at":`...)
	b = strconv.AppendInt(b, call.started.Unix(), 10)
	b = append(b, ',')
	b = append(b, call.node.head...)
	b = appendName(b, "thoughts")
	b = AppendQuoted(b, call.node.spec.Thoughts)
	r.enc.buf = append(b, "}}"...)
	r.emitWire(EventNodeStarted, call.id, callFacts(call))
}

// emitNodeFinished tells how an execution ended. Inputs, and then outputs, for which there is no
// room are left out: the node or the run has failed because of them.
func (r *run) emitNodeFinished(call *Call) {
	now := r.clock.Now()
	call.elapsed = now.Sub(call.started)
	outs := r.st.nodes[call.node.index].outs
	r.slots = append(r.slots[:0], call.ins...)
	if !r.small(call) {
		outs = r.fitEvent(call, outs)
		r.enc.reserve(r.st.outSize(call.node.index) + inputSize(call))
	}
	for i := range r.slots {
		if s := r.slots[i].value.Stream(); s != nil {
			text, _ := s.result()
			r.slots[i].value = String(text)
		}
		r.slots[i].value = r.redact(r.slots[i].value)
	}
	b := r.enc.begin(EventNodeFinished)
	b = append(b, `{"inputs":`...)
	b = appendSlots(b, r.slots)
	b = append(b, `,"outputs":{"_created_time":`...)
	b = r.enc.appendTime(b, call.started)
	b = append(b, `,"_elapsed_time":`...)
	b = appendSeconds(b, call.elapsed)
	for _, o := range outs {
		b = append(b, ',')
		b = AppendQuoted(b, o.name)
		b = append(b, ':')
		b = o.value.AppendJSON(b)
	}
	b = append(b, `},`...)
	b = append(b, call.node.head...)
	b = appendName(b, "error")
	if call.err != nil {
		b = AppendQuoted(b, r.redactText(errorText(call.err)))
	} else {
		b = append(b, "null"...)
	}
	b = appendName(b, "elapsed_time")
	b = appendSeconds(b, call.elapsed)
	b = appendName(b, "created_at")
	b = r.enc.appendTime(b, now)
	r.enc.buf = append(b, "}}"...)
	r.emitWire(EventNodeFinished, call.id, callFacts(call))
}

// fitEvent leaves out of the inputs in r.slots, and of outs, what there is no room for.
func (r *run) fitEvent(call *Call, outs []slot) []slot {
	size, ins := r.st.outSize(call.node.index), inputSize(call)
	most := min(r.opt.Limits.Event, r.opt.Limits.Events-r.bytes)
	if size+ins <= most {
		return outs
	}
	r.room(size + ins)
	r.slots = r.slots[:0]
	if size > most {
		return nil
	}
	return outs
}

// emitContainerFinished tells that the last turn of a container is over.
func (r *run) emitContainerFinished(n *node, started time.Time, ins []slot) {
	c := newCall(r, n)
	c.ins, c.long, c.started = ins, len(ins) > 0, started
	r.emitNodeFinished(c)
}

func (r *run) emitMessage(content string, start, end bool, sound []byte) {
	if !r.room(textSize(content) + 2*int64(len(sound))) {
		return
	}
	r.enc.reserve(int64(len(content)))
	b := r.enc.begin(EventMessage)
	b = append(b, `{"content":`...)
	content = asWritten(r.redactText(content))
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
	r.enc.buf = append(b, "}}"...)
	r.emitWire(EventMessage, "", &Facts{Message: Piece{content, start, end}})
}

func (r *run) emitMessageEnd(said *Said, reference Value) {
	data := NewObject(4)
	for _, f := range [...]slot{
		{"status", said.Status}, {"attachment", said.Attachment}, {"downloads", said.Downloads}, {"reference", reference},
	} {
		if f.value.Truthy() && r.room(f.value.Size()) {
			data.Set(f.name, f.value)
		}
	}
	r.emitData(EventMessageEnd, "", data.Value())
}

func (r *run) emitUserInputs(fields Value, tips string) {
	r.emitData(EventUserInputs, "", Object("inputs", fields, "tips", tips))
}

func (r *run) emitWorkflowFinished(outputs Value) {
	now := r.clock.Now()
	r.enc.reserve(outputs.Size() + r.inputs.Size())
	b := r.enc.begin(EventWorkflowFinished)
	b = append(b, `{"inputs":`...)
	b = r.inputs.AppendJSON(b)
	b = appendName(b, "outputs")
	b = outputs.AppendJSON(b)
	b = appendName(b, "elapsed_time")
	b = appendSeconds(b, now.Sub(r.began))
	b = appendName(b, "created_at")
	b = r.enc.appendTime(b, now)
	f := &noFacts
	if u := r.usage; u.Calls > 0 {
		f = &Facts{Usage: u.Value()}
		b = appendName(b, "usage")
		b = f.Usage.AppendJSON(b)
	}
	r.enc.buf = append(b, "}}"...)
	r.emitWire(EventWorkflowFinished, "", f)
}

func (r *run) emitData(t EventType, node string, data Value) {
	r.enc.reserve(data.Size())
	b := r.enc.begin(t)
	b = data.AppendJSON(b)
	r.enc.buf = append(b, '}')
	if t == EventMessageEnd || t == EventUserInputs {
		r.bytes += int64(len(r.enc.buf))
	}
	var f *Facts
	if t != EventResult {
		f = dataFacts(data)
	}
	r.emit(t, node, f)
}

// note keeps an entry of the log until the owner hands it out; workers call it.
func (r *run) note(typ EventType, n *node, data Value) {
	if !r.logs() || typ == EventWarning && !r.isNew(data.Get("text").Str()) {
		return
	}
	if err := within(ErrEventTooLarge, data.Size(), r.opt.Limits.Event); err != nil {
		data = Object("component_id", data.Get("component_id"), "tool_name", data.Get("tool_name"), "error", err.Error())
	}
	id := ""
	if n != nil {
		id = n.id
	}
	r.add(typ, id, r.redact(data))
}

// flushNotes hands out what workers noted, before the event that closes what they worked for.
func (r *run) flushNotes() {
	if !r.logs() {
		return
	}
	for _, n := range r.takeNotes() {
		r.number = n.number
		r.emitData(n.typ, n.node, n.data)
	}
	r.number = 0
}
