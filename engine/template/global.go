package template

// globalTable are the functions that exist without being variables.
var globalTable = [...]callable{
	{"range", 1, "start stop step", globalRange},
	{"dict", 0, "*", func(r *render, _ value, a *args) value { return r.dictOf(a) }},
	{"namespace", 0, "*", func(r *render, _ value, a *args) value { return &namespace{r.dictOf(a)} }},
	{"cycler", 0, "*", globalCycler},
	{"joiner", 0, "sep", func(r *render, _ value, a *args) value { return &joiner{separator: a.text(r, 0, ", ")} }},
}

func globalRange(r *render, _ value, a *args) value {
	s := &span{0, a.int(r, 0, 0), a.int(r, 2, 1)}
	if stop := a.at(1); stop != nil {
		s.start, s.stop = s.stop, r.needInt(stop)
	}
	if s.step == 0 {
		r.fail("the step of a range is zero")
	}
	if s.size() > r.limits.Range {
		r.stop("a range has more than %d numbers", r.limits.Range)
	}
	return s
}

// dictOf makes an object of another one or of pairs, and of named arguments.
func (r *render) dictOf(a *args) *dict {
	if len(a.plain) > 1 {
		r.fail("dict takes one argument and named ones, got %d", len(a.plain))
	}
	d := newDict(len(a.names))
	if v := a.at(0); v != nil {
		r.update(d, v)
	}
	for i, name := range a.names {
		d.set(r, name, a.named[i])
	}
	return d
}

// update sets the members of d that v has; v is an object or gives pairs.
func (r *render) update(d *dict, v value) {
	switch from := v.(type) {
	case *dict:
		for _, e := range from.all() {
			d.set(r, e.key, e.value)
		}
		return
	case *namespace:
		r.update(d, from.members)
		return
	}
	r.each(v, func(pair value) {
		kv := r.collect(pair)
		if len(kv) != 2 {
			r.fail("an object can be made of pairs, got %d values", len(kv))
		}
		d.set(r, kv[0], kv[1])
	})
}

// namespace is an object whose attributes "set" may change from within loops.
type namespace struct{ members *dict }

func (n *namespace) attr(r *render, name string) value { return n.members.get(r, name) }

// cycler gives its items in turn, again and again.
type cycler struct {
	items []value
	place int
}

func globalCycler(r *render, _ value, a *args) value {
	if len(a.plain) == 0 || len(a.names) > 0 {
		r.fail("cycler needs items to go through")
	}
	return &cycler{items: a.plain}
}

var cyclerMethods = [...]callable{
	{"next", 0, "", func(_ *render, self value, _ *args) value {
		c := self.(*cycler)
		v := c.items[c.place]
		c.place = (c.place + 1) % len(c.items)
		return v
	}},
	{"reset", 0, "", func(_ *render, self value, _ *args) value {
		self.(*cycler).place = 0
		return none{}
	}},
}

func (c *cycler) attr(_ *render, name string) value {
	if name == "current" {
		return c.items[c.place]
	}
	if m := findCallable(cyclerMethods[:], name); m != nil {
		return &function{m, c}
	}
	return nil
}

// joiner gives nothing when it is called first, and its separator from then on.
type joiner struct {
	separator string
	used      bool
}

func (j *joiner) invoke(*render, *args) value {
	if !j.used {
		j.used = true
		return ""
	}
	return j.separator
}
