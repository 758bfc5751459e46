package model

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestConfigFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "models.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"default": "a@P", "providers": [
		{"name": "P", "base_url": "http://h/v1", "key_env": "P_KEY", "models": ["a", {"name": "b", "tools": false, `+
		`"context": 9}]}]}`), 0o600))
	c, err := FromEnvironment(environment("EASEL_MODEL_FILE", path, "P_KEY", "k1", "OPENAI_API_KEY", "k2",
		"OPENAI_MODEL", "x, y"))
	require.NoError(t, err)
	no := false
	require.Equal(t, Config{Default: "a@P", Providers: []Provider{
		{
			Name: "P", BaseURL: "http://h/v1", Key: "k1", KeyEnv: "P_KEY",
			Models: []Entry{{Name: "a"}, {Name: "b", Tools: &no, Context: 9}},
		},
		{Name: "OpenAI", Key: "k2", Models: []Entry{{Name: "x"}, {Name: "y"}}},
	}}, c)
}

func TestConfigFromEnvironment(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		name string
		env  []string
		want Config
	}{
		{"no variable set", nil, Config{}},
		{
			"easel names take precedence",
			[]string{
				"EASEL_MODEL_BASE_URL", "http://a", "OPENAI_BASE_URL", "http://b", "EASEL_MODEL_PROVIDER", "Mine",
				"EASEL_MODEL_DEFAULT", "m",
			},
			Config{Default: "m", Providers: []Provider{{Name: "Mine", BaseURL: "http://a"}}},
		},
		{"key only", []string{"OPENAI_API_KEY", "k"}, Config{Providers: []Provider{{Name: "OpenAI", Key: "k"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := FromEnvironment(environment(c.env...))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestInvalidConfigIsRefused(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, file, want string }{
		{"invalid JSON", `{`, "unexpected EOF"},
		{"a unknown key", `{"providers": [{"name": "P", "url": "http://h"}]}`, `unknown field "url"`},
		{"a unknown key in a model", `{"providers": [{"name": "P", "models": [{"nam": "x"}]}]}`, `unknown field "nam"`},
		{"provider without a name", `{"providers": [{"base_url": "http://h"}]}`, "providers[0]: name is empty"},
		{
			"invalid address", `{"providers": [{"name": "P", "base_url": "h/v1"}]}`,
			`base_url "h/v1" is not an http or https address`,
		},
		{
			"unknown API", `{"providers": [{"name": "P", "api": "Anthropic"}]}`,
			`providers[0]: P: api "Anthropic" is unknown (one of openai, anthropic, `,
		},
		{
			"Azure without an address", `{"providers": [{"name": "P", "api": "azure"}]}`,
			"P: base_url is empty; api azure requires the address of your resource",
		},
		{
			"embeddings of an API without", `{"providers": [{"name": "P", "api": "anthropic", "models": [{"name": "e",
			"kind": "embedding"}]}]}`, `model "e": api anthropic has chat models only; add a provider with api openai`,
		},
		{
			"the name of a header", `{"providers": [{"name": "P", "headers": {"a b": "x"}}]}`,
			`headers: "a b" is not the name of a header`,
		},
		{
			"the value of a header", `{"providers": [{"name": "P", "headers": {"A": "x\r\nB: y"}}]}`,
			"headers: the value of A has characters that a header cannot have",
		},
		{
			"a header of the client", `{"providers": [{"name": "P", "headers": {"content-length": "1"}}]}`,
			"headers: content-length is set by easel",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, "m.json")
			require.NoError(t, os.WriteFile(path, []byte(c.file), 0o600))
			config, err := ReadConfig(path)
			if err == nil {
				_, err = New(config)
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := FromEnvironment(environment("EASEL_MODEL_FILE", filepath.Join(dir, "missing.json")))
	require.ErrorIs(t, err, os.ErrNotExist)
}
