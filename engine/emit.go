package engine

import (
	"encoding/hex"
	"slices"
	"strconv"
)

// emitWire hands out an event that counts, see Limits.Events.
func (r *run) emitWire(t EventType, node string) {
	r.bytes += int64(len(r.enc.buf))
	r.emit(t, node)
}

// emit hands out the event that enc.buf holds.
func (r *run) emit(t EventType, node string) {
	if r.gone {
		return
	}
	r.seq++
	own := len(r.enc.buf) > largeEvent
	r.event = Event{Seq: r.seq, Type: t, Node: node, JSON: r.enc.buf, Own: own}
	if own {
		r.enc.buf = nil
	}
	more := r.yield(&r.event, nil)
	r.event.JSON = nil // it may be large
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
	r.emitWire(EventWorkflowStarted, "")
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
	r.emitWire(EventNodeStarted, call.id)
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
	r.emitWire(EventNodeFinished, call.id)
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
func (r *run) emitContainerFinished(n *node, ins []slot, call *Call) {
	c := Call{run: r, node: n, id: n.id}
	c.ins, c.long = ins, len(ins) > 0
	c.started = r.began
	if call != nil {
		c.started = call.started
	} else if s := r.scope(n.index); s != nil {
		c.started = s.started
	}
	r.emitNodeFinished(&c)
}

func (r *run) emitMessage(content string, start, end bool, sound []byte) {
	if !r.room(textSize(content) + 2*int64(len(sound))) {
		return
	}
	r.enc.reserve(int64(len(content)))
	b := r.enc.begin(EventMessage)
	b = append(b, `{"content":`...)
	b = AppendQuoted(b, r.redactText(content))
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
	r.emitWire(EventMessage, "")
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
	if u := r.usage; u.Calls > 0 {
		b = appendName(b, "usage")
		b = u.Value().AppendJSON(b)
	}
	r.enc.buf = append(b, "}}"...)
	r.emitWire(EventWorkflowFinished, "")
}

func (r *run) emitData(t EventType, node string, data Value) {
	r.enc.reserve(data.Size())
	b := r.enc.begin(t)
	b = data.AppendJSON(b)
	r.enc.buf = append(b, '}')
	if t == EventMessageEnd || t == EventUserInputs {
		r.bytes += int64(len(r.enc.buf))
	}
	r.emit(t, node)
}

// note keeps an entry of the log until the owner hands it out; workers call it.
func (r *run) note(typ EventType, n *node, data Value) {
	if !r.logs() || typ == EventWarning && !r.firstWarning(data.Get("text").Str()) {
		return
	}
	if err := within(ErrEventTooLarge, data.Size(), r.opt.Limits.Event); err != nil {
		data = Object("component_id", data.Get("component_id"), "tool_name", data.Get("tool_name"), "error", err.Error())
	}
	id := ""
	if n != nil {
		id = n.id
	}
	data = r.redact(data)
	r.mu.Lock()
	r.notes = append(r.notes, note{typ, id, data})
	r.mu.Unlock()
	select {
	case r.signal <- struct{}{}:
	default:
	}
}

// firstWarning reports whether a warning is new: one that says the same as another adds nothing.
func (r *run) firstWarning(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.warned, text) {
		return false
	}
	r.warned = append(r.warned, text)
	return true
}

// logs reports whether entries that are no events of the wire are wanted.
func (r *run) logs() bool { return r.opt.Internal || r.opt.Checkpoints }

// flushNotes hands out what workers noted, before the event that closes what they worked for.
func (r *run) flushNotes() {
	if !r.logs() {
		return
	}
	r.mu.Lock()
	notes := r.notes
	r.notes = nil
	r.mu.Unlock()
	for _, n := range notes {
		r.emitData(n.typ, n.node, n.data)
	}
}
