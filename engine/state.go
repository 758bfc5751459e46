package engine

import (
	"slices"
	"strings"
)

// State is the mutable part of a canvas: the five buckets, the outputs of each node, and the
// progress of a run. One run at a time owns a State; until it ends, nothing else may use it.
type State struct {
	canvas    *Canvas
	globals   bucket
	history   []Turn
	retrieval []Reference
	memory    []Value // [user, assistant, summary]
	variables Value   // definitions of env variables: name -> {type, value}; shared with the document
	nodes     []nodeState
	ran       []bool // by node: has run in this run, or in this turn of the body around it
	path      []nodeIndex
	waiting   []nodeIndex // forms and waiting nodes with which a paused run continues
	progress  *progress   // where a run stands that is neither finished nor paused; nil otherwise
	taskID    string
	principal Value       // of the run that owns the state; see [Options]
	dirty     []nodeIndex // nodes changed since the last checkpoint
	bytes     int64       // size of history, retrieval and memory; see recount
	outBytes  int64       // size of outputs, current once counted is set
	counted   bool

	recalled *recalled // of a conversation whose turns are stored apart; nil otherwise
}

// size returns the accounted size of everything in the state that grows.
func (s *State) size() int64 { return s.bytes + s.outBytes + s.globals.bytes }

// recount finds the size of a state of unknown origin. From then on the run that owns it keeps it
// current.
func (s *State) recount() {
	if !s.counted {
		s.counted, s.outBytes = true, 0
		for i := range s.nodes {
			s.outBytes += s.outSize(nodeIndex(i))
		}
	}
	s.bytes = 0
	for _, t := range s.history {
		s.bytes += t.Content.Size()
	}
	for i := range s.retrieval {
		s.bytes += s.retrieval[i].size()
	}
	for _, m := range s.memory {
		s.bytes += m.Size()
	}
}

// say adds an entry to the conversation.
func (s *State) say(t Turn) {
	s.history = append(s.history, t)
	s.bytes += t.Content.Size()
}

// Recall adds turns to a state that were said before, as in a conversation that a client keeps.
func Recall(s *State, turns ...Turn) {
	lines, _ := s.globals.get(historyVariable)
	asked, _ := s.globals.get("sys.conversation_turns")
	n, _ := asked.Int()
	for _, t := range turns {
		s.say(t)
		lines = lines.Append(String(t.Role + ": " + t.Text()))
		if t.Role == "user" {
			n++
		}
	}
	s.globals.set(historyVariable, lines)
	s.globals.set("sys.conversation_turns", Int(n))
}

// cite adds passages to the references of the last run.
func (s *State) cite(c citation) {
	last := &s.retrieval[len(s.retrieval)-1]
	before := last.size()
	last.add(c.node, c.chunks, c.aggs)
	s.bytes += last.size() - before
}

// Turn is one entry of the conversation: the role and the text. The text of a canvas is stored as
// all outputs of its last node.
type Turn struct {
	Role    string // user or assistant
	Content Value  // a text; of the assistant an object: output name -> value
}

// Text returns the text said so far.
func (t Turn) Text() string {
	if t.Content.Kind() == KindObject {
		return t.Content.Get("content").Text()
	}
	return t.Content.Text()
}

// TextLen estimates the length of Text from above.
func (t Turn) TextLen() int64 {
	if t.Content.Kind() == KindObject {
		return t.Content.Get("content").Size()
	}
	return t.Content.Size()
}

// Clone returns a copy that can be run by itself.
func (s *State) Clone() *State {
	c := *s
	c.globals = s.globals.clone()
	c.history = slices.Clone(s.history)
	c.retrieval = slices.Clone(s.retrieval)
	c.memory = slices.Clone(s.memory)
	c.path = slices.Clone(s.path)
	c.waiting = slices.Clone(s.waiting)
	c.dirty = slices.Clone(s.dirty)
	c.ran = slices.Clone(s.ran)
	if s.recalled != nil {
		stored := *s.recalled
		c.recalled = &stored
	}
	c.nodes = slices.Clone(s.nodes)
	for i := range c.nodes {
		c.nodes[i].outs, c.nodes[i].shared = slices.Clone(c.nodes[i].outs), false
	}
	if s.progress != nil {
		c.progress = s.progress.clone()
	}
	return &c
}

