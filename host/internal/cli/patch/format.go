package patch

import (
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

// Parse reads a patch: a JSON list of {path, before, after, at}. Without before a value is added,
// without after it is removed.
func Parse(data []byte) ([]Change, error) {
	v, err := engine.ParseJSON(data)
	if err != nil {
		return nil, err
	}
	return FromValue(v)
}

// FromValue reads a patch as [Parse] does.
func FromValue(v engine.Value) ([]Change, error) {
	if v.Kind() != engine.KindList {
		return nil, fmt.Errorf("patch: it is a %s; expected a list of changes", v.Kind())
	}
	changes := make([]Change, 0, v.Len())
	for i, entry := range v.Elements() {
		c, err := parseChange(entry)
		if err != nil {
			return nil, fmt.Errorf("patch: change %d: %w", i+1, err)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

func parseChange(entry engine.Value) (Change, error) {
	c := Change{At: -1}
	path, ok := entry.Lookup("path")
	if !ok || path.Kind() != engine.KindList {
		return c, fmt.Errorf("path: expected a list of member names and indexes, for example "+
			`["components", "begin", "obj"], not %.80s`, path.JSON())
	}
	for _, s := range path.Elements() {
		step := Step{Name: s.Str()}
		if f, isNumber := s.Float(); isNumber && f >= 0 && f == float64(int(f)) {
			step = Step{Index: int(f), IsIndex: true}
		} else if s.Kind() != engine.KindString {
			return c, fmt.Errorf("path: %.80s is not a member name or an index", s.JSON())
		}
		c.Path = append(c.Path, step)
	}
	var before, after bool
	c.Before, before = entry.Lookup("before")
	c.After, after = entry.Lookup("after")
	if !before && !after {
		return c, fmt.Errorf("before and after are both missing; a change has at least one")
	}
	c.Adds, c.Removes = !before, !after
	if at, ok := entry.Lookup("at"); ok {
		f, isNumber := at.Float()
		if !isNumber || f < 0 || f != float64(int(f)) {
			return c, fmt.Errorf("at: %.80s is not a position; expected a whole number from 0 on", at.JSON())
		}
		c.At = int(f)
	}
	return c, nil
}

// Value returns a patch as [Parse] reads it.
func Value(changes []Change) engine.Value {
	list := engine.List()
	for i := range changes {
		c := &changes[i]
		path := engine.List()
		for _, s := range c.Path {
			if s.IsIndex {
				path = path.Append(engine.Int(int64(s.Index)))
			} else {
				path = path.Append(engine.String(s.Name))
			}
		}
		entry := engine.NewObject(4).Set("path", path)
		if !c.Adds {
			entry.Set("before", c.Before)
		}
		if !c.Removes {
			entry.Set("after", c.After)
		}
		if c.At >= 0 {
			entry.Set("at", engine.Int(int64(c.At)))
		}
		list = list.Append(entry.Value())
	}
	return list
}
