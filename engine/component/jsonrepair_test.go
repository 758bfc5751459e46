package component

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func TestLooseJSON(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain JSON keeps the text of numbers", `{"a": 1.0, "b": [1e3]}`, `{"a":1.0,"b":[1e3]}`},
		{"code fence", "```json\n{\"name\": \"Ann\"}\n```", `{"name":"Ann"}`},
		{"code fence on one line", "```json{\"a\": 1}```", `{"a":1}`},
		{"code fence after a sentence", "Here it is:\n```\n[1, 2]\n```\nDone.", `[1,2]`},
		{"reasoning before the JSON", "<think>{\"no\": 1}</think>{\"a\": 1}", `{"a":1}`},
		{"stop marker", `[{"name": "x"}]<|stop|>` + "\n```", `[{"name":"x"}]`},
		{"unquoted names, single quotes, truncated", "{name: 'Bob',", `{"name":"Bob"}`},
		{"trailing commas", `{"a": [1, 2,], }`, `{"a":[1,2]}`},
		{"Python literals", `{'a': True, 'b': None, 'c': (1, 2)}`, `{"a":true,"b":null,"c":[1,2]}`},
		{"truncated inside a string", `{"a": "hel`, `{"a":"hel"}`},
		{"truncated after a colon", `{"a": 1, "b":`, `{"a":1,"b":null}`},
		{"missing commas", "{\"a\": 1\n\"b\": 2}", `{"a":1,"b":2}`},
		{"missing comma between strings", `["a" "b"]`, `["a","b"]`},
		{"comments", "{\"a\": 1, // one\n/* two */ \"b\": 2}", `{"a":1,"b":2}`},
		{"quotes inside a string", `{"a": "he said "hi" twice"}`, `{"a":"he said \"hi\" twice"}`},
		{"line breaks inside a string", "{\"a\": \"x\ny\"}", `{"a":"x\ny"}`},
		{"a sentence around the JSON", `Sure! {"a": 1} Anything else?`, `{"a":1}`},
		{"typographic quotes", `{“a”: “b”}`, `{"a":"b"}`},
		{"bare text as a value", `{"a": some words, "b": 2}`, `{"a":"some words","b":2}`},
		{"surrogate pair", `{'a': '\ud83d\ude00'}`, `{"a":"😀"}`},
		{"wrong closing bracket", `{"a": [1, 2}`, `{"a":[1,2]}`},
		{"prose in braces comes first", `As {they} say: {"a": 1}`, `{"a":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := readLooseJSON(c.text)
			require.NoError(t, err)
			require.Equal(t, c.want, v.JSON())
		})
	}
}

func TestLooseJSONRefusesProse(t *testing.T) {
	for _, text := range []string{
		"", "just prose", `"a text"`, "42", "null", "I will search", "see [the list]",
		"```\ncode\n```",
	} {
		v, err := readLooseJSON(text)
		require.ErrorIs(t, err, errNoJSON, "%q gave %s", text, v.JSON())
	}
}

func FuzzLooseJSON(f *testing.F) {
	for _, s := range []string{
		"{a: 'b', c: [1,2", "```json\n{}\n```", `{"a": "x\`, `{"\u12`, "[(((", "{“a”: ‘b’",
		strings.Repeat("[", 300),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := readLooseJSON(text)
		if err != nil {
			return
		}
		again, err := engine.ParseJSONText(v.JSON())
		require.NoError(t, err, "what was read must be writable as JSON")
		require.True(t, engine.Equal(v, again))
	})
}