// view returns the state as it is now, to be read while the state itself changes. Values are
// immutable, so only their containers are copied, and the outputs of a node when they change.
func (s *State) view() *State {
	v := &State{
		canvas: s.canvas, globals: s.globals.clone(), history: s.history, memory: s.memory, variables: s.variables,
		ran: slices.Clone(s.ran), principal: s.principal,
	}
	for i := range s.nodes {
		s.nodes[i].shared = true
	}
	v.nodes = slices.Clone(s.nodes)
	if n := len(s.retrieval); n > 0 {
		v.retrieval = []Reference{s.retrieval[n-1].clone()}
	}
	return v
}

// Global returns a variable of the conversation, such as sys.query or env.city.
func (s *State) Global(name string) (Value, bool) { return s.globals.get(name) }

// SetGlobal sets a variable of the conversation.
func (s *State) SetGlobal(name string, v Value) { s.globals.set(name, v) }

// History returns the conversation, oldest first.
func (s *State) History() []Turn { return s.history }

// Path returns the ids of the nodes that the last run executed, in order.
func (s *State) Path() []string { return s.ids(s.path) }

// Waiting returns the ids of the nodes with which a paused run continues: forms, and other nodes of
// their batch.
func (s *State) Waiting() []string { return s.ids(s.waiting) }

// Paused reports whether the last run waits for a form.
func (s *State) Paused() bool { return len(s.waiting) > 0 }

// Unfinished reports whether the state was saved in the middle of a run; Canvas.Continue continues
// with it.
func (s *State) Unfinished() bool { return s.progress != nil && len(s.waiting) == 0 }

func (s *State) ids(nodes []nodeIndex) []string {
	ids := make([]string, len(nodes))
	for i, n := range nodes {
		ids[i] = s.canvas.nodes[n].id
	}
	return ids
}

// Reset resets the state for a new conversation: path, outputs and sys variables are cleared, env
// variables are set to their definitions. keepMemory leaves history, retrieval and memory alone.
func (s *State) Reset(keepMemory bool) {
	s.path, s.waiting, s.progress = s.path[:0], nil, nil
	clear(s.ran)
	for i := range s.nodes {
		s.clearOuts(nodeIndex(i))
	}
	if !keepMemory {
		s.history, s.retrieval, s.memory = nil, nil, nil
		if r := s.recalled; r != nil {
			s.recalled = &recalled{earlier: r.earlier + r.history}
		}
	}
	for i, k := range s.globals.keys {
		switch {
		case strings.HasPrefix(k, "sys."):
			s.globals.set(k, zeroLike(s.globals.vals[i]))
		case strings.HasPrefix(k, "env."):
			s.globals.set(k, s.envDefault(strings.TrimPrefix(k, "env.")))
		}
	}
}

