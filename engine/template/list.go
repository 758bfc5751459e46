package template

import "github.com/easel-canvas/easel/engine"

// list is a list that a template may change. One that comes from outside is unpacked when it is first looked into.
type list struct {
	items  []value
	source engine.Value // a list as long as it is not unpacked, otherwise null
}

//go:noinline
func newList(items []value) *list { return &list{items: items} }

func (l *list) size() int {
	if !l.source.IsNull() {
		return l.source.Len()
	}
	return len(l.items)
}

// all gives the elements; they belong to the list.
func (l *list) all() []value {
	if !l.source.IsNull() {
		l.items = make([]value, 0, l.source.Len())
		for _, e := range l.source.Elements() {
			l.items = append(l.items, fromEngine(e))
		}
		l.source = engine.Null
	}
	return l.items
}

// tuple is a list that cannot be changed. With names its elements have attributes, like the groups of "groupby".
type tuple struct {
	items []value
	names []string
}

func (t *tuple) size() int { return len(t.items) }

func (t *tuple) attr(_ *render, name string) value {
	for i, n := range t.names {
		if n == name {
			return t.items[i]
		}
	}
	return nil
}

// span is a range of integers.
type span struct{ start, stop, step int }

func (s *span) size() int {
	switch {
	case s.step > 0 && s.stop > s.start:
		return (s.stop-s.start-1)/s.step + 1
	case s.step < 0 && s.stop < s.start:
		return (s.start-s.stop-1)/-s.step + 1
	}
	return 0
}

func (s *span) at(i int) value { return int64(s.start + i*s.step) }

func (s *span) equal(t *span) bool {
	n := s.size()
	return n == t.size() && (n == 0 || s.start == t.start && (n == 1 || s.step == t.step))
}

func (s *span) attr(_ *render, name string) value {
	switch name {
	case "start":
		return int64(s.start)
	case "stop":
		return int64(s.stop)
	case "step":
		return int64(s.step)
	}
	return nil
}

// generator gives its elements once, one by one.
type generator struct{ next func() (value, bool) }
