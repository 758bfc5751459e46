package component

import (
	"context"
	"strconv"

	"github.com/easel-canvas/easel/engine"
)

// metadataRules are a compiled meta_data_filter.
type metadataRules struct {
	method     string // "", auto, semi_auto or manual
	logic      engine.Value
	conditions []metadataCondition
	keys       engine.Value // semi_auto: keys, or {key, op}
	references []engine.Ref
}

type metadataCondition struct {
	key, op engine.Value
	value   engine.Expr
}

func readMetadataRules(s *engine.Setup, v engine.Value) (metadataRules, error) {
	f := metadataRules{method: v.Get("method").Str(), logic: v.Get("logic"), keys: v.Get("semi_auto")}
	switch f.method {
	case "", "disabled", "auto", "semi_auto":
		return f, nil
	case "manual":
	default:
		return f, s.Fail("meta_data_filter.method", v.Get("method"),
			"is not supported; expected auto, semi_auto or manual")
	}
	for i, c := range v.Get("manual").Elements() {
		if c.Kind() != engine.KindObject {
			return f, s.Fail("meta_data_filter.manual["+strconv.Itoa(i)+"]", c,
				"is not a condition; expected {key, op, value}")
		}
		value := c.Get("value")
		f.conditions = append(f.conditions, metadataCondition{c.Get("key"), c.Get("op"), s.Expr(value)})
		if value.Kind() == engine.KindString {
			text := s.Text(value.Str())
			f.references = append(f.references, text.Refs()...)
		}
	}
	return f, nil
}

// prepare returns the filter for a retriever: {method, logic, manual: [{key, op, value}]}. When no
// document matches, manual conditions find nothing, while auto and semi_auto ones do not restrict
// the search.
func (f *metadataRules) prepare(ctx context.Context, call *engine.Call, port engine.Retriever,
	q *engine.RetrievalQuery,
) (engine.Value, error) {
	switch f.method {
	case "", "disabled":
		return engine.Null, nil
	case "manual":
		return f.manual(ctx, call)
	}
	lister, ok := port.(engine.MetadataLister)
	if !ok || call.Ports().Model == nil {
		return engine.Object("method", f.method, "semi_auto", f.keys, "logic", f.logic), nil
	}
	metadata, err := lister.Metadata(ctx, q.Datasets)
	if err != nil {
		return engine.Null, err
	}
	return f.chosen(ctx, call, f.offered(metadata), q.Text)
}

func (f *metadataRules) manual(ctx context.Context, call *engine.Call) (engine.Value, error) {
	list := make([]engine.Value, len(f.conditions))
	for i := range f.conditions {
		c := &f.conditions[i]
		v, err := call.Eval(ctx, &c.value)
		if err != nil {
			return engine.Null, err
		}
		list[i] = engine.Object("key", c.key, "op", c.op, "value", v)
	}
	return engine.Object("method", f.method, "logic", f.logic, "manual", engine.List(list...)), nil
}

// offered returns the metadata the model may use: for semi_auto only the keys the canvas lists.
func (f *metadataRules) offered(metadata engine.Value) engine.Value {
	if f.method != "semi_auto" {
		return metadata
	}
	b := engine.NewObject(f.keys.Len())
	for _, k := range f.keys.Elements() {
		name := k.Str()
		if k.Kind() == engine.KindObject {
			name = k.Get("key").Str()
		}
		if v, ok := metadata.Lookup(name); ok {
			b.Set(name, v)
		}
	}
	return b.Value()
}

// chosen returns the conditions that the model chooses. An invalid answer leaves the search
// unrestricted.
func (f *metadataRules) chosen(ctx context.Context, call *engine.Call, metadata engine.Value,
	query string,
) (engine.Value, error) {
	unrestricted := engine.Object("method", f.method, "manual", engine.List())
	if metadata.Len() == 0 {
		return unrestricted, nil
	}
	answer, err := call.Generate(ctx, &engine.ModelRequest{
		Purpose: engine.PurposeFilter, System: metadataFilter(metadata, call.Now()), Query: query, Choices: metadata,
		Messages: []engine.ModelMessage{{Role: "user", Content: query}},
	}, nil)
	if endsNode(err) {
		return engine.Null, err
	}
	v, bad := readLooseJSON(answer.Text)
	if err != nil || bad != nil {
		return unrestricted, nil
	}
	if v.Kind() == engine.KindList {
		v = engine.Object("conditions", v)
	}
	logic := "and"
	if v.Get("logic").Str() == "or" {
		logic = "or"
	}
	return engine.Object("method", f.method, "logic", logic, "manual", f.known(v.Get("conditions"), metadata)), nil
}

// known keeps conditions on existing keys, with the operator that the canvas sets for a key.
func (f *metadataRules) known(conditions, metadata engine.Value) engine.Value {
	list := engine.List()
	for _, c := range conditions.Elements() {
		key := c.Get("key").Str()
		if _, ok := metadata.Lookup(key); !ok {
			continue
		}
		op := c.Get("op")
		for _, k := range f.keys.Elements() {
			if fixed := k.Get("op"); k.Get("key").Str() == key && fixed.Truthy() {
				op = fixed
			}
		}
		list = list.Append(engine.Object("key", key, "op", op, "value", c.Get("value")))
	}
	return list
}
