package httptool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

const testManifest = `{"name":"t","arguments":{"properties":{"query":{"default":"q"}}},
	"params":{"properties":{"top_n":{"default":3}}},"outputs":{"properties":{"json":{}}},
	"permissions":{"http":{"hosts":["api.example.org","*.wiki.example"]},
		"secrets":{"KEY":{"hosts":["api.example.org"]}}}}`

// one returns a spec of one step with additional members, and one output.
func one(step, output string) string {
	return `{"steps":[{"name":"a",` + step + `}],"outputs":{"json":` + output + `}}`
}

const api = `"url":"https://api.example.org/"`

func TestParseNamesThePlace(t *testing.T) {
	for spec, part := range map[string]string{
		one(`"url":"https://api.example.org/?q={args.query|trim}"`, `"{a}"`): "",
		one(`"url":"https://de.wiki.example/"`, `"{{a}}"`):                   "",

		`{"step":[]}`:                                               `unknown field "step"`,
		`{"steps":[],"outputs":{"json":1}}`:                         "steps: is empty",
		`{"unavailable":"no API","outputs":{"json":1}}`:             "cannot be combined with steps or outputs",
		`{"unavailable":"no API"} {}`:                               "data after the closing brace",
		`{"steps":[{"name":"a",` + api + `}],"outputs":{"text":1}}`: "outputs.text: is not among the outputs",

		one(`"url":"https://evil.example/"`, `1`):       "steps[0].url: host evil.example is not among",
		one(`"url":"/x"`, `1`):                          "is relative; set base_url",
		one(api+`,"method":"POST"`, `1`):                "POST is not among permissions.http.methods",
		one(api+`,"json":{},"body":"x"`, `1`):           "more than one of json, form and body",
		one(api+`,"query":{"k":"{secret.OTHER}"}`, `1`): `"OTHER" is not among permissions.secrets`,

		one(api+`,"errors":[{"when":"{body}","code":"bad","message":"m"}]`, `1`): `errors[0].code: is "bad"`,

		one(api, `"{b}"`):        `outputs.json: {b}: there is no "b" here`,
		one(api, `"{a|upcase}"`): `there is no filter "upcase"`,
		one(api, `"{a|cut}"`):    "filter cut takes 1 arguments, not 0",
		one(api, `"{a"`):         "{ without }",
		one(api, `"{a b}"`):      `not understood at "b"`,
		one(api, `"{item}"`):     `there is no "item"`,
		one(api, `{"$each":"{a}","$as":"{item}","$x":1}`): "$x: does not belong to $each",
		one(api, `{"$if":"{a}"}`):                         "$if needs $then",
	} {
		_, err := Parse([]byte(testManifest), []byte(spec))
		if part == "" {
			require.NoError(t, err, spec)
			continue
		}
		require.ErrorContains(t, err, part, spec)
	}
}

func TestSectionCarriesDefaultsAndKeepsOrder(t *testing.T) {
	tool, err := Parse([]byte(testManifest), []byte(one(api+`,"query":{"z":1,"a":2}`, `1`)))
	require.NoError(t, err)
	section, err := tool.Section()
	require.NoError(t, err)
	require.Equal(t, `{"defaults":{"arguments":{"query":"q"},"params":{"top_n":3}},`+
		one(api+`,"query":{"z":1,"a":2}`, `1`)[1:], string(section))
}

func TestSchemaAcceptsWhatParseAccepts(t *testing.T) {
	var s jsonschema.Schema
	require.NoError(t, json.Unmarshal(Schema(), &s))
	resolved, err := s.Resolve(nil)
	require.NoError(t, err)
	for spec, valid := range map[string]bool{
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"json":"{a}"}}`: true,
		`{"unavailable":"no API"}`: true,
		`{"steps":[{"name":"a","url":"https://api.example.org/","verb":"GET"}],"outputs":{"json":1}}`: false,
		`{"outputs":{"json":1}}`: false,
	} {
		var v any
		require.NoError(t, json.Unmarshal([]byte(spec), &v))
		require.Equal(t, valid, resolved.Validate(v) == nil, spec)
	}
}

// OpenAPI documents with cyclic references, and with misleading texts, are imported.
func TestOpenAPIOfStrangers(t *testing.T) {
	var doc any
	self := strings.Repeat(`{"$ref":"#/components/schemas/A"},`, 6)
	require.NoError(t, json.Unmarshal([]byte(`{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],
		"paths":{"/a":{"post":{"operationId":"Do It!","summary":"\u001b[31mred","responses":{},
			"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}},
		"components":{"schemas":{"A":{"allOf":[`+self+`{"$ref":"#/components/schemas/B"}]},
			"B":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/B"}}},
			"C":{"$ref":"#/components/schemas/C"}}}}`), &doc))
	read, err := ReadOpenAPI(doc)
	require.NoError(t, err)
	im, err := read.Import(read.Operations()[0])
	require.NoError(t, err)
	require.Equal(t, "do_it", im.Name)
	require.Equal(t, "[31mred", im.Manifest["description"])
}
