// Package patch changes canvas documents by lists of changes, and compares documents.
//
// A [Change] replaces, adds or removes one value at a path and holds the value before and after, so
// that a patch can be inverted and does not apply to a document that it was not made for. The page
// edits canvases by the same format (web/canvas/patch.ts); both sides are tested against the cases
// in web/test/patches.json. Values are immutable, and the package keeps no state.
package patch

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// Step is a member name, or an element of a list: by index, or by the text of its member id.
type Step struct {
	Name    string
	Index   int
	IsIndex bool
}

func (s Step) String() string {
	if s.IsIndex {
		return fmt.Sprint(s.Index)
	}
	return s.Name
}

// Change replaces one value, adds it (Adds) or removes it (Removes).
type Change struct {
	Path          []Step
	Before, After engine.Value
	Adds, Removes bool
	// At is the place of an added or removed value among its siblings; -1 is the end.
	At int
}

// ErrConflict is wrapped by the errors of changes that do not match the document.
var ErrConflict = errors.New("the patch does not fit the document")

// Apply returns the document after the changes. The document itself is not changed.
func Apply(doc engine.Value, changes []Change) (engine.Value, error) {
	for i := range changes {
		c := &changes[i]
		if len(c.Path) == 0 {
			return engine.Null, c.refusal("is the document itself")
		}
		next, err := c.in(doc, 0)
		if err != nil {
			return engine.Null, err
		}
		doc = next
	}
	return doc, nil
}

// Invert returns the inverse of a patch.
func Invert(changes []Change) []Change {
	inverse := make([]Change, len(changes))
	for i := range changes {
		c := changes[i]
		c.Before, c.After, c.Adds, c.Removes = c.After, c.Before, c.Removes, c.Adds
		inverse[len(changes)-1-i] = c
	}
	return inverse
}

func (c *Change) refusal(format string, args ...any) error {
	steps := make([]string, len(c.Path))
	for i, s := range c.Path {
		steps[i] = s.String()
	}
	path := strings.Join(steps, "/")
	return fmt.Errorf("%w: change of %.200s: %s", ErrConflict, path, fmt.Sprintf(format, args...))
}

// in returns v after the change, whose path leads into v from the step at depth on.
func (c *Change) in(v engine.Value, depth int) (engine.Value, error) {
	if k := v.Kind(); k != engine.KindList && k != engine.KindObject {
		return engine.Null, c.refusal("leads into a value without members")
	}
	step := c.Path[depth]
	at := find(v, step)
	if depth < len(c.Path)-1 {
		if at < 0 {
			return engine.Null, c.refusal("leads nowhere: there is no %q", step)
		}
		next, err := c.in(v.At(at), depth+1)
		if err != nil {
			return engine.Null, err
		}
		return replace(v, at, next), nil
	}
	switch {
	case c.Adds && (at < 0 || v.Kind() == engine.KindList && step.IsIndex):
		return c.add(v, step)
	case c.Adds:
		return engine.Null, c.refusal("is there already")
	case at < 0:
		return engine.Null, c.refusal("is not there")
	case !same(v.At(at), c.Before):
		return engine.Null, c.refusal("has another value by now")
	case c.Removes:
		return remove(v, at), nil
	}
	return replace(v, at, c.After), nil
}

func (c *Change) add(v engine.Value, step Step) (engine.Value, error) {
	at := c.At
	if v.Kind() == engine.KindObject {
		if step.IsIndex {
			return engine.Null, c.refusal("names a member by a number")
		}
		if at < 0 || at > v.Len() {
			at = v.Len()
		}
		return insertMember(v, at, step.Name, c.After), nil
	}
	if step.IsIndex {
		at = step.Index
	} else if at < 0 {
		at = v.Len()
	}
	if at < 0 || at > v.Len() {
		return engine.Null, c.refusal("adds at %d of %d", at, v.Len())
	}
	if !step.IsIndex && c.After.Get("id").Str() != step.Name {
		return engine.Null, c.refusal("adds an element with another id")
	}
	return engine.List(slices.Insert(v.Slice(), at, c.After)...), nil
}

// find returns the place of a step in v, or -1. Of several elements with one id the last counts.
func find(v engine.Value, step Step) int {
	found := -1
	switch {
	case v.Kind() == engine.KindList && step.IsIndex:
		if step.Index >= 0 && step.Index < v.Len() {
			found = step.Index
		}
	case v.Kind() == engine.KindList:
		for i, e := range v.Elements() {
			if id, ok := e.Lookup("id"); ok && id.Kind() == engine.KindString && id.Str() == step.Name {
				found = i
			}
		}
	case !step.IsIndex:
		for i := range v.Len() {
			if v.Key(i) == step.Name {
				return i
			}
		}
	}
	return found
}

func replace(v engine.Value, at int, next engine.Value) engine.Value {
	if v.Kind() == engine.KindObject {
		return v.With(v.Key(at), next)
	}
	list := v.Slice()
	list[at] = next
	return engine.List(list...)
}

func remove(v engine.Value, at int) engine.Value {
	if v.Kind() == engine.KindObject {
		return v.Without(v.Key(at))
	}
	return engine.List(slices.Delete(v.Slice(), at, at+1)...)
}

func insertMember(v engine.Value, at int, name string, value engine.Value) engine.Value {
	b := engine.NewObject(v.Len() + 1)
	for i := range v.Len() {
		if i == at {
			b.Set(name, value)
		}
		b.Set(v.Key(i), v.At(i))
	}
	return b.Set(name, value).Value()
}

// same reports whether two values are equal, the order of members included.
func same(a, b engine.Value) bool {
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	if k := a.Kind(); k != engine.KindList && k != engine.KindObject {
		return engine.Equal(a, b)
	}
	for i := range a.Len() {
		if a.Key(i) != b.Key(i) || !same(a.At(i), b.At(i)) {
			return false
		}
	}
	return true
}
