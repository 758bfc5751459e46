package component

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

var dataOperationsSpec = engine.Spec{
	Name:  "DataOperations",
	Title: "Edit data", Search: []string{"json", "parse", "keys", "rename", "解析", "字段"},
	Category: engine.CategoryData, Icon: "data",
	Doc:      "Transforms objects: select, remove, rename or set members, filter, merge, or parse strings as values.",
	FromForm: dataOperationsFromForm,
	New:      func() engine.Component { return new(DataOperations) },
	Inputs:   []engine.Field{{Name: "*", Type: "any", Doc: "objects and lists of objects; other values are ignored"}},
	Outputs:  []engine.Field{{Name: "result", Type: "json", Doc: "the new objects; one object for combine"}},
	Inline:   true,
	Thoughts: "Transforming data.",
}

// DataOperations transforms objects into new objects.
//
// In: each value of query. Out: result.
//
// Source: RAGFlow agent/component/data_operations.py at 80a16e71 (behaviour only). Differs:
// literal_eval parses literals; no operation changes the objects it reads; a rule without an
// operator means =.
type DataOperations struct {
	Query        []engine.Ref `json:"query" label:"From" doc:"objects or lists of objects" widget:"references"`
	Operations   string       `json:"operations" label:"Do" doc:"what is done with the objects" options:"select_keys=Keep members|literal_eval=Read text as data|combine=Merge into one|filter_values=Keep matching|append_or_update=Set members|remove_keys=Drop members|rename_keys=Rename" default:"literal_eval"`
	SelectKeys   []string     `json:"select_keys" label:"Members to keep" doc:"all others are left out" show:"operations=select_keys"`
	RemoveKeys   []string     `json:"remove_keys" label:"Members to drop" doc:"all others are kept" show:"operations=remove_keys"`
	RenameKeys   []KeyRename  `json:"rename_keys" label:"New names" doc:"a renamed member moves to the end" show:"operations=rename_keys"`
	FilterValues []DataRule   `json:"filter_values" label:"Rules" doc:"an object must fit all of them" widget:"conditions" show:"operations=filter_values"`
	Updates      []DataUpdate `json:"updates" label:"Members to set" doc:"new or changed members" show:"operations=append_or_update"`
}

// KeyRename renames a member.
type KeyRename struct {
	Old string `json:"old_key" label:"Old name" doc:"current name"`
	New string `json:"new_key" label:"New name" doc:"new name"`
}

// DataRule is one rule of filter_values.
type DataRule struct {
	Key      string       `json:"key" label:"Member" doc:"an object without it is dropped"`
	Operator string       `json:"operator" label:"Comparison" doc:"how the member is compared" ops:"filter" default:"="`
	Value    engine.Value `json:"value" label:"Value" doc:"text to compare the member with" widget:"value" right:"operator"`

	text engine.Text
}

// DataUpdate sets one member.
type DataUpdate struct {
	Key   string       `json:"key" label:"Member" doc:"member to set; blank names are ignored"`
	Value engine.Value `json:"value" label:"Value" doc:"the new value" widget:"value"`

	text engine.Text
}

// Init compiles the texts.
func (d *DataOperations) Init(s *engine.Setup) error {
	for i := range d.FilterValues {
		d.FilterValues[i].Operator = filterOperators.filter(d.FilterValues[i].Operator)
		d.FilterValues[i].text = s.Text(d.FilterValues[i].Value.Text())
	}
	for i := range d.Updates {
		d.Updates[i].text = s.Text(d.Updates[i].Value.Text())
	}
	return nil
}

// Warnings reports operators that do not exist.
func (d *DataOperations) Warnings() (list []engine.Diagnostic) {
	if d.Operations != "filter_values" {
		return nil
	}
	for i := range d.FilterValues {
		list = wrongOperator(list, "filter_values["+strconv.Itoa(i)+"].operator",
			filterOperators.check("operator", d.FilterValues[i].Operator))
	}
	return list
}

// Run sets the new objects.
func (d *DataOperations) Run(ctx context.Context, call *engine.Call) error {
	var objects []engine.Value
	for i := range d.Query {
		if d.Query[i].IsZero() {
			continue
		}
		v, err := call.Resolve(ctx, &d.Query[i])
		if err != nil {
			return err
		}
		call.In(d.Query[i].Expr, v)
		if v.Kind() == engine.KindObject {
			v = engine.List(v)
		}
		for _, e := range v.Elements() {
			if e.Kind() == engine.KindObject {
				objects = append(objects, e)
			}
		}
	}
	result, err := d.apply(ctx, call, objects)
	if err != nil {
		return err
	}
	call.Out("result", result)
	return nil
}

