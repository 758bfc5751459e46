package contract

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func parsePermissions(t *testing.T, text string) (p Permissions) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &p))
	return p
}

func TestPermissionsCut(t *testing.T) {
	asked := parsePermissions(t,
		`{"http":{"hosts":["api.a.example","*.b.example"],"methods":["GET","POST"],"private":true,"reason":"r"},
		"secrets":{"K":{"hosts":["api.a.example"]},"L":{"hosts":["x"],"plain":true}},"llm":{"max_calls":5},
		"kv":{"bytes":100},"variables":{"read":["sys.query"],"write":["env.x"]},"clock":{"precise":true,"reason":"r"}}`)
	for _, c := range []struct{ name, ceiling, want string }{
		{"no permission has no parts", `{}`, `{}`},
		{
			"the narrower host pattern applies", `{"http":{"hosts":["*.a.example","c.b.example"],"methods":["*"]}}`,
			`{"http":{"hosts":["api.a.example","c.b.example"],"methods":["GET","POST"],"reason":"r"}}`,
		},
		{
			"private addresses need both sides", `{"http":{"hosts":["*"],"methods":["GET"],"private":false}}`,
			`{"http":{"hosts":["api.a.example","*.b.example"],"methods":["GET"],"reason":"r"}}`,
		},
		{"without a common method the permission is dropped", `{"http":{"hosts":["*"],"methods":["PUT"]}}`, `{}`},
		{
			"the smaller limit applies", `{"llm":{"max_calls":2},"kv":{"bytes":1000}}`,
			`{"llm":{"max_calls":2},"kv":{"bytes":100}}`,
		},
		{
			"secrets keep their hosts", `{"secrets":{"K":{"hosts":["*"]}}}`,
			`{"secrets":{"K":{"hosts":["api.a.example"]}}}`,
		},
		{
			"plain HTTP needs both sides", `{"secrets":{"L":{"hosts":["*"]}}}`,
			`{"secrets":{"L":{"hosts":["x"]}}}`,
		},
		{"a precise clock needs both sides", `{"clock":{}}`, `{}`},
		{"a precise clock", `{"clock":{"precise":true}}`, `{"clock":{"precise":true,"reason":"r"}}`},
		{"names are intersected", `{"variables":{"read":["*"]}}`, `{"variables":{"read":["sys.query"]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := json.Marshal(asked.Cut(parsePermissions(t, c.ceiling)))
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(got))
		})
	}
	all, err := json.Marshal(asked.Cut(Everything()))
	require.NoError(t, err)
	same, err := json.Marshal(asked)
	require.NoError(t, err)
	require.JSONEq(t, string(same), string(all))
	require.Empty(t, asked.Beyond(Everything()))
	require.Empty(t, asked.Beyond(asked))
	require.Equal(t, []string{
		"http to api.a.example", "http to *.b.example", "http method GET", "http method POST",
		"http to private addresses", "secret K for api.a.example", "secret L for x", "secret L without encryption",
		"5 calls of llm", "kv of 100 bytes", "reading sys.query", "writing env.x",
		"a precise clock",
	}, asked.Beyond(Permissions{}))
}

func TestAllow(t *testing.T) {
	asked := parsePermissions(t,
		`{"http":{"hosts":["a.example","b.example"],"methods":["GET","POST"],"private":true},
		"secrets":{"K":{"hosts":["a.example"]},"L":{"hosts":["b.example"]}},
		"llm":{"max_calls":5},"embed":{"max_calls":1},"kv":{"bytes":100},"variables":{"read":["sys.query"]},
		"clock":{"precise":true}}`)
	for _, c := range []struct{ words, left string }{
		{"", `{}`},
		{"none", `{}`},
		{"http", `{"http":{"hosts":["a.example","b.example"],"methods":["GET","POST"],"private":true}}`},
		{
			"http:b.example,kv",
			`{"http":{"hosts":["b.example"],"methods":["GET","POST"],"private":true},"kv":{"bytes":100}}`,
		},
		{"http:*.example", `{"http":{"hosts":["a.example","b.example"],"methods":["GET","POST"],"private":true}}`},
		{"secrets", `{"secrets":{"K":{"hosts":["a.example"]},"L":{"hosts":["b.example"]}}}`},
		{"secrets:L, llm", `{"secrets":{"L":{"hosts":["b.example"]}},"llm":{"max_calls":5}}`},
		{"embed,variables", `{"embed":{"max_calls":1},"variables":{"read":["sys.query"]}}`},
		{"clock", `{"clock":{"precise":true}}`},
	} {
		t.Run(c.words, func(t *testing.T) {
			ceiling, err := Allow(strings.Split(c.words, ","))
			require.NoError(t, err)
			got, err := json.Marshal(asked.Cut(ceiling))
			require.NoError(t, err)
			require.JSONEq(t, c.left, string(got))
		})
	}
	all, err := Allow([]string{"kv", "all"})
	require.NoError(t, err)
	require.Empty(t, asked.Beyond(asked.Cut(all)))
	for word, says := range map[string]string{
		"everything": "want all, none", "kv:5": "only http:HOST",
		"http:": "only http:HOST", "secret": "secrets:NAME",
	} {
		_, err := Allow([]string{word})
		require.ErrorContains(t, err, says)
	}
}
