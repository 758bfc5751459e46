package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// fieldKeys are the members a form field may have beside its value.
var fieldKeys = map[string]bool{"name": true, "type": true, "optional": true, "options": true, "key": true}

// formOf is a declared form; a form that was left out is empty.
func formOf(fields engine.Value) engine.Value {
	if fields.Kind() != engine.KindObject {
		return engine.Object()
	}
	return fields
}

// passFields writes every input the caller gave as an output of that name. form is the declared form.
func passFields(ctx context.Context, call *engine.Call, form engine.Value) error {
	for name, given := range call.RunInputs().Fields() {
		v := fieldValue(given)
		if isFileField(given, form.Get(name)) {
			texts, err := readFiles(ctx, call, v)
			if err != nil {
				return fmt.Errorf("field %q: %w", name, err)
			}
			v = texts
		}
		call.In(name, v)
		call.Out(name, v)
	}
	return nil
}

// fieldValue is what was entered: the member "value", or the whole input when it is no field but a bare value.
// A field that was sent without a value is null.
func fieldValue(given engine.Value) engine.Value {
	if v, ok := given.Lookup("value"); ok {
		return v
	}
	if given.Len() == 0 || given.Kind() != engine.KindObject {
		return given
	}
	for key := range given.Fields() {
		if !fieldKeys[key] {
			return given
		}
	}
	return engine.Null
}

// isFileField reports whether a field takes uploads. The type that was sent counts before the declared one.
func isFileField(given, declared engine.Value) bool {
	typ := given.Get("type").Str()
	if _, wrapped := given.Lookup("value"); !wrapped || typ == "" {
		typ = declared.Get("type").Str()
	}
	return strings.Contains(strings.ToLower(typ), "file")
}

// readFiles turns one upload descriptor, or a list of them, into a list of texts. Null stays null, and what is no
// descriptor stays as it is.
func readFiles(ctx context.Context, call *engine.Call, v engine.Value) (engine.Value, error) {
	switch v.Kind() {
	case engine.KindObject:
		v = engine.List(v)
	case engine.KindList:
	default:
		return v, nil
	}
	texts := engine.List()
	for _, file := range v.Elements() {
		if file.Kind() != engine.KindObject {
			texts = texts.Append(file)
			continue
		}
		files := call.Ports().Files
		if files == nil {
			return engine.Null, fmt.Errorf("files: %w", engine.ErrNoPort)
		}
		text, err := files.Read(ctx, file)
		if err != nil {
			return engine.Null, fmt.Errorf("file %q: %w", file.Get("name").Text(), err)
		}
		texts = texts.Append(engine.String(text))
	}
	return texts, nil
}
