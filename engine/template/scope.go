package template

// scope holds the variables set inside of a loop, macro or block tag. A name is looked up from the innermost scope
// outwards; setting it always sets it in the innermost one.
type scope struct {
	parent *scope
	ids    []int
	values []value
	places map[int]int // by id, once there are many
}

// manyVariables is the number from which a scope keeps a map.
const manyVariables = 12

func (s *scope) find(id int) int {
	if s.places != nil {
		if i, ok := s.places[id]; ok {
			return i
		}
		return -1
	}
	for i, k := range s.ids {
		if k == id {
			return i
		}
	}
	return -1
}

func (s *scope) set(id int, v value) {
	if i := s.find(id); i >= 0 {
		s.values[i] = v
		return
	}
	s.ids = append(s.ids, id)
	s.values = append(s.values, v)
	if s.places != nil {
		s.places[id] = len(s.ids) - 1
	} else if len(s.ids) > manyVariables {
		s.places = make(map[int]int, 2*manyVariables)
		for i, k := range s.ids {
			s.places[k] = i
		}
	}
}

// clear forgets all variables.
func (s *scope) clear() {
	s.ids, s.values, s.places = s.ids[:0], s.values[:0], nil
}

// set assigns a variable in the current scope.
func (r *render) set(id int, v value) {
	if r.scope == nil {
		r.root[id] = v
	} else {
		r.scope.set(id, v)
	}
}

// lookup finds a variable: in the scopes, among the variables of the render, then among the global functions.
func (r *render) lookup(id int) value {
	for s := r.scope; s != nil; s = s.parent {
		if i := s.find(id); i >= 0 {
			return s.values[i]
		}
		r.steps--
	}
	if v := r.root[id]; v != nil {
		return v
	}
	v := r.find(r.t.names[id])
	r.root[id] = v
	return v
}

func (r *render) find(name string) value {
	if r.shown != nil {
		if v, text, ok := r.shown(name); ok {
			return fromText(v, text)
		}
	}
	if r.vars != nil {
		if v, ok := r.vars(name); ok {
			return fromEngine(v)
		}
	}
	if g := findCallable(r.tables.globals, name); g != nil {
		return &function{callable: g}
	}
	if name == "self" {
		return &self{}
	}
	return &undefined{"\"" + name + "\" is undefined"}
}

// within runs something in a new scope below parent.
//
//go:noinline
func (r *render) within(parent *scope, run func(*scope)) {
	outer := r.scope
	r.scope = &scope{parent: parent}
	run(r.scope)
	r.scope = outer
}
