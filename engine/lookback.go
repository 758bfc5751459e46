package engine

import "strings"

// This file keeps the state of a conversation in parts, so that a turn costs the same however many
// came before it: a head, which each turn replaces and whose size does not depend on their number,
// and what each turn adds to the lists of the document.

// Added has the entries that turns add to the lists of a document with state, oldest first.
type Added struct {
	History   []Value // entries of history: [role, content]
	Retrieval []Value // entries of retrieval: {chunks, doc_aggs}
	Memory    []Value // entries of memory: [user, assistant, summary]
}

// Lookback counts the turns and summaries of a conversation that nodes read.
type Lookback struct {
	Turns    int // the last turns; [AllTurns] for all of them
	Memories int // the last summaries
}

// AllTurns is the whole conversation, for [Setup.LookBack]; sys.history is complete then.
const AllTurns = -1

// merge makes r cover other too.
func (r *Lookback) merge(other Lookback) {
	if r.Turns != AllTurns && (other.Turns == AllTurns || other.Turns > r.Turns) {
		r.Turns = other.Turns
	}
	r.Memories = max(r.Memories, other.Memories)
}

// LookBack declares how much of the conversation the component reads with [CallInputs.History] and
// [CallInputs.Memories]. Canvases whose params name sys.history read all turns without it.
func (s *Setup) LookBack(l Lookback) {
	if s.owner != nil {
		s.owner.lookback.merge(l)
	}
}

// lookBackNamed adds what the params of the node name, and what a plugin may name when it runs.
func (n *node) lookBackNamed() {
	if strings.HasPrefix(n.spec.Name, PluginPrefix) || mentions(n.params, historyVariable) {
		n.lookback.Turns = AllTurns
	}
}

// mentions reports whether a string of v, or a key, contains text.
func mentions(v Value, text string) bool {
	switch v.Kind() {
	case KindString:
		return strings.Contains(v.Str(), text)
	case KindList:
		for _, x := range v.Elements() {
			if mentions(x, text) {
				return true
			}
		}
	case KindObject:
		for k, x := range v.Fields() {
			if strings.Contains(k, text) || mentions(x, text) {
				return true
			}
		}
	}
	return false
}

// Lookback returns how much of a conversation the nodes read.
func (c *Canvas) Lookback() Lookback {
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

// recalled counts the entries of a state that are stored already, see [State.Split].
type recalled struct {
	earlier                    int // entries of history that were not loaded
	history, retrieval, memory int // loaded entries at the beginning of each list
}

func (r *recalled) value() Value {
	return List(Int(int64(r.earlier)), Int(int64(r.history)), Int(int64(r.retrieval)), Int(int64(r.memory)))
}

// readRecalled is the reverse of value; nil for null.
func readRecalled(v Value) *recalled {
	if v.IsNull() {
		return nil
	}
	n := func(i int) int {
		x, _ := v.At(i).Int()
		return max(int(x), 0)
	}
	return &recalled{n(0), n(1), n(2), n(3)}
}

// entry returns a turn as the history of a document has it.
func (t Turn) entry() Value { return List(String(t.Role), t.Content) }

// line returns a turn as sys.history has it.
func (t Turn) line() Value { return String(t.Role + ": " + t.Text()) }

// turnOf reads an entry of the history of a document.
func turnOf(v Value) Turn {
	if v.Kind() == KindObject {
		return Turn{v.Get("role").Str(), v.Get("content")}
	}
	return Turn{v.At(0).Str(), v.At(1)}
}

// Split returns the head of a state, and what was added to its lists since [Canvas.Join] or, for a
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
	if lines, ok := s.globals.get(historyVariable); ok && s.hasLines(lines) {
		rest.globals = s.globals.clone()
		rest.globals.put(historyVariable, Null)
	}
	head = rest.appendLog(nil, s.progress)
	said := Int(int64(stored.earlier + len(s.history)))
	head = append(said.AppendJSON(appendText(head[:len(head)-1], `,"said":`)), '}')
	return head, added
}

// Joined reports whether the state comes from [Canvas.Join], directly or by the log of a run.
func (s *State) Joined() bool { return s.recalled != nil }

// Follow makes a state that does not come from [Canvas.Join] one that does, of the turn after a
// document with state.
func (s *State) Follow(doc Value) {
	n := func(name string, most int) int { return min(doc.Get(name).Len(), most) }
	s.recalled = &recalled{
		history: n("history", len(s.history)), retrieval: n("retrieval", len(s.retrieval)),
		memory: n("memory", len(s.memory)),
	}
}

// hasLines reports whether lines follow from the history.
func (s *State) hasLines(lines Value) bool {
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
// the last turns added, at least as many as [Canvas.Lookback] counts; all reports that they are
// those of all turns.
func (c *Canvas) Join(head Value, last Added, all bool) (*State, error) {
	if head.IsNull() {
		st := c.State()
		st.recalled = &recalled{history: len(st.history), retrieval: len(st.retrieval), memory: len(st.memory)}
		c.shorten(st)
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
	if globals := head.Get("globals"); c.Lookback().Turns == AllTurns && globals.Get(historyVariable).IsNull() {
		head = head.With("globals", globals.With(historyVariable, linesOf(c.doc, lines)))
	}
	st, err := c.foreignState(head)
	if err == nil {
		c.shorten(st)
	}
	return st, err
}

// shorten drops the entries of history and memory that no node reads, and the lines of sys.history.
func (c *Canvas) shorten(st *State) {
	r := c.Lookback()
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
