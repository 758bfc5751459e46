package template

// target is what a value can be assigned to.
type target interface{ assign(r *render, v value) }

type nameTarget struct{ id int }

func (t *nameTarget) assign(r *render, v value) { r.set(t.id, v) }

type tupleTarget struct{ items []target }

func (t *tupleTarget) assign(r *render, v value) {
	values := r.collect(v)
	if len(values) != len(t.items) {
		r.fail("cannot assign %d values to %d names", len(values), len(t.items))
	}
	for i, item := range t.items {
		item.assign(r, values[i])
	}
}

// attrTarget is an attribute of a namespace.
type attrTarget struct {
	id   int
	name string
}

func (t *attrTarget) assign(r *render, v value) {
	owner := r.lookup(t.id)
	ns, ok := owner.(*namespace)
	if !ok {
		r.fail("cannot set the attribute %q of %s, only of a namespace", t.name, r.describe(owner))
	}
	ns.members.set(r, t.name, v)
}
