package component_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// shelf answers the file port with the name of the file.
type shelf struct{}

func (shelf) Read(_ context.Context, file engine.Value) (string, error) {
	name := file.Get("name").Str()
	if name == "broken" {
		return "", errors.New("cannot be read")
	}
	return "text of " + name, nil
}

func TestBeginPassesOnInputs(t *testing.T) {
	tests := []struct {
		name, params, inputs string
		want                 string
	}{
		{"a wrapped value is unwrapped", `{}`, `{"city": {"type": "line", "value": "Oslo"}}`, `{"city": "Oslo"}`},
		{
			"a bare value is accepted", `{}`, `{"city": "Oslo", "l": [1], "o": {"k": 1}}`,
			`{"city": "Oslo", "l": [1], "o": {"k": 1}}`,
		},
		{"a number is not converted", `{}`, `{"n": {"type": "integer", "value": "5"}}`, `{"n": "5"}`},
		{
			"an object may be sent as JSON text", `{}`, `{"o": {"type": "object", "value": "{\"k\": [1.50]}"}}`,
			`{"o": {"k": [1.50]}}`,
		},
		{
			"the declared type parses an object", `{"inputs": {"o": {"type": "object"}}}`,
			`{"o": "{\"k\": 1}", "p": "{}"}`,
			`{"o": {"k": 1}, "p": "{}"}`,
		},
		{"an object stays as it is", `{}`, `{"o": {"type": "object", "value": {"k": "{}"}}}`, `{"o": {"k": "{}"}}`},
		{"a string that is not JSON stays as it is", `{}`, `{"o": {"type": "object", "value": "{k"}}`, `{"o": "{k"}`},
		{
			"a required field sent without a value is null", `{}`, `{"n": {"type": "number", "required": true}}`,
			`{"n": null}`,
		},
		{
			"the format of uploads is accepted", `{"layout_recognize": "DeepDOC"}`,
			`{"f": {"type": "file", "value": {"name": "a"}}}`, `{"f": ["text of a"]}`,
		},
		{
			"a field sent without a value is null", `{}`,
			`{"city": {"name": "City", "type": "line", "optional": true}}`,
			`{"city": null}`,
		},
		{
			"an undeclared name is passed on", `{"inputs": {"city": {"type": "line"}}}`, `{"x": {"value": 1}}`,
			`{"x": 1}`,
		},
		{
			"a file becomes a list with its text", `{}`, `{"f": {"type": "file", "value": {"name": "a"}}}`,
			`{"f": ["text of a"]}`,
		},
		{
			"several files become a list", `{}`, `{"f": {"type": "File[]", "value": [{"name": "a"}, {"name": "b"}]}}`,
			`{"f": ["text of a", "text of b"]}`,
		},
		{
			"the declared type makes a file", `{"inputs": {"f": {"type": "file"}}}`, `{"f": {"value": {"name": "a"}}}`,
			`{"f": ["text of a"]}`,
		},
		{
			"a bare descriptor of a declared file is read", `{"inputs": {"f": {"type": "file"}}}`,
			`{"f": {"name": "a", "id": "1"}}`, `{"f": ["text of a"]}`,
		},
		{
			"an optional file may be missing", `{}`, `{"f": {"type": "file", "optional": true, "value": null}}`,
			`{"f": null}`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, engine.Input{Inputs: value(t, tt.inputs)}, engine.Ports{Files: shelf{}},
				"begin Begin "+tt.params)
			require.NoError(t, s.err)
			require.Equal(t, value(t, tt.want).JSON(), s.outputs["begin"].JSON())
			require.Equal(t, value(t, tt.want).JSON(), s.inputs["begin"].JSON())
		})
	}
}

func TestBeginShowsDefaultsButDoesNotApplyThem(t *testing.T) {
	const form = `begin Begin {"inputs": {"city": {"type": "line", "value": "Rome"}, "day": {"value": 1}, "n": {}}}`
	s := play(t, engine.Input{Inputs: value(t, `{"day": {"value": 2}}`)}, engine.Ports{}, form)
	require.NoError(t, s.err)
	require.Equal(t, `{"day":2}`, s.outputs["begin"].JSON())
	require.Equal(t, `{"city":"Rome","day":2}`, s.inputs["begin"].JSON())
}

// Who only sends a query fills a form of one field, or by an object the fields it names.
func TestBeginTakesTheQuery(t *testing.T) {
	const one, two = `{"inputs": {"city": {"type": "line"}}}`, `{"inputs": {"city": {}, "day": {}}}`
	for _, tt := range []struct{ name, params, query, inputs, want string }{
		{"one field", one, `"Oslo"`, `null`, `{"city":"Oslo"}`},
		{"inputs count", one, `"Oslo"`, `{"day": 1}`, `{"day":1}`},
		{"no query", one, `""`, `null`, `{}`},
		{"two fields", two, `"Oslo"`, `null`, `{}`},
		{"no field", `{}`, `"Oslo"`, `null`, `{}`},
		{"an object", two, `{"day": {"value": 2}, "city": "Rome", "x": 1}`, `null`, `{"day":2,"city":"Rome"}`},
		{"a field of files", `{"inputs": {"f": {"type": "file"}}}`, `"Oslo"`, `null`, `{}`},
		{"a webhook", `{"mode": "Webhook", "inputs": {"city": {}}}`, `"Oslo"`, `null`, `{}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, engine.Input{Query: value(t, tt.query), Inputs: value(t, tt.inputs)}, engine.Ports{},
				"begin Begin "+tt.params)
			require.NoError(t, s.err)
			require.Equal(t, tt.want, s.outputs["begin"].JSON())
		})
	}
}

func TestBeginFiles(t *testing.T) {
	in := engine.Input{Inputs: value(t, `{"f": {"type": "file", "value": {"name": "broken"}}}`)}
	s := play(t, in, engine.Ports{Files: shelf{}}, "begin Begin")
	require.ErrorContains(t, s.err, `field "f": file "broken": cannot be read`)
	s = play(t, in, engine.Ports{}, "begin Begin")
	require.ErrorIs(t, s.err, engine.ErrNoPort)
}

func TestBeginWebhook(t *testing.T) {
	hook := value(t, `{"query": {"a": "1"}, "body": {"b": 2}, "input": {"raw": true}}`)
	s := play(t, engine.Input{Webhook: hook}, engine.Ports{}, `begin Begin {"mode": "Webhook"}`)
	require.Equal(t, `{"query":{"a":"1"},"body":{"b":2}}`, s.outputs["begin"].JSON())
	require.Equal(t, `{"request":{"raw":true}}`, s.inputs["begin"].JSON())
	s = play(t, engine.Input{Webhook: hook}, engine.Ports{}, `begin Begin`)
	require.Equal(t, `{}`, s.outputs["begin"].JSON(), "another mode ignores the request")
}

func TestBeginModes(t *testing.T) {
	for _, mode := range []string{"conversational", "task", "Webhook", "Dialog"} {
		play(t, engine.Input{}, engine.Ports{}, `begin Begin {"mode": "`+mode+`"}`)
	}
	require.Contains(t, refused(t, `begin Begin {"mode": "sometimes"}`), "parameter mode")
}

func TestBeginForm(t *testing.T) {
	doc := sketch.Bytes(`begin Begin {"inputs": {"city": {"name": "City", "type": "line"}}}`)
	c, err := engine.Load(registry(t), doc)
	require.NoError(t, err)
	form, err := c.InputForm("begin")
	require.NoError(t, err)
	require.Equal(t, `{"city":{"name":"City","type":"line"}}`, form.JSON())
}
