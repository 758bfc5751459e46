package template

import "slices"

// listMethods lists the methods of lists. Those that change the list give none.
var listMethods = [...]callable{
	{"append", 1, "object", methodAppend},
	{"clear", 0, "", methodListClear},
	{"copy", 0, "", methodListCopy},
	{"count", 1, "value", methodItemCount},
	{"extend", 1, "iterable", methodExtend},
	{"index", 1, "value start stop", methodItemIndex},
	{"insert", 2, "index object", methodInsert},
	{"pop", 0, "index", methodListPop},
	{"remove", 1, "value", methodListRemove},
	{"reverse", 0, "", methodListReverse},
	{"sort", 0, "key reverse", methodListSort},
}

// tupleMethods lists the methods of tuples and ranges.
var tupleMethods = [...]callable{
	{"count", 1, "value", methodItemCount},
	{"index", 1, "value start stop", methodItemIndex},
}

// numberMethods lists the methods of numbers.
var numberMethods = [...]callable{
	{"is_integer", 0, "", func(r *render, v value, _ *args) value {
		return r.equal(r.arithmetic("%", number(v), int64(1)), int64(0))
	}},
}

func methodAppend(_ *render, v value, a *args) value {
	l := v.(*list)
	l.items = append(l.all(), a.at(0))
	return none{}
}

func methodListClear(_ *render, v value, _ *args) value {
	l := v.(*list)
	l.all()
	l.items = nil
	return none{}
}

func methodListCopy(r *render, v value, _ *args) value { return newList(r.collect(v)) }

func methodExtend(r *render, v value, a *args) value {
	l := v.(*list)
	more := r.collect(a.at(0))
	l.items = append(l.all(), more...)
	return none{}
}

func methodInsert(r *render, v value, a *args) value {
	l := v.(*list)
	items := l.all()
	r.spend(len(items) / 8)
	i := a.int(r, 0, 0)
	if i < 0 {
		i += len(items)
	}
	l.items = slices.Insert(items, min(max(i, 0), len(items)), a.at(1))
	return none{}
}

func methodListPop(r *render, v value, a *args) value {
	l := v.(*list)
	items := l.all()
	i := fromEnd(a.int(r, 0, -1), len(items))
	if i < 0 {
		r.fail("pop finds no item at this place of %d items", len(items))
	}
	r.spend((len(items) - i) / 8)
	x := items[i]
	l.items = slices.Delete(items, i, i+1)
	return x
}

func methodListRemove(r *render, v value, a *args) value {
	l := v.(*list)
	for i, x := range l.all() {
		if r.equal(x, a.at(0)) {
			l.items = slices.Delete(l.items, i, i+1)
			return none{}
		}
	}
	r.fail("remove does not find the item")
	return nil
}

func methodListReverse(r *render, v value, _ *args) value {
	l := v.(*list)
	r.spend(len(l.all()))
	slices.Reverse(l.items)
	return none{}
}

func methodListSort(r *render, v value, a *args) value {
	if !isNone(a.at(0)) {
		r.fail(`sort takes no key here, use the filter "sort" with an attribute`)
	}
	l := v.(*list)
	l.items = r.sorted(slices.Clone(l.all()), func(x value) value { return x }, a.truth(r, 1, false))
	return none{}
}

func methodItemCount(r *render, v value, a *args) value {
	n := int64(0)
	r.each(v, func(x value) {
		if r.equal(x, a.at(0)) {
			n++
		}
	})
	return n
}

func methodItemIndex(r *render, v value, a *args) value {
	items := r.collect(v)
	b := r.bounds(len(items), a.at(1), a.at(2), nil)
	for i := b.start; i < b.stop; i++ {
		if r.equal(items[i], a.at(0)) {
			return int64(i)
		}
	}
	r.fail("index does not find the item")
	return nil
}
