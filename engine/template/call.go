package template

import "strings"

// argumentList is how the arguments of a call are written.
type argumentList struct {
	plain      []expr
	names      []string
	named      []expr
	star       expr // *list
	doubleStar expr // **object
}

// args are the arguments of one call: by place, and by name. Once bound, all are by place and those not given nil.
type args struct {
	plain []value
	names []string
	named []value
}

// eval gives the arguments; a nil list has none.
func (l *argumentList) eval(r *render) *args {
	if l == nil {
		return &args{}
	}
	a := &args{plain: r.all(l.plain)}
	if l.star != nil {
		a.plain = append(a.plain, r.collect(r.eval(l.star))...)
	}
	for i, e := range l.named {
		a.add(r, l.names[i], r.eval(e))
	}
	if l.doubleStar != nil {
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

// add appends an argument by name.
func (a *args) add(r *render, name string, v value) {
	r.spend(1 + len(a.names)/8)
	for _, n := range a.names {
		if n == name {
			r.fail("argument %q is given twice", name)
		}
	}
	a.names, a.named = append(a.names, name), append(a.named, v)
}

// take removes an argument given by name; nil when it was not given.
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

// at is argument i, or nil when it was not given.
func (a *args) at(i int) value {
	if i < len(a.plain) {
		return a.plain[i]
	}
	return nil
}

// shift removes the first argument by place.
func (a *args) shift() value {
	v := a.at(0)
	if v != nil {
		a.plain = a.plain[1:]
	}
	return v
}

// copy is a with slices of its own.
func (a *args) copy() *args {
	return &args{append([]value(nil), a.plain...), append([]string(nil), a.names...), append([]value(nil), a.named...)}
}

// callable is a filter, test, method or global function.
type callable struct {
	name   string
	needs  int    // arguments that must be given
	params string // names of the parameters with blanks between them; "*" takes any arguments as they are
	run    func(r *render, self value, a *args) value
}

// findCallable looks a name up; nil when it is unknown.
func findCallable(table []callable, name string) *callable {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

// apply binds the arguments and runs.
func (c *callable) apply(r *render, self value, a *args) value {
	r.spend(1)
	if c.params != "*" {
		c.bind(r, a)
	}
	return c.run(r, self, a)
}

// bind moves the arguments given by name to their places.
func (c *callable) bind(r *render, a *args) {
	count := 0
	if c.params != "" {
		count = strings.Count(c.params, " ") + 1
	}
	if len(a.plain) > count {
		r.fail("%s takes at most %d arguments, got %d", c.name, count, len(a.plain))
	}
	if len(a.names) > 0 {
		c.place(r, a, count)
	}
	for i := range c.needs {
		if a.at(i) == nil {
			r.fail("%s needs the argument %q", c.name, strings.Fields(c.params)[i])
		}
	}
}

func (c *callable) place(r *render, a *args, count int) {
	bound := make([]value, count)
	copy(bound, a.plain)
	for i, name := range strings.Fields(c.params) {
		if v := a.take(name); v != nil {
			if bound[i] != nil {
				r.fail("%s got the argument %q twice", c.name, name)
			}
			bound[i] = v
		}
	}
	if len(a.names) > 0 {
		r.fail("%s has no argument %q", c.name, a.names[0])
	}
	a.plain = bound
}

// function is a callable as a value; for a method self is its owner.
type function struct {
	*callable
	self value
}

func (f *function) invoke(r *render, a *args) value { return f.apply(r, f.self, a) }

// call calls a value.
func (r *render) call(fn value, a *args) value {
	r.needDefined(fn)
	f, ok := fn.(invoker)
	if !ok {
		r.fail("%s cannot be called", r.describe(fn))
	}
	r.enter()
	v := f.invoke(r, a)
	r.depth--
	return v
}
