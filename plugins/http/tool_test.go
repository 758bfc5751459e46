package httptool

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

const testManifest = `{"name":"t","arguments":{"properties":{"query":{"default":"q"}}},"params":{"properties":{"top_n":{"default":3}}},
	"outputs":{"properties":{"json":{}}},"permissions":{"http":{"hosts":["api.example.org","*.wiki.example"]},"secrets":{"KEY":{"hosts":["api.example.org"]}}}}`

func TestParseNamesThePlace(t *testing.T) {
	for spec, part := range map[string]string{
		`{"steps":[{"name":"a","url":"https://api.example.org/?q={args.query|trim}"}],"outputs":{"json":"{a}"}}`: "",
		`{"steps":[{"name":"a","url":"https://de.wiki.example/"}],"outputs":{"json":"{{a}}"}}`:                   "",
		`{"step":[]}`:                       `unknown field "step"`,
		`{"steps":[],"outputs":{"json":1}}`: "steps: is empty",
		`{"steps":[{"name":"a","url":"https://evil.example/"}],"outputs":{"json":1}}`:                                                            "steps[0].url: host evil.example is not among permissions.http.hosts",
		`{"steps":[{"name":"a","url":"https://api.example.org/","method":"POST"}],"outputs":{"json":1}}`:                                         "POST is not among permissions.http.methods",
		`{"steps":[{"name":"a","url":"/x"}],"outputs":{"json":1}}`:                                                                               "is relative; set base_url",
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"text":1}}`:                                                         "outputs.text: is not among the outputs",
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"json":"{b}"}}`:                                                     `outputs.json: {b}: there is no "b" here`,
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"json":"{a|upcase}"}}`:                                              `there is no filter "upcase"`,
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"json":"{a|cut}"}}`:                                                 "filter cut takes 1 arguments, not 0",
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"json":"{a"}}`:                                                      "{ without }",
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"json":"{a b}"}}`:                                                   `not understood at "b"`,
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"json":"{item}"}}`:                                                  `there is no "item"`,
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"json":{"$each":"{a}","$as":"{item}","$x":1}}}`:                     "$x: does not belong to $each",
		`{"steps":[{"name":"a","url":"https://api.example.org/"}],"outputs":{"json":{"$if":"{a}"}}}`:                                             "$if needs $then",
		`{"steps":[{"name":"a","url":"https://api.example.org/","query":{"k":"{secret.OTHER}"}}],"outputs":{"json":1}}`:                          `"OTHER" is not among permissions.secrets`,
		`{"steps":[{"name":"a","url":"https://api.example.org/","json":{},"body":"x"}],"outputs":{"json":1}}`:                                    "more than one of json, form and body",
		`{"steps":[{"name":"a","url":"https://api.example.org/","errors":[{"when":"{body}","code":"bad","message":"m"}]}],"outputs":{"json":1}}`: `errors[0].code: is "bad"`,
		`{"unavailable":"no API","outputs":{"json":1}}`:                                                                                          "stands beside steps or outputs",
		`{"unavailable":"no API"} {}`: "data after the closing brace",
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
	tool, err := Parse([]byte(testManifest), []byte(`{"steps":[{"name":"a","url":"https://api.example.org/","query":{"z":1,"a":2}}],"outputs":{"json":1}}`))
	require.NoError(t, err)
	section, err := tool.Section()
	require.NoError(t, err)
	require.Equal(t, `{"defaults":{"arguments":{"query":"q"},"params":{"top_n":3}},`+
		`"steps":[{"name":"a","url":"https://api.example.org/","query":{"z":1,"a":2}}],"outputs":{"json":1}}`, string(section))
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

// An OpenAPI document with references in a circle, and one whose texts could play tricks, import.
func TestOpenAPIOfStrangers(t *testing.T) {
	var doc any
	require.NoError(t, json.Unmarshal([]byte(`{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],"paths":{"/a":{"post":{"operationId":"Do It!","summary":"\u001b[31mred",
		"requestBody":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}},"responses":{}}}},
		"components":{"schemas":{"A":{"allOf":[{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/A"},{"$ref":"#/components/schemas/B"}]},"B":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/B"}}},"C":{"$ref":"#/components/schemas/C"}}}}`), &doc))
	api, err := ReadOpenAPI(doc)
	require.NoError(t, err)
	im, err := api.Import(api.Operations()[0])
	require.NoError(t, err)
	require.Equal(t, "do_it", im.Name)
	require.Equal(t, "[31mred", im.Manifest["description"])
}
