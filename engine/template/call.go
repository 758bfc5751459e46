package template

import (
	"slices"
	"strings"
)

// argumentList holds the arguments of a call as parsed.
type argumentList struct {
	plain      []node
	names      []string
	named      []node
	star       node // *list
	doubleStar node // **object
}

// args holds the evaluated arguments of a call. After bind, all are in plain, and omitted ones are
// nil or beyond its end.
type args struct {
	plain []value
	names []string
	named []value
}

// eval evaluates the arguments. A nil list is empty.
func (l *argumentList) eval(r *render) *args {
	if l == nil {
		return &args{}
	}
	a := &args{plain: r.evalAll(l.plain)}
	if l.star.expr != nil {
		a.plain = append(a.plain, collect(r, r.eval(l.star))...)
	}
	for i, n := range l.named {
		a.add(r, l.names[i], r.eval(n))
	}
	if l.doubleStar.expr != nil {
		d, ok := r.eval(l.doubleStar).(*dict)
		if !ok {
			r.fail("the argument behind ** is not an object")
		}
		for _, e := range d.all() {
			name, ok := asText(e.key)
			if !ok {
				r.fail("the object behind ** has a key that is not a string")
			}
			a.add(r, name, e.value)
		}
	}
	return a
}

// add appends a named argument.
func (a *args) add(r *render, name string, v value) {
	r.spend(1 + len(a.names)/8)
	if slices.Contains(a.names, name) {
		r.fail("argument %q is given twice", name)
	}
	a.names, a.named = append(a.names, name), append(a.named, v)
}

// take removes a named argument and returns it, or nil.
func (a *args) take(name string) value {
	for i, n := range a.names {
		if n == name {
			v := a.named[i]
			a.names = append(a.names[:i:i], a.names[i+1:]...)
			a.named = append(a.named[:i:i], a.named[i+1:]...)
			return v
		}
	}
	return nil
}

// at returns argument i, or nil.
func (a *args) at(i int) value {
	if i < len(a.plain) {
		return a.plain[i]
	}
	return nil
}

// or returns argument i, or standard if it was omitted.
func (a *args) or(i int, standard value) value {
	if v := a.at(i); v != nil {
		return v
	}
	return standard
}

// shift removes the first argument and returns it, or nil.
func (a *args) shift() value {
	v := a.at(0)
	if v != nil {
		a.plain = a.plain[1:]
	}
	return v
}

// copy returns arguments that can be shifted, taken and bound separately.
func (a args) copy() *args { return &a }

// text returns argument i as a string, or standard if it was omitted.
func (a *args) text(r *render, i int, standard string) string {
	v := a.or(i, standard)
	r.needDefined(v)
	s, ok := asText(v)
	if !ok {
		r.fail("argument %d must be a string, not %s", i+1, typeName(v))
	}
	return s
}

// int returns argument i as an integer, or standard if it was omitted.
func (a *args) int(r *render, i, standard int) int { return r.needInt(a.or(i, int64(standard))) }

// truth returns argument i as a condition, or standard if it was omitted.
func (a *args) truth(i int, standard bool) bool { return truth(a.or(i, standard)) }

// callable is a filter, test, method or global function.
type callable struct {
	name   string
	needs  int    // number of required arguments
	params string // names separated by spaces; "*" passes any arguments unchanged
	run    method
}

// method implements a callable. self is the input of a filter or test, or the owner of a method.
type method = func(r *render, self value, a *args) value

// tables holds all callables by the kind of their owner. They are reached through the render
// because some of them look up others.
type tables struct {
	filters, tests, globals, strings, lists, tuples, dicts []callable
}

var builtin = tables{
	filters: filterTable[:], tests: testTable[:], globals: globalTable[:], strings: stringMethods[:],
	lists: listMethods[:], tuples: tupleMethods[:], dicts: dictMethods[:],
}

// findCallable returns the callable with the given name, or nil.
func findCallable(table []callable, name string) *callable {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// apply binds the arguments and calls the implementation.
func (c *callable) apply(r *render, self value, a *args) value {
	r.spend(1)
	if c.params != "*" {
		c.bind(r, a)
	}
	return c.run(r, self, a)
}

// bind moves named arguments to their positions.
func (c *callable) bind(r *render, a *args) {
	count := 0
	if c.params != "" {
		count = strings.Count(c.params, " ") + 1
	}
	if len(a.plain) > count {
		r.fail("%s takes at most %d arguments, got %d", c.name, count, len(a.plain))
	}
	if len(a.names) > 0 {
		bound := make([]value, count)
		copy(bound, a.plain)
		for i, name := range strings.Fields(c.params) {
			if v := a.take(name); v != nil && bound[i] != nil {
				r.fail("%s got the argument %q twice", c.name, name)
			} else if v != nil {
				bound[i] = v
			}
		}
		if len(a.names) > 0 {
			r.fail("%s has no argument %q", c.name, a.names[0])
		}
		a.plain = bound
	}
	for i := range c.needs {
		if a.at(i) == nil {
			r.fail("%s needs the argument %q", c.name, strings.Fields(c.params)[i])
		}
	}
}

// function is a callable used as a value. self is the owner of a method.
type function struct {
	*callable
	self value
}

func (f *function) invoke(r *render, a *args) value { return f.apply(r, f.self, a) }

// methodOf returns a method as a value, or nil if the table has no method with that name.
func methodOf(table []callable, name string, self value) value {
	if m := findCallable(table, name); m != nil {
		return &function{m, self}
	}
	return nil
}
