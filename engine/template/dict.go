package template

import (
	"math"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

// dict is an object that a template may change; it keeps the order of its keys. One that comes from outside is
// unpacked when it is first changed, listed or asked for something that can be changed itself.
type dict struct {
	entries []entry
	places  map[value]int // by key as hashed, once there are many
	source  engine.Value  // an object as long as it is not unpacked, otherwise null
}

type entry struct{ key, value value }

// manyKeys is the number from which a dict keeps a map.
const manyKeys = 8

func newDict(n int) *dict { return &dict{entries: make([]entry, 0, n)} }

func (d *dict) size() int {
	if !d.source.IsNull() {
		return d.source.Len()
	}
	return len(d.entries)
}

// all gives the entries; they belong to the dict.
func (d *dict) all() []entry {
	if !d.source.IsNull() {
		d.entries = make([]entry, 0, d.source.Len())
		for k, v := range d.source.Fields() {
			d.entries = append(d.entries, entry{k, fromEngine(v)})
		}
		d.source = engine.Null
		d.index()
	}
	return d.entries
}

// index makes the map of places anew, or drops it.
func (d *dict) index() {
	d.places = nil
	if len(d.entries) <= manyKeys {
		return
	}
	d.places = make(map[value]int, 2*len(d.entries))
	for i, e := range d.entries {
		k, _ := hashed(e.key, 0)
		d.places[k] = i
	}
}

// get is the value under a key, or nil.
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
	if i := d.find(r, key); i >= 0 {
		return d.entries[i].value
	}
	return nil
}

// find is the place of a key, or -1.
func (d *dict) find(r *render, key value) int {
	entries := d.all()
	k := r.hash(key)
	if d.places != nil {
		if i, ok := d.places[k]; ok {
			return i
		}
		return -1
	}
	for i, e := range entries {
		h, _ := hashed(e.key, 0)
		if c, ok := h.(composite); ok {
			r.scan(c.text)
		}
		if h == k {
			return i
		}
	}
	return -1
}

func (d *dict) set(r *render, key, v value) {
	if i := d.find(r, key); i >= 0 {
		d.entries[i].value = v
		return
	}
	r.spend(1)
	d.entries = append(d.entries, entry{key, v})
	if d.places != nil {
		d.places[r.hash(key)] = len(d.entries) - 1
	} else if len(d.entries) > manyKeys {
		d.index()
	}
}

// remove takes the entry at place i out.
func (d *dict) remove(r *render, i int) {
	r.spend(len(d.entries) / 2)
	d.entries = append(d.entries[:i:i], d.entries[i+1:]...)
	d.index()
}

func (d *dict) clear() {
	d.all()
	d.entries, d.places = nil, nil
}

func (d *dict) copy(r *render) *dict {
	r.spend(d.size())
	c := &dict{entries: append([]entry(nil), d.all()...)}
	c.index()
	return c
}

// hash is a key in a form in which equal keys are equal: 1, 1.0 and true are the same key. It fails for lists and
// objects.
func (r *render) hash(key value) value {
	if s, ok := key.(string); ok {
		r.scan(s)
		return s
	}
	k, ok := hashed(key, 0)
	if !ok {
		r.fail("%s cannot be the key of an object", r.describe(key))
	}
	if c, ok := k.(composite); ok {
		r.scan(c.text)
	}
	return k
}

// maxComposite bounds the text of a composite in bytes.
const maxComposite = 1 << 16

// composite is the hashed form of digits and tuples.
type composite struct{ text string }

func hashed(key value, depth int) (k value, ok bool) {
	switch v := key.(type) {
	case safe:
		return string(v), true
	case hollow:
		return string(v), true
	case bool:
		return number(v), true
	case float64:
		if v == math.Trunc(v) && !math.IsInf(v, 0) {
			return hashed(fromFloat(v), depth)
		}
		return v, true
	case digits:
		return composite{string(v)}, true
	case *tuple:
		return hashedTuple(v, depth)
	case *list, *dict, *view:
		return nil, false
	case *function:
		return v.callable, true
	}
	return key, true
}

func hashedTuple(t *tuple, depth int) (k value, ok bool) {
	if depth > 20 {
		return nil, false
	}
	buf := []byte{'('}
	for _, item := range t.items {
		h, ok := hashed(item, depth+1)
		if !ok {
			return nil, false
		}
		switch h := h.(type) {
		case string:
			buf = strconv.AppendQuote(buf, h)
		case int64:
			buf = strconv.AppendInt(buf, h, 10)
		case float64:
			buf = append(buf, formatFloat(h)...)
		case composite:
			buf = append(buf, h.text...)
		case none:
			buf = append(buf, "none"...)
		default:
			return nil, false
		}
		if buf = append(buf, ','); len(buf) > maxComposite {
			return nil, false
		}
	}
	return composite{string(append(buf, ')'))}, true
}

// view is the keys, values or pairs of an object, as its methods give them.
type view struct {
	of   *dict
	what viewKind
}

type viewKind uint8

const (
	viewKeys viewKind = iota
	viewValues
	viewItems
)

func (v *view) name() string { return [...]string{"dict_keys", "dict_values", "dict_items"}[v.what] }

func (v *view) size() int { return v.of.size() }

func (v *view) pick(e entry) value {
	switch v.what {
	case viewKeys:
		return e.key
	case viewValues:
		return e.value
	}
	return &tuple{items: []value{e.key, e.value}}
}
