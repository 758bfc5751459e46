package pluginkit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/plugins/contract"
)

// calculator has the form of the original's own demo plugin: class, version, metadata, function.
const calculator = `
import logging
from agent.plugin import LLMToolMetadata, LLMToolPlugin

class Calculator(LLMToolPlugin):
    """
    Adds two numbers.
    def helper(): return {"not": "this"}
    """
    _version_: str = "1.2"

    def defaults(self):
        return {"nor": this}

    @classmethod
    def get_metadata(cls) -> LLMToolMetadata:
        # what a model sees
        return {
            "name": "Bad Calculator", # a name
            'displayName': "$t:calc.name",
            "description": """Adds "two" numbers""",
            "displayDescription": "$t:calc.description",
            "parameters": {
                "a": {
                    "type": "number",
                    "description": 'The first ' "number, such as 3\u20ac",
                    "displayDescription": "$t:calc.params.a",
                    "required": True
                },
                "b": {"type": "int", "description": r"a\b", "required": False, "default": 1_000,},
                "how": {"type": "string", "description": ("In brackets"), "enum": ("plus", 'minus'), "default": None},
            },
        }

    def invoke(self, a: float, b: float) -> str:
        return str(a + b)
`

func imported(t *testing.T, source string) string {
	t.Helper()
	manifest, err := pluginkit.Import(source)
	require.NoError(t, err)
	raw, err := json.Marshal(manifest)
	require.NoError(t, err)
	return string(raw)
}

func TestImport(t *testing.T) {
	require.JSONEq(t, `{"abi":1,"name":"bad_calculator","version":"1.2.0","category":"tools","description":"Adds \"two\" numbers","display":{"en":"$t:calc.name"},
		"arguments":{"type":"object","properties":{
			"a":{"type":"number","description":"The first number, such as 3€"},"b":{"type":"integer","description":"a\\b","default":1000},
			"how":{"type":"string","description":"In brackets","enum":["plus","minus"]}},"required":["a"]},
		"outputs":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`, imported(t, calculator))
	require.Contains(t, imported(t, `{"name": "web", "displayName": "Web", "parameters": {"q": {"type": "string", "description": "\ud83c\udf0d", "required": true}}}`), `"description":"🌍"`)
}

func TestImportRefuses(t *testing.T) {
	block := func(s string) string { return "def get_metadata(cls):\n    return " + s }
	for source, says := range map[string]string{
		"print(1)":                                     "`def get_metadata` not found",
		"def get_metadata(cls):\n    pass":             "`return {` not found in get_metadata",
		block("{"):                                     "unexpected end of the metadata",
		block("{'a': 'x"):                              "unterminated string",
		block("{'name': 'a\n'}"):                       "line 1: unterminated string",
		block("{'name': NAME}"):                        "NAME is not a literal: replace it by its value",
		block("{'name': f'x'}"):                        "string prefix f is not supported",
		block("{'name': 'x' + 'y'}"):                   "expected ',' or '}', found '+'",
		block("{'a': 1}"):                              "name is missing",
		block("{'name': 5}"):                           "name is missing",
		block("{1: 2}"):                                "key is not a string",
		block("{'name' 'x'}"):                          `expected ':' after the key "namex"`,
		block("{'name': 'x', 'parameters': [1]}"):      "parameters: expected an object",
		block("{'name': 'x', 'parameters': {'a': 1}}"): "parameters.a: expected an object",
		block("{'name': 'x', 'parameters': {'a': {'type': 'picture'}}}"): `parameters.a: unknown type "picture" (one of string`,
		block("{'name': '天气'}"):                                          "want lower-case letters",
		block("{'name': 'x', 'description': '\\x1b[2J'}"):                "control character",
		block("{'name': " + strings.Repeat("[", 200) + "}"):              "nested deeper than 100 levels",
		"{\n\n\"name\": oops}":                                           "line 3: oops is not a literal",
	} {
		t.Run(says, func(t *testing.T) {
			_, err := pluginkit.Import(source)
			require.ErrorContains(t, err, says, source)
		})
	}
}

// FuzzImport reads metadata of strangers: what is accepted is a manifest, everything else an error.
func FuzzImport(f *testing.F) {
	f.Add(calculator)
	f.Add(`{"name": "x", "parameters": {"a": {"type": "number", "required": true}}}`)
	f.Add("def get_metadata():\n return {'name': \"a\\u00e5\\x41\\N\", **more}")
	f.Fuzz(func(t *testing.T, source string) {
		manifest, err := pluginkit.Import(source)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		raw, err := json.Marshal(manifest)
		require.NoError(t, err)
		_, err = contract.ParseManifest(raw)
		require.NoError(t, err)
	})
}
