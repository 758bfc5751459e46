package component

import (
	"context"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

// fieldKeys are the members a form field may have besides its value.
var fieldKeys = map[string]bool{
	"name": true, "type": true, "optional": true, "required": true, "options": true, "key": true,
}

// formOf returns a declared form; empty for other kinds.
func formOf(fields engine.Value) engine.Value {
	if fields.Kind() != engine.KindObject {
		return engine.Object()
	}
	return fields
}

// passFields sets an output for every input of the caller. form is the declared form.
func passFields(ctx context.Context, call *engine.Call, inputs, form engine.Value) error {
	for name, given := range inputs.Fields() {
		v := fieldValue(given)
		var err error
		if isFileField(given, form.Get(name)) {
			v, err = readFiles(ctx, call, v)
		} else if fieldType(given, form.Get(name)) == "object" {
			v, err = decoded(v)
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		call.In(name, v)
		call.Out(name, v)
	}
	return nil
}

// fieldValue returns the entered value: the member "value", or the whole input if it is a bare
// value. A field without a value is null.
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

// fieldType returns the type of a field in lower case. The sent type takes precedence over the
// declared one.
func fieldType(given, declared engine.Value) string {
	typ := given.Get("type").Str()
	if _, wrapped := given.Lookup("value"); !wrapped || typ == "" {
		typ = declared.Get("type").Str()
	}
	return strings.ToLower(typ)
}

// isFileField reports whether a field takes uploads.
func isFileField(given, declared engine.Value) bool {
	return strings.Contains(fieldType(given, declared), "file")
}

// decoded returns the value of a JSON string. A string that is not JSON is returned as it is.
func decoded(v engine.Value) (engine.Value, error) {
	if v.Kind() != engine.KindString {
		return v, nil
	}
	if err := engine.CheckParse(v.Str()); err != nil {
		return engine.Null, err
	}
	if parsed, err := engine.ParseJSONText(v.Str()); err == nil {
		return parsed, nil
	}
	return v, nil
}

// readFiles converts an upload descriptor, or a list of them, to a list of texts. Null and values
// that are not descriptors stay as they are.
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
