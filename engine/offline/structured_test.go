package offline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestStructuredFollowsTheSchema(t *testing.T) {
	const text = "Name: Ada Lovelace\nAge: 36\nTags: maths, poetry\nShe was born on 1815-12-10 in London. Write to " +
		"ada@example.org. Vegan: yes"
	for _, c := range []struct{ name, schema, want string }{
		{
			"properties from lines by name",
			`{"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}`,
			`{"name": "Ada Lovelace", "age": 36}`,
		},
		{
			"a list from one line",
			`{"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}}}}`,
			`{"tags": ["maths", "poetry"]}`,
		},
		{
			"formats",
			`{"properties": {"birthday": {"type": "string", "format": "date"}, "email": {"type": "string"}}}`,
			`{"birthday": "1815-12-10", "email": "ada@example.org"}`,
		},
		{
			"the most similar sentence",
			`{"properties": {"city": {"type": "string", "description": "where she was born"}}}`,
			`{"city": "She was born on 1815-12-10 in London."}`,
		},
		{
			"enum values", `{"properties": {"kind": {"enum": ["chemistry", "maths"], "description": "tags"}}}`,
			`{"kind": "maths"}`,
		},
		{
			"numeric limits",
			`{"properties": {"age": {"type": "number", "maximum": 18}, "score": {"type": "number", "minimum": 1}}}`,
			`{"age": 18, "score": 1}`,
		},
		{
			"defaults and constants", `{"properties": {"a": {"default": [1]}, "b": {"const": "x"}}}`,
			`{"a": [1], "b": "x"}`,
		},
		{
			"references",
			`{"properties": {"p": {"$ref": "#/$defs/person"}}, "$defs": {"person": {"properties": {"name": {"type": ` +
				`["null", "string"]}}}}}`, `{"p": {"name": "Ada Lovelace"}}`,
		},
		{
			"a recursive schema ends", `{"properties": {"n": {"$ref": "#"}}}`,
			`{"n": {"n": {"n": {"n": {"n": {"n": {"n": {"n": {"n": null}}}}}}}}}`,
		},
		{"a self-reference ends", `{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}`, `""`},
		{"a wide recursive schema ends", `{"maxItems": 0, "type": "array", "items": {"properties": {"a": ` +
			`{"$ref": "#/items"}, "b": {"$ref": "#/items"}, "c": {"$ref": "#/items"},
			"d": {"$ref": "#/items"}, "e": {"$ref": "#/items"}, "f": {"$ref": "#/items"}, "g": {"$ref": "#/items"}, ` +
			`"h": {"$ref": "#/items"}}}}`, `[]`},
		{"too few elements", `{"type": "array", "minItems": 2, "items": {"const": 1}}`, `[1, 1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			req := &engine.ModelRequest{
				Purpose: engine.PurposeStructured, Messages: user(text), Query: "x",
				Schema: parse(t, c.schema),
			}
			if c.name == "a self-reference ends" {
				req.Messages, req.Query = nil, ""
			}
			require.Equal(t, c.want, ask(t, req))
		})
	}
}
