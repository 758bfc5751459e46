package template

// dictMethods lists the methods of objects.
var dictMethods = [...]callable{
	{"clear", 0, "", func(_ *render, v value, _ *args) value { v.(*dict).clear(); return none{} }},
	{"copy", 0, "", func(r *render, v value, _ *args) value { return v.(*dict).copy(r) }},
	{"get", 1, "key default", methodGet},
	{"items", 0, "", func(_ *render, v value, _ *args) value { return &view{v.(*dict), viewItems} }},
	{"keys", 0, "", func(_ *render, v value, _ *args) value { return &view{v.(*dict), viewKeys} }},
	{"pop", 1, "key default", methodDictPop},
	{"popitem", 0, "", methodPopitem},
	{"setdefault", 1, "key default", methodSetdefault},
	{"update", 0, "*", methodUpdate},
	{"values", 0, "", func(_ *render, v value, _ *args) value { return &view{v.(*dict), viewValues} }},
}

// orNone is argument i, or none when it was not given.
func (a *args) orNone(i int) value {
	if v := a.at(i); v != nil {
		return v
	}
	return none{}
}

func methodGet(r *render, v value, a *args) value {
	if x := v.(*dict).get(r, a.at(0)); x != nil {
		return x
	}
	return a.orNone(1)
}

func methodDictPop(r *render, v value, a *args) value {
	d := v.(*dict)
	i := d.find(r, a.at(0))
	if i < 0 {
		if a.at(1) == nil {
			r.fail("pop does not find the key %s", r.describe(a.at(0)))
		}
		return a.at(1)
	}
	x := d.entries[i].value
	d.remove(r, i)
	return x
}

func methodPopitem(r *render, v value, _ *args) value {
	d := v.(*dict)
	entries := d.all()
	if len(entries) == 0 {
		r.fail("popitem of an empty object")
	}
	last := entries[len(entries)-1]
	d.remove(r, len(entries)-1)
	return &tuple{items: []value{last.key, last.value}}
}

func methodSetdefault(r *render, v value, a *args) value {
	d := v.(*dict)
	if x := d.get(r, a.at(0)); x != nil {
		return x
	}
	x := a.orNone(1)
	d.set(r, a.at(0), x)
	return x
}

func methodUpdate(r *render, v value, a *args) value {
	r.update(v.(*dict), r.dictOf(a))
	return none{}
}