func (d *DataOperations) apply(ctx context.Context, call *engine.Call, objects []engine.Value) (engine.Value, error) {
	reader := &literalSeeker{check: call.CheckSize}
	change := reader.read
	switch d.Operations {
	case "combine":
		return combined(objects), nil
	case "filter_values":
		return d.filter(ctx, call, objects)
	case "append_or_update":
		set, err := d.updates(ctx, call)
		if err != nil {
			return engine.Null, err
		}
		change = set
	case "select_keys":
		change = d.selected
	case "remove_keys":
		change = d.removed
	case "rename_keys":
		change = d.renamed
	}
	for i := range objects {
		objects[i] = change(objects[i])
	}
	if reader.over != nil {
		return engine.Null, reader.over
	}
	return engine.List(objects...), nil
}

func (d *DataOperations) selected(o engine.Value) engine.Value {
	b := engine.NewObject(len(d.SelectKeys))
	for key, v := range o.Fields() {
		if slices.Contains(d.SelectKeys, key) {
			b.Set(key, v)
		}
	}
	return b.Value()
}

func (d *DataOperations) removed(o engine.Value) engine.Value {
	for _, key := range d.RemoveKeys {
		o = o.Without(key)
	}
	return o
}

func (d *DataOperations) renamed(o engine.Value) engine.Value {
	for _, r := range d.RenameKeys {
		from, to := strings.TrimSpace(r.Old), strings.TrimSpace(r.New)
		v, ok := o.Lookup(from)
		if !ok || from == "" || to == "" || from == to {
			continue
		}
		o = o.Without(from).With(to, v)
	}
	return o
}

// combined merges objects. A name that occurs more than once gets a list of its values; values that
// are lists are joined.
func combined(objects []engine.Value) engine.Value {
	all := engine.Object()
	for _, o := range objects {
		for key, v := range o.Fields() {
			old, ok := all.Lookup(key)
			if !ok {
				all = all.With(key, v)
				continue
			}
			if old.Kind() != engine.KindList {
				old = engine.List(old)
			}
			if v.Kind() != engine.KindList {
				v = engine.List(v)
			}
			for _, e := range v.Elements() {
				old = old.Append(e)
			}
			all = all.With(key, old)
		}
	}
	return all
}

// filter keeps the objects that match every rule.
func (d *DataOperations) filter(ctx context.Context, call *engine.Call, objects []engine.Value) (engine.Value, error) {
	values := make([]string, len(d.FilterValues))
	for i := range d.FilterValues {
		if err := filterOperators.check("operator", d.FilterValues[i].Operator); err != nil {
			return engine.Null, fmt.Errorf("filter_values[%d]: %w", i, err)
		}
		value, err := call.Render(ctx, &d.FilterValues[i].text, engine.TextStyle{})
		if err != nil {
			return engine.Null, fmt.Errorf("filter_values[%d]: %w", i, err)
		}
		values[i] = value
	}
	return keep(engine.List(objects...), func(o engine.Value) bool {
		for i, rule := range d.FilterValues {
			v, ok := o.Lookup(rule.Key)
			if !ok || !textMatches(v.Text(), rule.Operator, values[i]) {
				return false
			}
		}
		return true
	}), nil
}

// updates returns a function that sets the members. A value that renders empty is used as written.
func (d *DataOperations) updates(ctx context.Context, call *engine.Call) (func(engine.Value) engine.Value, error) {
	values := make([]engine.Value, len(d.Updates))
	for i := range d.Updates {
		text, err := call.Render(ctx, &d.Updates[i].text, engine.TextStyle{})
		if err != nil {
			return nil, fmt.Errorf("updates[%d]: %w", i, err)
		}
		if text == "" {
			text = d.Updates[i].text.Source
		}
		values[i] = engine.String(text)
	}
	return func(o engine.Value) engine.Value {
		for i, u := range d.Updates {
			if key := strings.TrimSpace(u.Key); key != "" {
				o = o.With(key, values[i])
			}
		}
		return o
	}, nil
}

// literalSeeker parses strings in values that look like Python literals, up to the size that check
// allows.
type literalSeeker struct {
	check func(size int64) error
	size  int64
	over  error
}

func (r *literalSeeker) read(v engine.Value) engine.Value {
	switch v.Kind() {
	case engine.KindString:
		if r.over != nil || !looksLiteral(v.Str()) {
			return v
		}
		if r.over = engine.CheckParse(v.Str()); r.over != nil {
			return v
		}
		if x, ok := readLiteral(v.Str()); ok {
			r.size += x.Size()
			r.over = r.check(r.size)
			return x
		}
	case engine.KindList:
		vals := make([]engine.Value, 0, v.Len())
		for _, e := range v.Elements() {
			vals = append(vals, r.read(e))
		}
		return engine.List(vals...)
	case engine.KindObject:
		b := engine.NewObject(v.Len())
		for key, e := range v.Fields() {
			b.Set(key, r.read(e))
		}
		return b.Value()
	}
	return v
}

var (
	_ engine.Component   = (*DataOperations)(nil)
	_ engine.Initializer = (*DataOperations)(nil)
	_ engine.Warner      = (*DataOperations)(nil)
)
