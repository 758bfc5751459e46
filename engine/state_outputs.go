package engine

import (
	"slices"
	"strings"
)

// nodeState is the state of one node between its executions.
type nodeState struct {
	outs    []slot
	dirty   bool // changed since the last checkpoint
	touched bool // its document entry must be rewritten on save
	shared  bool // a view reads outs too: they are copied before they change
}

// own makes the outputs of a node safe to change.
func (n *nodeState) own() {
	if n.shared {
		n.outs, n.shared = slices.Clone(n.outs), false
	}
}

// slot is a named value.
type slot struct {
	name  string
	value Value
}

// out finds an output; ok is false when the node has no such slot.
func (n *nodeState) out(name string) (Value, bool) {
	for i := range n.outs {
		if n.outs[i].name == name {
			return n.outs[i].value, true
		}
	}
	return Null, false
}

// outSize returns the size of the outputs of a node.
func (s *State) outSize(node nodeIndex) int64 {
	n := int64(0)
	for i := range s.nodes[node].outs {
		o := &s.nodes[node].outs[i]
		n += slotSize(o.name, o.value)
	}
	return n
}

// setOut sets an output of a node.
func (s *State) setOut(node nodeIndex, name string, v Value) {
	n := &s.nodes[node]
	s.touch(node)
	n.own()
	for i := range n.outs {
		if n.outs[i].name == name {
			s.outBytes += v.Size() - n.outs[i].value.Size()
			n.outs[i].value = v
			return
		}
	}
	s.outBytes += slotSize(name, v)
	n.outs = append(n.outs, slot{name, v})
}

// touch marks a node as changed.
func (s *State) touch(node nodeIndex) {
	n := &s.nodes[node]
	n.touched = true
	if !n.dirty {
		n.dirty = true
		s.dirty = append(s.dirty, node)
	}
}

// clearOuts sets every output to null, and removes those that only an execution can have.
func (s *State) clearOuts(node nodeIndex) {
	n := &s.nodes[node]
	if len(n.outs) == 0 {
		return
	}
	n.own()
	kept := 0
	for i := range n.outs {
		o := &n.outs[i]
		if strings.HasPrefix(o.name, "_") {
			s.outBytes -= slotSize(o.name, o.value)
			continue
		}
		s.outBytes += Null.Size() - o.value.Size()
		if kept != i {
			n.outs[kept].name = o.name
		}
		n.outs[kept].value = Null
		kept++
	}
	n.outs = n.outs[:kept]
	s.touch(node)
}

// dropError removes the error of an earlier execution.
func (s *State) dropError(node nodeIndex) {
	n := &s.nodes[node]
	for i := range n.outs {
		if n.outs[i].name == errorOutput {
			s.outBytes -= slotSize(errorOutput, n.outs[i].value)
			n.own()
			n.outs = append(n.outs[:i], n.outs[i+1:]...)
			s.touch(node)
			return
		}
	}
}

// errorOutput is the output that holds the text of a node's error.
const errorOutput = "_ERROR"

// Output returns an output of a node by name.
func (s *State) Output(node, name string) (Value, bool) {
	i, ok := s.canvas.index[node]
	if !ok {
		return Null, false
	}
	return s.nodes[i].out(name)
}

// Outputs returns all values a node holds, in order.
func (s *State) Outputs(node string) Value {
	i, ok := s.canvas.index[node]
	if !ok {
		return Null
	}
	return s.outputsOf(i)
}

func (s *State) outputsOf(node nodeIndex) Value {
	outs := s.nodes[node].outs
	if len(outs) == 0 {
		return emptyObject
	}
	b := NewObject(len(outs))
	for _, o := range outs {
		b.Set(o.name, o.value)
	}
	return b.Value()
}

// SetOutput sets an output of a node, for a rerun with edited values. Errors: an unknown node, and
// a value of another type than the output's.
func (s *State) SetOutput(node, name string, v Value) error {
	i, ok := s.canvas.index[node]
	if !ok {
		return s.canvas.unknownNode(String(node))
	}
	if err := s.canvas.nodes[i].checkOutput(name, v); err != nil {
		return err
	}
	s.setOut(i, name, v)
	return nil
}
