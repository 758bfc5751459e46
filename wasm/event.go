package main

import (
	"strconv"
	"time"

	"github.com/easel-canvas/easel/engine"
)

// appendNumbered appends an event of the engine with the number of its record.
func appendNumbered(b []byte, e *engine.Event) []byte {
	b = append(b, e.JSON[:len(e.JSON)-1]...)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, e.Seq, 10)
	return append(b, '}')
}

// set takes the members from the first event of a run.
func (h *head) set(e *engine.Event) {
	v := e.Value()
	created, _ := v.Get("created_at").Int()
	h.make(v.Get("message_id").Str(), v.Get("task_id").Str(), time.Unix(created, 0))
}

func (h *head) make(messageID, taskID string, created time.Time) {
	b := append([]byte(nil), `,"message_id":`...)
	b = engine.AppendQuoted(b, messageID)
	b = append(b, `,"created_at":`...)
	b = strconv.AppendInt(b, created.Unix(), 10)
	b = append(b, `,"task_id":`...)
	b = engine.AppendQuoted(b, taskID)
	h.mu.Lock()
	h.text = b
	h.mu.Unlock()
}

// tell emits an event of the bridge itself. Ports may call it from several goroutines.
func (r *run) tell(name engine.EventType, data *engine.ObjectBuilder) {
	r.head.mu.Lock()
	head := r.head.text
	r.head.mu.Unlock()
	r.out.add(func(b []byte) []byte {
		b = append(b, `{"event":"`...)
		b = append(b, name...)
		b = append(b, '"')
		b = append(b, head...)
		b = append(b, `,"data":`...)
		b = data.Value().AppendJSON(b)
		return append(b, '}')
	})
}

// variables returns the variables of the conversation that changed since the last call; at first
// all of them. The goroutine that takes the events owns the state between two of them.
func (r *run) variables() {
	first := r.known == nil
	if first {
		r.known = map[string]engine.Value{}
	}
	changed := engine.NewObject(4)
	for name, v := range r.held.state.Globals() {
		if old, ok := r.known[name]; ok && engine.Equal(old, v) {
			continue
		}
		r.known[name] = v
		changed.Set(name, v)
	}
	if first || changed.Len() > 0 {
		r.tell(engine.EventVariablesChanged, engine.NewObject(1).Set("values", changed.Value()))
	}
}