// defineEnv sets the env variables that are defined and have no value yet. A blank counts as no
// value until something has run: later it is the value a run has set.
func (s *State) defineEnv() {
	for name := range s.variables.Fields() {
		key := "env." + name
		old, ok := s.globals.get(key)
		blank := old.IsNull() || old.Kind() == KindString && old.Str() == ""
		if !ok || blank && !begun(s) {
			s.globals.set(key, s.envDefault(name))
		}
	}
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

// turnOf reads an entry of the history of a document.
func turnOf(v Value) Turn {
	if v.Kind() == KindObject {
		return Turn{v.Get("role").Str(), v.Get("content")}
	}
	return Turn{v.At(0).Str(), v.At(1)}
}

// begun reports whether something was said in the conversation.
func begun(s *State) bool {
	return len(s.history) > 0 || s.recalled != nil && s.recalled.earlier > 0
}

// envDefault returns the defined value of an env variable, or the zero of its declared type.
func (s *State) envDefault(name string) Value {
	def, ok := s.variables.Lookup(name)
	if !ok {
		return String("")
	}
	if v := def.Get("value"); v.Truthy() || v.Kind() == KindNumber || v.Kind() == KindBool {
		return v
	}
	return ZeroOf(def.Get("type").Str())
}

// zeroLike returns the empty value of the same kind.
func zeroLike(v Value) Value {
	switch v.Kind() {
	case KindString:
		return String("")
	case KindBool, KindNumber:
		if v.Kind() == KindNumber && !v.IsInt() {
			return Float(0)
		}
		return Int(0)
	case KindList:
		return emptyList
	case KindObject:
		return emptyObject
	}
	return Null
}

// ZeroOf returns the empty value of a declared type: number, boolean, object, array<...>; anything
// else is "".
func ZeroOf(typ string) Value {
	typ = strings.ToLower(typ)
	switch {
	case strings.HasPrefix(typ, "number"), strings.HasPrefix(typ, "integer"):
		return Int(0)
	case strings.HasPrefix(typ, "boolean"):
		return Bool(false)
	case strings.HasPrefix(typ, "object"):
		return Object()
	case strings.HasPrefix(typ, "array"), strings.HasPrefix(typ, "list"):
		return List()
	}
	return String("")
}

// window returns the last n turns of the conversation, two entries each, oldest first.
func (s *State) window(n int) []Turn {
	if n <= 0 {
		return nil
	}
	return s.history[max(0, len(s.history)-2*n):]
}

// lookup resolves a reference. absent is true if it refers to a node that has not run in this run.
func (s *State) lookup(r *Ref) (v Value, absent bool, err error) {
	if r.Node == "" {
		v, ok := s.globals.at(r.slot, r.Expr)
		if !ok {
			v, ok, err = s.lookupGlobal(r.Expr)
		}
		if !ok && err == nil {
			err = r.notFound()
		}
		return v, false, err
	}
	slot := r.slot
	if slot == 0 {
		i, ok := s.canvas.index[r.Node]
		if !ok {
			return Null, false, r.notFound()
		}
		slot = int32(i) + 1
	}
	v, ok := s.nodes[slot-1].out(r.Output)
	if short := s.canvas.nodes[slot-1].spec.Short[r.Output]; !ok && short != "" {
		v, ok = s.nodes[slot-1].out(short)
	}
	ran := s.ran[slot-1]
	switch {
	case !ok && !ran:
		return Null, true, nil
	case !ok:
		return String(""), false, nil
	}
	if len(r.Path) > 0 {
		if err := CheckParse(v.Str()); err != nil {
			return Null, false, err
		}
		v = Walk(v, r.Path)
	}
	return v, !ran && v.IsNull(), nil
}

// lookupGlobal finds a variable by its whole name, or a member below the longest name that exists.
func (s *State) lookupGlobal(expr string) (v Value, ok bool, err error) {
	if isPrincipal(expr) {
		return principalMember(s.principal, expr), true, nil
	}
	if v, ok := s.globals.get(expr); ok {
		return v, true, nil
	}
	for i := len(expr) - 1; i > 0; i-- {
		if expr[i] != '.' {
			continue
		}
		if v, ok := s.globals.get(expr[:i]); ok {
			if err := CheckParse(v.Str()); err != nil {
				return Null, false, err
			}
			return Walk(v, strings.Split(expr[i+1:], ".")), true, nil
		}
	}
	return Null, false, nil
}

// assign writes to a reference: exactly the named path. Errors: a variable or node that does not
// exist, and a value that check refuses together with its parents.
func (s *State) assign(r *Ref, v Value, check func(old, v Value) error) error {
	if r.Node != "" {
		i, ok := s.canvas.index[r.Node]
		if !ok {
			return r.notFound()
		}
		old, _ := s.nodes[i].out(r.Output)
		if len(r.Path) > 0 {
			if err := CheckParse(old.Str()); err != nil {
				return err
			}
			v = Put(old, r.Path, v)
		}
		if err := check(old, v); err != nil {
			return err
		}
		s.setOut(i, r.Output, v)
		return nil
	}
	if old, ok := s.globals.get(r.Expr); ok {
		if err := check(old, v); err != nil {
			return err
		}
		s.globals.set(r.Expr, v)
		return nil
	}
	for i := len(r.Expr) - 1; i > 0; i-- {
		if r.Expr[i] != '.' {
			continue
		}
		if old, ok := s.globals.get(r.Expr[:i]); ok {
			if err := CheckParse(old.Str()); err != nil {
				return err
			}
			v = Put(old, strings.Split(r.Expr[i+1:], "."), v)
			if err := check(old, v); err != nil {
				return err
			}
			s.globals.set(r.Expr[:i], v)
			return nil
		}
	}
	return r.notFound()
}
