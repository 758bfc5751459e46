package template

// globalTable lists the functions that are available without a variable.
var globalTable = [...]callable{
	{"range", 1, "start stop step", func(r *render, _ value, a *args) value {
		s := &span{0, a.int(r, 0, 0), a.int(r, 2, 1)}
		if stop := a.at(1); stop != nil {
			s.start, s.stop = s.stop, r.needInt(stop)
		}
		if s.step == 0 {
			r.fail("the step of a range is zero")
		}
		if s.size() > r.limits.Range {
			r.stop(ErrLimit, "a range has more than %d numbers", r.limits.Range)
		}
		return s
	}},
	{"dict", 0, "*", func(r *render, _ value, a *args) value { return dictOf(r, a) }},
	{"namespace", 0, "*", func(r *render, _ value, a *args) value { return &namespace{dictOf(r, a)} }},
	{"cycler", 0, "*", func(r *render, _ value, a *args) value {
		if len(a.plain) == 0 || len(a.names) > 0 {
			r.fail("cycler needs items to choose from")
		}
		return &cycler{items: a.plain}
	}},
	{"joiner", 0, "sep", func(r *render, _ value, a *args) value { return &joiner{separator: a.text(r, 0, ", ")} }},
}

// namespace is an object whose attributes the tag "set" can change inside loops.
type namespace struct{ members *dict }

// cycler returns its items in turn and starts over after the last one.
type cycler struct {
	items []value
	index int
}

var cyclerMethods = [...]callable{
	{"next", 0, "", func(_ *render, self value, _ *args) value {
		c := self.(*cycler)
		v := c.items[c.index]
		c.index = (c.index + 1) % len(c.items)
		return v
	}},
	{"reset", 0, "", func(_ *render, self value, _ *args) value {
		self.(*cycler).index = 0
		return none{}
	}},
}

func (c *cycler) attr(_ *render, name string) value {
	if name == "current" {
		return c.items[c.index]
	}
	return methodOf(cyclerMethods[:], name, c)
}

// joiner returns an empty string on the first call and its separator on all others.
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
