package contract

import (
	"slices"

	"github.com/easel-canvas/easel/engine"
)

// Present returns v without the members that are null where the schema neither requires them nor
// allows null: many languages write an absent optional value as null.
func (s *Schema) Present(v engine.Value) engine.Value {
	if s == nil {
		return v
	}
	switch v.Kind() {
	case engine.KindObject:
		return s.presentMembers(v)
	case engine.KindList:
		return s.presentItems(v)
	}
	return v
}

func (s *Schema) presentMembers(v engine.Value) engine.Value {
	changed := false
	b := engine.NewObject(v.Len())
	for i := range v.Len() {
		name, value := v.Key(i), v.At(i)
		sub := s.properties[name]
		if value.IsNull() && sub.excludesNull() && !slices.Contains(s.required, name) {
			changed = true
			continue
		}
		present := sub.Present(value)
		changed = changed || present != value
		b.Set(name, present)
	}
	if !changed {
		return v
	}
	return b.Value()
}

func (s *Schema) presentItems(v engine.Value) engine.Value {
	if s.items == nil {
		return v
	}
	changed := false
	list := make([]engine.Value, v.Len())
	for i := range list {
		list[i] = s.items.Present(v.At(i))
		changed = changed || list[i] != v.At(i)
	}
	if !changed {
		return v
	}
	return engine.List(list...)
}

// excludesNull reports whether the types of a schema exclude null.
func (s *Schema) excludesNull() bool {
	return s != nil && len(s.types) > 0 && !slices.Contains(s.types, "null")
}
