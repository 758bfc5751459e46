package component

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest/sketch"
)

// invoking returns a canvas with one Invoke and variables that it defines itself.
func invoking(t *testing.T, params string) *engine.Canvas {
	t.Helper()
	reg, err := engine.NewRegistry(Builtin()...)
	require.NoError(t, err)
	c, err := engine.Load(reg, sketch.Bytes("begin Begin -> X", "X Invoke "+params,
		`@variables {"base": {"type": "string", "value": "https://h/v1"}, "path": {"type": "string", "value": "x/y%20z"},
			"list": {"type": "array<number>", "value": [1, 2]}}`))
	require.NoError(t, err)
	return c
}

func TestInvokeEscapesValuesInAddresses(t *testing.T) {
	for _, tt := range []struct{ name, url, query, want string }{
		{"a space in the path", "https://h/{sys.query}/x", "a b", "https://h/a%20b/x"},
		{
			"reserved characters in the path", "https://h/{sys.query}", "a/b?c#d%20&é",
			"https://h/a%2Fb%3Fc%23d%2520%26%C3%A9",
		},
		{
			"text of the canvas is not escaped again", "https://h/a%20b/{sys.query}?x=%C3%A9&y={sys.query}#top",
			"v",
			"https://h/a%20b/v?x=%C3%A9&y=v#top",
		},
		{".. is escaped as one path segment", "https://h/files/{sys.query}", "../admin", "https://h/files/..%2Fadmin"},
		{"a query field", "https://h/?q={sys.query}&k=1", "a b&k=2#x", "https://h/?q=a%20b%26k%3D2%23x&k=1"},
		{"a whole query string", "https://h/?{sys.query}", "a=1&b=x y%20#z", "https://h/?a=1&b=x%20y%20%23z"},
		{"a whole URL", "{sys.query}", "https://h/a/b?c=d&e=f%20", "https://h/a/b?c=d&e=f%20"},
		{"a base URL and a path segment", "{env.base}/{sys.query}", "a/b", "https://h/v1/a%2Fb"},
		{"a path segment from the canvas", "https://h/{env.path}/{sys.query}", "a b", "https://h/x/y%20z/a%20b"},
		{"a host without scheme", "h/{sys.query}", "a b", "http://h/a%20b"},
		{"dots inside a longer segment", "https://h/{sys.query}.json", ".", "https://h/..json"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &wire{}
			s := run(t, invoking(t, `{"url": "`+tt.url+`"}`), nil, tt.query, engine.Null, engine.Ports{HTTP: w})
			require.NoError(t, s.err)
			require.Equal(t, tt.want, w.asked[0].URL)
		})
	}
}

func TestInvokeRefusesValuesThatLeaveThePath(t *testing.T) {
	for url, query := range map[string]string{
		"https://h/a/{sys.query}":            "..",
		"https://h/a/{sys.query}/b":          "..",
		"https://h/a/.{sys.query}?x=1":       ".",
		"https://h/a/{sys.query}{sys.query}": ".",
		"https://h/a/%2e{sys.query}#x":       ".",
		"h/{sys.query}":                      ".",
	} {
		w := &wire{}
		s := run(t, invoking(t, `{"url": "`+url+`"}`), nil, query, engine.Null, engine.Ports{HTTP: w})
		require.ErrorContains(t, s.err, "a path segment", url)
		require.Empty(t, w.asked, url)
	}
	w := &wire{}
	s := run(t, invoking(t, `{"url": "https://h/a/../{sys.query}"}`), nil, "b", engine.Null, engine.Ports{HTTP: w})
	require.NoError(t, s.err, "the canvas itself may write one")
}

func TestInvokeRendersValues(t *testing.T) {
	w := &wire{}
	s := run(t, invoking(t, `{"url": "h", "method": "post", "variables": [
		{"key": "text", "value": "<{sys.query}> {{secret:KEY}}"}, {"key": "whole", "value": "{env.list}"},
		{"key": "plain", "value": {"n": 1}}, {"key": "literal", "value": "{x}"}, {"key": "ref", "value": "", "ref": "sys.query"}]}`),
		nil, "{{secret:OTHER}}", engine.Null, engine.Ports{HTTP: w})
	require.NoError(t, s.err)
	body := engine.UnmarkSecrets(w.asked[0].Body, w.asked[0].SecretMark)
	require.Equal(t,
		`{"text":"<{{secret:OTHER}}> `+
			`{{secret:KEY}}","whole":[1,2],"plain":{"n":1},"literal":"{x}","ref":"{{secret:OTHER}}"}`, body)
	require.Contains(t, w.asked[0].Body, "{{secret:OTHER}}", "a secret that a value names stays plain text")
}
