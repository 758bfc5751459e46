package model

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPresetsAreProviders(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Presets() {
		for _, name := range append(p.Aliases, p.Name) {
			require.False(t, seen[strings.ToLower(name)], "%s is there twice", name)
			seen[strings.ToLower(name)] = true
			found, ok := PresetOf(strings.ToUpper(name))
			require.True(t, ok)
			require.Equal(t, p.Name, found.Name)
		}
		if p.BaseURL == "" {
			require.Contains(t, []API{Azure, Bedrock}, p.API)
			continue
		}
		u, err := url.Parse(p.BaseURL)
		require.NoError(t, err)
		require.Equal(t, map[bool]string{true: "http", false: "https"}[p.Local], u.Scheme, p.Name)
		made, err := newProvider(Provider{Name: p.Name, Key: "k"}, nil)
		require.NoError(t, err)
		require.Equal(t, p.BaseURL, made.config.BaseURL, p.Name)
		require.Equal(t, p.API, made.config.API, p.Name)
		require.NotEmpty(t, made.lists(), p.Name)
	}
}

func TestCompletedProvider(t *testing.T) {
	for _, c := range []struct{ in, want Provider }{
		{Provider{Name: "claude"}, Provider{Name: "claude", API: Anthropic, BaseURL: "https://api.anthropic.com"}},
		{Provider{Name: "Mine"}, Provider{Name: "Mine"}},
		{Provider{Name: "Anthropic", BaseURL: "https://gate"}, Provider{Name: "Anthropic", BaseURL: "https://gate"}},
		{Provider{Name: "Anthropic", API: Gemini}, Provider{Name: "Anthropic", API: Gemini}},
		{Provider{Name: "Groq", API: OpenAI}, Provider{Name: "Groq", BaseURL: "https://api.groq.com/openai/v1"}},
	} {
		require.Equal(t, c.want, c.in.Completed())
	}
}

// The key of a vendor is sent to no other address.
func TestKeysOfPresets(t *testing.T) {
	t.Chdir(t.TempDir())
	keys := []string{"OPENAI_API_KEY", "key of OpenAI", "ANTHROPIC_API_KEY", "key of Anthropic"}
	for _, c := range []struct {
		name string
		env  []string
		want []Provider
	}{
		{
			"a preset",
			[]string{"EASEL_MODEL_PROVIDER", "anthropic"},
			[]Provider{{Name: "anthropic", Key: "key of Anthropic"}},
		},
		{
			"its API",
			[]string{"EASEL_MODEL_PROVIDER", "Anthropic", "EASEL_MODEL_API", "anthropic"},
			[]Provider{{Name: "Anthropic", API: Anthropic, Key: "key of Anthropic"}},
		},
		{"a preset without a key", []string{"EASEL_MODEL_PROVIDER", "Groq"}, nil},
		{"a local one", []string{"EASEL_MODEL_PROVIDER", "Ollama"}, []Provider{{Name: "Ollama"}}},
		{
			"another address",
			[]string{"EASEL_MODEL_PROVIDER", "Anthropic", "EASEL_MODEL_BASE_URL", "http://gate"},
			[]Provider{{Name: "Anthropic", BaseURL: "http://gate", Key: "key of OpenAI"}},
		},
		{"none", nil, []Provider{{Name: "OpenAI", Key: "key of OpenAI"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := FromEnvironment(environment(append(c.env, keys...)...))
			require.NoError(t, err)
			require.Equal(t, c.want, got.Providers)
		})
	}
	for want, p := range map[string]Provider{
		"GROQ_API_KEY": {Name: "Groq"},
		"MINE":         {Name: "Groq", KeyEnv: "MINE"},
		"":             {Name: "Groq", BaseURL: "https://gate"},
	} {
		require.Equal(t, want, strings.Join(p.keyVariables(), " "))
	}
}

func TestAliasesOfProvidersResolve(t *testing.T) {
	m, err := New(Config{Providers: []Provider{{Name: "Tongyi-Qianwen", Models: []Entry{{Name: "qwen-max"}}}}})
	require.NoError(t, err)
	for _, id := range []string{"qwen-max@Tongyi-Qianwen", "qwen-max@qwen", "qwen-max@DashScope"} {
		p, name, err := m.resolve(id, KindChat)
		require.NoError(t, err, id)
		require.Equal(t, "qwen-max of Tongyi-Qianwen", name+" of "+p.config.Label())
	}
	_, _, err = m.resolve("qwen-max@Groq", KindChat)
	require.ErrorIs(t, err, ErrUnknownModel)
}
