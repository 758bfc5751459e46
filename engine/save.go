package engine

import (
	"fmt"
	"slices"
)

// stateKeys are the members of a document that hold state, in the order they are added when
// missing.
var stateKeys = [...]string{"path", "history", "retrieval", "memory", "globals", "waiting", "run", "task_id"}

// Save returns the document with its state: the original, with unknown members and the order of
// names, and the current path, history, retrieval, memory, globals and outputs of each node. In the
// middle of a run it also holds the position of the run.
func (c *Canvas) Save(st *State) []byte {
	b := []byte{'{'}
	member := func(key string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = AppendQuoted(b, key)
		b = append(b, ':')
	}
	for k, v := range c.doc.Fields() {
		switch {
		case k == "components":
			member(k)
			b = c.appendComponents(b, st)
		case !isStateKey(k):
			member(k)
			b = v.AppendJSON(b)
		case st.has(k):
			member(k)
			b = st.appendMember(b, k)
		}
	}
	for _, k := range stateKeys {
		if c.doc.find(k) < 0 && st.has(k) {
			member(k)
			b = st.appendMember(b, k)
		}
	}
	return append(b, '}')
}

func isStateKey(key string) bool { return slices.Contains(stateKeys[:], key) }

// has reports whether a state member is written at all.
func (s *State) has(key string) bool {
	switch key {
	case "waiting":
		return len(s.waiting) > 0
	case "run":
		return s.progress != nil
	case "task_id":
		return s.taskID != ""
	}
	return true
}

// appendMember appends one bucket in the form of the document.
func (s *State) appendMember(b []byte, key string) []byte {
	switch key {
	case "path":
		return s.canvas.appendIDs(b, s.path)
	case "history":
		return s.appendHistory(b)
	case "retrieval":
		return s.appendRetrieval(b)
	case "memory":
		return List(s.memory...).AppendJSON(b)
	case "globals":
		return s.globals.append(b)
	case "waiting":
		return s.canvas.appendIDs(b, s.waiting)
	case "run":
		return s.progress.value(s).AppendJSON(b)
	}
	return AppendQuoted(b, s.taskID)
}

func (s *State) appendHistory(b []byte) []byte {
	b = append(b, '[')
	for i, t := range s.history {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = AppendQuoted(b, t.Role)
		b = append(b, ',')
		b = t.Content.AppendJSON(b)
		b = append(b, ']')
	}
	return append(b, ']')
}

func (s *State) appendRetrieval(b []byte) []byte {
	b = append(b, '[')
	for i := range s.retrieval {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, `{"chunks":`)
		b = s.retrieval[i].chunks.append(b)
		b = appendText(b, `,"doc_aggs":`)
		b = s.retrieval[i].aggs.append(b)
		b = append(b, '}')
	}
	return append(b, ']')
}

func (c *Canvas) appendComponents(b []byte, st *State) []byte {
	b = append(b, '{')
	for i := range c.nodes {
		n := &c.nodes[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendQuoted(b, n.id)
		b = append(b, ':')
		if !st.nodes[i].touched {
			b = n.entry.AppendJSON(b)
			continue
		}
		b = n.appendEntry(b, st.nodes[i].outs)
	}
	return append(b, '}')
}

// appendEntry appends the node's member of components with its outputs as they are now.
func (n *node) appendEntry(b []byte, outs []slot) []byte {
	return appendWith(b, n.entry, "obj", func(b []byte) []byte {
		return appendWith(b, n.entry.Get("obj"), "params", func(b []byte) []byte {
			return appendWith(b, n.params, "outputs", func(b []byte) []byte {
				return appendOutputs(b, n.params.Get("outputs"), outs)
			})
		})
	})
}

// appendWith appends an object with one member written by put, in its place or at the end.
func appendWith(b []byte, v Value, key string, put func([]byte) []byte) []byte {
	b = append(b, '{')
	found := false
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendQuoted(b, v.Key(i))
		b = append(b, ':')
		if v.Key(i) == key {
			found = true
			b = put(b)
		} else {
			b = v.At(i).AppendJSON(b)
		}
	}
	if !found {
		if v.Len() > 0 {
			b = append(b, ',')
		}
		b = AppendQuoted(b, key)
		b = append(b, ':')
		b = put(b)
	}
	return append(b, '}')
}

// appendOutputs puts values into the declared outputs; an undeclared output gets a slot with its
// kind as type.
func appendOutputs(b []byte, declared Value, outs []slot) []byte {
	b = append(b, '{')
	for i, o := range outs {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendQuoted(b, o.name)
		b = append(b, ':')
		value := func(b []byte) []byte { return o.value.AppendJSON(b) }
		if slot := declared.Get(o.name); slot.Kind() == KindObject {
			b = appendWith(b, slot, "value", value)
			continue
		}
		kind := o.value.Kind()
		if kind == KindStream {
			kind = KindString
		}
		b = appendText(b, `{"type":"`)
		b = append(b, kind.String()...)
		b = appendText(b, `","value":`)
		b = append(value(b), '}')
	}
	return append(b, '}')
}

