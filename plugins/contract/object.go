package contract

import (
	"fmt"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

// object reads the members of a JSON object. A missing or null member has the zero value;
// one of another kind is an error, of which the first is stored.
type object struct {
	path string // of the object in messages; empty for the root
	v    engine.Value
	err  *error
}

// readObject returns a reader of v, which must be an object.
func readObject(path string, v engine.Value, err *error) *object {
	o := &object{path: path, v: v, err: err}
	if !v.IsNull() && v.Kind() != engine.KindObject {
		o.fail("", "want object, got %s", typeName(v))
	}
	return o
}

// fail records an error of a member, or of the object itself if name is empty.
func (o *object) fail(name, format string, args ...any) {
	if *o.err == nil {
		*o.err = fmt.Errorf("%s: %s", o.at(name), fmt.Sprintf(format, args...))
	}
}

// at returns the path of a member.
func (o *object) at(name string) string {
	switch {
	case name == "":
		return o.path
	case o.path == "":
		return short(name)
	}
	return o.path + "." + short(name)
}

// member returns a member of a kind, null when it is missing.
func (o *object) member(name string, kind engine.Kind) engine.Value {
	v := o.v.Get(name)
	if v.IsNull() || v.Kind() == kind {
		return v
	}
	o.fail(name, "want %s, got %s", kind.SchemaType(), typeName(v))
	return engine.Null
}

func (o *object) text(name string) string { return o.member(name, engine.KindString).Str() }

func (o *object) flag(name string) bool { return o.member(name, engine.KindBool).True() }

// whole returns a whole number in the range of int64.
func (o *object) whole(name string) int64 {
	v := o.member(name, engine.KindNumber)
	n, ok := v.Int()
	if !v.IsNull() && (!ok || !v.HasType("integer")) {
		o.fail(name, "want a whole number, got %s", shown(v))
	}
	return n
}

// texts returns a list of strings.
func (o *object) texts(name string) []string {
	list := o.member(name, engine.KindList)
	if list.Len() == 0 {
		return nil
	}
	out := make([]string, 0, list.Len())
	for i := range list.Len() {
		v := list.At(i)
		if v.Kind() != engine.KindString {
			o.fail(name+"["+strconv.Itoa(i)+"]", "want string, got %s", typeName(v))
		}
		out = append(out, v.Str())
	}
	return out
}

// object returns a member that is an object, nil if it is missing.
func (o *object) object(name string) *object {
	v := o.v.Get(name)
	if v.IsNull() {
		return nil
	}
	return readObject(o.at(name), v, o.err)
}

// writer builds a JSON object without its zero values.
type writer struct{ b *engine.ObjectBuilder }

func newWriter() writer { return writer{engine.NewObject(8)} }

func (w writer) value(name string, v engine.Value) {
	if !v.IsNull() {
		w.b.Set(name, v)
	}
}

func (w writer) text(name, v string) {
	if v != "" {
		w.b.Set(name, engine.String(v))
	}
}

func (w writer) flag(name string, v bool) {
	if v {
		w.b.Set(name, engine.Bool(true))
	}
}

func (w writer) whole(name string, v int64) {
	if v != 0 {
		w.b.Set(name, engine.Int(v))
	}
}

func (w writer) texts(name string, v []string) {
	if len(v) > 0 {
		w.b.Set(name, engine.Strings(v...))
	}
}

// object adds an object that is not empty.
func (w writer) object(name string, v engine.Value) {
	if v.Len() > 0 {
		w.b.Set(name, v)
	}
}
