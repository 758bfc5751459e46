package engine

// This file keeps the state of a conversation in parts, so that a turn costs the same however many
// came before it: a head, which each turn replaces and whose size does not depend on their number,
// and what each turn adds to the lists of the document.

// Added has the entries that turns add to the lists of a document with state, oldest first.
type Added struct {
	History   []Value // entries of history: [role, content]
	Retrieval []Value // entries of retrieval: {chunks, doc_aggs}
	Memory    []Value // entries of memory: [user, assistant, summary]
}

// LookbackOf returns how much of a conversation the nodes of a canvas read.
func LookbackOf(c *Canvas) Lookback {
	var r Lookback
	for i := range c.nodes {
		r.merge(c.nodes[i].allLookback())
	}
	return r
}

func (n *node) allLookback() Lookback {
	r := n.lookback
	for _, t := range n.tools {
		r.merge(t.allLookback())
	}
	return r
}

// entry returns a turn as the history of a document has it.
func (t Turn) entry() Value { return List(String(t.Role), t.Content) }

// line returns a turn as sys.history has it.
func (t Turn) line() Value { return String(t.Role + ": " + t.Text()) }

// Split returns the head of a state, and what was added to its lists since [Join] or, for a
// state that does not come from there, all of them. sys.history is null in a head if its lines
// follow from the history.
func (s *State) Split() (head []byte, added Added) {
	stored := recalled{}
	if s.recalled != nil {
		stored = *s.recalled
	}
	for _, t := range s.history[stored.history:] {
		added.History = append(added.History, t.entry())
	}
	for i := range s.retrieval[stored.retrieval:] {
		added.Retrieval = append(added.Retrieval, s.retrieval[stored.retrieval+i].value())
	}
	added.Memory = append(added.Memory, s.memory[stored.memory:]...)
	rest := *s
	rest.history, rest.retrieval, rest.memory, rest.recalled = nil, nil, nil, nil
	if lines, ok := s.globals.get(historyVariable); ok && hasLines(s, lines) {
		rest.globals = s.globals.clone()
		rest.globals.put(historyVariable, Null)
	}
	head = rest.appendLog(nil, s.progress)
	said := Int(int64(stored.earlier + len(s.history)))
	head = append(said.AppendJSON(appendText(head[:len(head)-1], `,"said":`)), '}')
	return head, added
}

// HasTurnsApart reports whether a state comes from [Join], directly or by the log of a run.
func HasTurnsApart(s *State) bool { return s.recalled != nil }

// SetTurnsApart makes a state that does not come from [Join] one that does, of the turn after a
// document with state.
func SetTurnsApart(s *State, doc Value) {
	n := func(name string, most int) int { return min(doc.Get(name).Len(), most) }
	s.recalled = &recalled{
		history: n("history", len(s.history)), retrieval: n("retrieval", len(s.retrieval)),
		memory: n("memory", len(s.memory)),
	}
}

// hasLines reports whether lines follow from the history.
func hasLines(s *State, lines Value) bool {
	if lines.IsNull() {
		return true
	}
	if lines.Kind() != KindList || lines.Len() != len(s.history) {
		return false
	}
	for i, x := range lines.Elements() {
		if x.Kind() != KindString || x.Str() != s.history[i].line().Str() {
			return false
		}
	}
	return true
}

// Join returns the state of a conversation for its next turn: that of the canvas's document and the
// turns after it. head comes from the last turn, null without one. last are the entries that
// the last turns added, at least as many as [LookbackOf] counts; all reports that they are
// those of all turns.
func Join(c *Canvas, head Value, last Added, all bool) (*State, error) {
	if head.IsNull() {
		st := c.State()
		st.recalled = &recalled{history: len(st.history), retrieval: len(st.retrieval), memory: len(st.memory)}
		dropUnread(c, st)
		return st, nil
	}
	lines := last.History
	if all {
		last.History = append(elements(c.doc.Get("history")), last.History...)
		last.Memory = append(elements(c.doc.Get("memory")), last.Memory...)
	}
	said, _ := head.Get("said").Int()
	stored := recalled{
		earlier: max(int(said)-len(last.History), 0), history: len(last.History), memory: len(last.Memory),
	}
	head = head.With("history", listOf(last.History)).With("memory", listOf(last.Memory)).
		With("recalled", stored.value())
	if globals := head.Get("globals"); LookbackOf(c).Turns == AllTurns && globals.Get(historyVariable).IsNull() {
		head = head.With("globals", globals.With(historyVariable, linesOf(c.doc, lines)))
	}
	st, err := c.foreignState(head)
	if err == nil {
		dropUnread(c, st)
	}
	return st, err
}

// dropUnread drops the entries of history and memory that no node reads, and the lines of
// sys.history.
func dropUnread(c *Canvas, st *State) {
	r := LookbackOf(c)
	if more := len(st.memory) - r.Memories; more > 0 {
		st.memory = st.memory[more:]
		st.recalled.memory -= more
	}
	st.recalled.retrieval, st.retrieval = 0, nil
	if r.Turns == AllTurns {
		return
	}
	if more := len(st.history) - 2*r.Turns; more > 0 {
		st.history = st.history[more:]
		st.recalled.history -= more
		st.recalled.earlier += more
	}
	st.globals.put(historyVariable, Null)
}

// linesOf returns the lines of sys.history: those of the document and of the entries added to its
// history.
func linesOf(doc Value, added []Value) Value {
	lines := append([]Value(nil), elements(doc.Get("globals").Get(historyVariable))...)
	for _, x := range added {
		lines = append(lines, turnOf(x).line())
	}
	return listOf(lines)
}

// Joined returns a document with the state of a conversation: that of the document and of all
// turns after it. head comes from the last turn.
func Joined(doc, head Value, added Added) Value {
	globals := head.Get("globals")
	if globals.Get(historyVariable).IsNull() {
		globals = globals.With(historyVariable, linesOf(doc, added.History))
	}
	list := func(name string, more []Value) Value {
		return listOf(append(append([]Value(nil), elements(doc.Get(name))...), more...))
	}
	out := NewObject(doc.Len() + len(stateKeys))
	member := func(k string) Value {
		switch k {
		case "history":
			return list(k, added.History)
		case "retrieval":
			return list(k, added.Retrieval)
		case "memory":
			return list(k, added.Memory)
		case "globals":
			return globals
		}
		return head.Get(k)
	}
	for k, v := range doc.Fields() {
		switch {
		case k == "components":
			out.Set(k, withOutputs(v, head.Get("nodes")))
		case !isStateKey(k):
			out.Set(k, v)
		case !member(k).IsNull():
			out.Set(k, member(k))
		}
	}
	for _, k := range stateKeys {
		if doc.find(k) < 0 && !member(k).IsNull() {
			out.Set(k, member(k))
		}
	}
	return out.Value()
}

// withOutputs puts the outputs of nodes into the components of a document.
func withOutputs(components, nodes Value) Value {
	out := NewObject(components.Len())
	for id, entry := range components.Fields() {
		if outs := nodes.Get(id); !outs.IsNull() {
			obj := entry.Get("obj")
			params := obj.Get("params")
			declared, values := params.Get("outputs"), NewObject(outs.Len())
			for name, v := range outs.Fields() {
				if slot := declared.Get(name); slot.Kind() == KindObject {
					values.Set(name, slot.With("value", v))
				} else {
					values.Set(name, Object("type", v.Kind().String(), "value", v))
				}
			}
			entry = entry.With("obj", obj.With("params", params.With("outputs", values.Value())))
		}
		out.Set(id, entry)
	}
	return out.Value()
}
