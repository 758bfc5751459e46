package template

import (
	"fmt"
	"math"
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// dict is an object that a template may change. It preserves the order of its keys. An engine
// object is converted when it is changed or listed, or when a list or object in it is read.
type dict struct {
	entries []entry
	places  map[value]int // indexes of entries by hash, if there are many
	source  engine.Value  // the object until it is converted, then null
}

type entry struct{ key, value, hash value }

// manyKeys is the number of entries above which a dict has a map.
const manyKeys = 8

func newDict(n int) *dict { return &dict{entries: make([]entry, 0, n)} }

func (d *dict) size() int { return max(len(d.entries), d.source.Len()) }

// all returns the entries without copying them.
func (d *dict) all() []entry {
	if !d.source.IsNull() {
		d.entries = make([]entry, 0, d.source.Len())
		for k, v := range d.source.Fields() {
			d.entries = append(d.entries, entry{k, fromEngine(v), k})
		}
		d.source = engine.Null
		d.index()
	}
	return d.entries
}

// index builds the map of a large dict.
func (d *dict) index() {
	d.places = nil
	if len(d.entries) <= manyKeys {
		return
	}
	d.places = make(map[value]int, 2*len(d.entries))
	for i, e := range d.entries {
		d.places[e.hash] = i
	}
}

// get returns the value of a key, or nil.
func (d *dict) get(r *render, key value) value {
	if s, ok := key.(string); ok && !d.source.IsNull() {
		v, ok := d.source.Lookup(s)
		if !ok {
			return nil
		}
		if k := v.Kind(); k != engine.KindList && k != engine.KindObject {
			return fromEngine(v)
		}
	}
	if i := d.find(hash(r, key)); i >= 0 {
		return d.entries[i].value
	}
	return nil
}

// find returns the index of the entry with a hash, or -1.
func (d *dict) find(hash value) int {
	entries := d.all()
	if d.places != nil {
		if i, ok := d.places[hash]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(entries, func(e entry) bool { return e.hash == hash })
}

func (d *dict) set(r *render, key, v value) {
	h := hash(r, key)
	if i := d.find(h); i >= 0 {
		d.entries[i].value = v
		return
	}
	r.spend(1)
	d.entries = append(d.entries, entry{key, v, h})
	if d.places != nil {
		d.places[h] = len(d.entries) - 1
	} else {
		d.index()
	}
}

// hash returns a comparable key. Equal template keys have equal hashes: 1, 1.0 and true are the
// same key. It fails for lists and objects.
func hash(r *render, key value) value {
	if s, ok := key.(string); ok {
		r.scan(s)
		return s
	}
	k, ok := hashed(key, 0)
	if !ok {
		r.fail("%s cannot be the key of an object", describe(r, key))
	}
	if c, ok := k.(composite); ok {
		r.scan(string(c))
	}
	return k
}

// composite is the hash of digits and tuples.
type composite string

// maxComposite bounds the hash of a tuple in bytes.
const maxComposite = 1 << 16

func hashed(key value, depth int) (k value, ok bool) {
	if s, ok := asText(key); ok {
		return s, true
	}
	switch v := key.(type) {
	case bool:
		return number(v), true
	case float64:
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			return hashed(fromFloat(v), depth)
		}
	case digits:
		return composite(v), true
	case *list:
		return hashedTuple(v, depth)
	case *dict:
		return nil, false
	case *function:
		return v.callable, true
	}
	return key, true
}

func hashedTuple(l *list, depth int) (k value, ok bool) {
	if l.kind != tuple {
		return nil, false
	}
	buf := []byte{'('}
	for _, item := range l.items {
		h, ok := hashed(item, depth+1)
		switch h := h.(type) {
		case composite:
			buf = append(buf, h...)
		case string, int64, float64, none:
			buf = fmt.Appendf(buf, "%#v", h)
		default:
			ok = false
		}
		if buf = append(buf, ','); !ok || depth > 20 || len(buf) > maxComposite {
			return nil, false
		}
	}
	return composite(append(buf, ')')), true
}

// view returns the keys, values or items.
func (d *dict) view(kind listKind) *list {
	v := &list{kind: kind}
	for _, e := range d.all() {
		switch kind {
		case keysView:
			v.items = append(v.items, e.key)
		case valuesView:
			v.items = append(v.items, e.value)
		default:
			v.items = append(v.items, newTuple(e.key, e.value))
		}
	}
	return v
}

// dictOf builds an object from the arguments of dict(): another object or pairs, and named values.
func dictOf(r *render, a *args) *dict {
	if len(a.plain) > 1 {
		r.fail("dict takes one argument and named ones, got %d", len(a.plain))
	}
	d := newDict(len(a.names))
	if v := a.at(0); v != nil {
		d.update(r, v)
	}
	for i, name := range a.names {
		d.set(r, name, a.named[i])
	}
	return d
}

// update sets the members of v, an object or pairs.
func (d *dict) update(r *render, v value) {
	switch from := v.(type) {
	case *dict:
		for _, e := range from.all() {
			d.set(r, e.key, e.value)
		}
	case *namespace:
		d.update(r, from.members)
	default:
		each(r, v, func(pair value) {
			kv := collect(r, pair)
			if len(kv) != 2 {
				r.fail("an object is made of pairs, got %d values", len(kv))
			}
			d.set(r, kv[0], kv[1])
		})
	}
}

var dictMethods = [...]callable{
	{"clear", 0, "", func(_ *render, v value, _ *args) value {
		*v.(*dict) = dict{}
		return none{}
	}},
	{"copy", 0, "", func(r *render, v value, _ *args) value { return dictOf(r, &args{plain: []value{v}}) }},
	{"get", 1, "key default", func(r *render, v value, a *args) value {
		if x := v.(*dict).get(r, a.at(0)); x != nil {
			return x
		}
		return a.or(1, none{})
	}},
	{"items", 0, "", func(_ *render, v value, _ *args) value { return v.(*dict).view(itemsView) }},
	{"keys", 0, "", func(_ *render, v value, _ *args) value { return v.(*dict).view(keysView) }},
	{"pop", 1, "key default", func(r *render, v value, a *args) value {
		d := v.(*dict)
		i := d.find(hash(r, a.at(0)))
		if i < 0 && a.at(1) == nil {
			r.fail("pop does not find the key %s", describe(r, a.at(0)))
		}
		if i < 0 {
			return a.at(1)
		}
		x := d.entries[i].value
		r.spend(len(d.entries) / 2)
		d.entries = slices.Delete(d.entries, i, i+1)
		d.index()
		return x
	}},
	{"setdefault", 1, "key default", func(r *render, v value, a *args) value {
		d := v.(*dict)
		if d.get(r, a.at(0)) == nil {
			d.set(r, a.at(0), a.or(1, none{}))
		}
		return d.get(r, a.at(0))
	}},
	{"update", 0, "*", func(r *render, v value, a *args) value {
		v.(*dict).update(r, dictOf(r, a))
		return none{}
	}},
	{"values", 0, "", func(_ *render, v value, _ *args) value { return v.(*dict).view(valuesView) }},
}