// State returns the state the document was stored with, as a fresh copy.
func (c *Canvas) State() *State {
	st, err := c.readState(c.doc)
	if err != nil {
		// Load read the same document without an error.
		return c.emptyState()
	}
	return st
}

// Restore reads the state of a saved document of this canvas. Nodes that the canvas lacks are
// skipped, unless the state was saved in the middle of a run that needs them.
func (c *Canvas) Restore(saved []byte) (*State, error) {
	doc, err := ParseJSON(saved)
	if err != nil {
		return nil, err
	}
	if doc, err = Complete(c.registry, doc); err != nil {
		return nil, err
	}
	return c.foreignState(upgrade(c.registry, doc))
}

// foreignState reads a state that does not come from the canvas's own document: every node's
// outputs are written again when it is saved.
func (c *Canvas) foreignState(doc Value) (*State, error) {
	st, err := c.readState(doc)
	if err != nil {
		return nil, err
	}
	for i := range st.nodes {
		st.nodes[i].touched = len(st.nodes[i].outs) > 0 || len(c.nodes[i].declared) > 0
	}
	return st, nil
}

func (c *Canvas) emptyState() *State {
	st := &State{canvas: c, variables: c.env, nodes: make([]nodeState, len(c.nodes)), ran: make([]bool, len(c.nodes))}
	room := 0
	for i := range c.nodes {
		room += c.nodes[i].room()
	}
	slots := make([]slot, room) // one piece of memory for the outputs of all nodes
	for i := range c.nodes {
		n := c.nodes[i].room()
		st.nodes[i].outs = slots[:0:n]
		slots = slots[n:]
	}
	return st
}

// room returns the number of outputs a node is likely to have.
func (n *node) room() int { return max(len(n.declared), len(n.spec.Outputs), 1) }

// readState reads the state members of a document. All of them are optional.
func (c *Canvas) readState(doc Value) (*State, error) {
	st := c.emptyState()
	st.globals = globalsOf(doc)
	for _, g := range [...]slot{
		{"sys.query", String("")},
		{"sys.user_id", String("")},
		{"sys.conversation_turns", Int(0)},
		{"sys.files", List()},
		{historyVariable, List()},
	} {
		if _, ok := st.globals.get(g.name); !ok {
			st.globals.set(g.name, g.value)
		}
	}
	for _, h := range doc.Get("history").Elements() {
		st.history = append(st.history, turnOf(h))
	}
	st.recalled = readRecalled(doc.Get("recalled"))
	st.defineEnv()
	st.retrieval = readRetrieval(doc.Get("retrieval"))
	st.memory = append(st.memory, elements(doc.Get("memory"))...)
	st.taskID = doc.Get("task_id").Str()
	c.readOutputs(doc.Get("components"), st)
	for id, outs := range doc.Get("nodes").Fields() {
		if i, ok := c.index[id]; ok {
			st.nodes[i].outs = readSlots(outs)
		}
	}
	for _, id := range doc.Get("path").Elements() {
		if i, ok := c.index[id.Str()]; ok {
			st.path = append(st.path, i)
		}
	}
	waiting, err := c.indexes(doc.Get("waiting"))
	if err != nil {
		return nil, err
	}
	st.waiting = waiting
	if run := doc.Get("run"); run.Kind() == KindObject {
		if st.progress, err = c.readProgress(run, st); err != nil {
			return nil, err
		}
	} else if !run.IsNull() {
		return nil, fmt.Errorf("%w: run is a %s; expected an object", ErrState, run.Kind())
	}
	return st, nil
}

// readRetrieval accepts a list of entries, of which some may be empty lists, and one entry alone.
func readRetrieval(v Value) []Reference {
	if v.Kind() == KindObject {
		if v.Get("chunks").Len() == 0 && v.Get("doc_aggs").Len() == 0 {
			return nil
		}
		v = List(v)
	}
	var list []Reference
	for _, e := range v.Elements() {
		list = append(list, readReference(e))
	}
	return list
}

func (c *Canvas) readOutputs(components Value, st *State) {
	for id, entry := range components.Fields() {
		i, ok := c.index[id]
		if !ok {
			continue
		}
		for name, out := range entry.Get("obj").Get("params").Get("outputs").Fields() {
			v := out
			if out.Kind() == KindObject {
				v = out.Get("value")
			}
			if name == "_created_time" || name == "_elapsed_time" {
				continue
			}
			st.nodes[i].outs = append(st.nodes[i].outs, slot{name, v})
		}
	}
}
