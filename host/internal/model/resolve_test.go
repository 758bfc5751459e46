package model

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
)

func testModels(t *testing.T) *Models {
	t.Helper()
	m, err := New(Config{
		Default: "small@OpenAI",
		Aliases: map[string]string{"deepseek-chat@DeepSeek": "big@work@OpenAI", "dead": "missing@Nowhere"},
		Providers: []Provider{
			{Name: "OpenAI", Models: []Entry{{Name: "small"}, {Name: "a@b"}}},
			{Name: "OpenAI", Instance: "work", Models: []Entry{{Name: "big"}, {Name: "small"}}},
			{Name: "Local", BaseURL: "http://127.0.0.1:11434/v1"},
		},
	})
	require.NoError(t, err)
	return m
}

func TestResolve(t *testing.T) {
	m := testModels(t)
	for _, c := range []struct{ name, id, provider, model string }{
		{"empty means the default", "", "OpenAI", "small"},
		{"a listed name", "big", "work@OpenAI", "big"},
		{"name and provider", "small@OpenAI", "OpenAI", "small"},
		{"provider is case-insensitive", "small@openai", "OpenAI", "small"},
		{"name, instance and provider", "small@work@OpenAI", "work@OpenAI", "small"},
		{"the instance named default", "small@default@OpenAI", "OpenAI", "small"},
		{"the only instance with the model", "big@OpenAI", "work@OpenAI", "big"},
		{"a name with @", "a@b", "OpenAI", "a@b"},
		{"a name with @ and a provider", "a@b@OpenAI", "OpenAI", "a@b"},
		{"any name without a list", "llama:8b@Local", "Local", "llama:8b"},
		{"any name with @ without a list", "@cf/llama@Local", "Local", "@cf/llama"},
		{"unlisted name goes to the provider without a list", "unheard-of", "Local", "unheard-of"},
		{"an alias", "deepseek-chat@DeepSeek", "work@OpenAI", "big"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, name, err := m.resolve(c.id, KindChat)
			require.NoError(t, err)
			require.Equal(t, c.provider+" "+c.model, p.config.Label()+" "+name)
		})
	}
}

func TestUnknownModelErrorListsKnownModels(t *testing.T) {
	m := testModels(t)
	for _, id := range []string{"qwen-max@Tongyi-Qianwen", "huge@OpenAI", "small@home@OpenAI"} {
		_, _, err := m.resolve(id, KindChat)
		require.ErrorIs(t, err, ErrUnknownModel)
		require.ErrorContains(t, err, `"`+id+`"`)
		require.ErrorContains(t, err, "small@OpenAI, a@b@OpenAI, big@work@OpenAI, small@work@OpenAI, any name@Local")
	}
	_, err := m.Select("huge@OpenAI")
	require.ErrorIs(t, err, ErrUnknownModel)
}

func TestCatchAllAlias(t *testing.T) {
	m, err := New(Config{
		Aliases:   map[string]string{"*": "m@Local"},
		Providers: []Provider{{Name: "Local", Models: []Entry{{Name: "m"}}}},
	})
	require.NoError(t, err)
	p, name, err := m.resolve("qwen-max@Tongyi-Qianwen", KindChat)
	require.NoError(t, err)
	require.Equal(t, "Local m", p.config.Label()+" "+name)
}

func TestOfflineWithoutProviders(t *testing.T) {
	m, err := New(Config{})
	require.NoError(t, err)
	text, _, err := collect(m.Generate(t.Context(), &engine.ModelRequest{
		LLM: "gpt@OpenAI", Messages: []engine.ModelMessage{{Role: "user", Content: "Hello"}},
	}))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(text, "[Offline answer"), text)
	_, err = m.Select("gpt@OpenAI")
	require.ErrorContains(t, err, "no provider is configured")
}

func TestModelInfo(t *testing.T) {
	no := false
	m, err := New(Config{Providers: []Provider{{
		Name:   "P",
		Models: []Entry{{Name: "plain"}, {Name: "text", Tools: &no, Images: &no, Context: 4096}},
	}}})
	require.NoError(t, err)
	require.Equal(t, engine.Info{Tools: true, Images: true, Context: 128_000, Model: "plain@P"},
		m.ModelInfo(t.Context(), "plain"))
	require.Equal(t, engine.Info{Context: 4096, Model: "text@P"}, m.ModelInfo(t.Context(), "text@P"))
}

func TestNamesInAnotherCase(t *testing.T) {
	m, err := New(Config{Providers: []Provider{
		{Name: "A", Models: []Entry{{Name: "GPT-X"}, {Name: "both"}}},
		{Name: "B", Models: []Entry{{Name: "gpt-x"}, {Name: "Only"}}},
	}})
	require.NoError(t, err)
	for id, want := range map[string]string{
		"GPT-X": "A GPT-X", "gpt-x": "B gpt-x", "Gpt-x": "A GPT-X", "ONLY": "B Only", "only@b": "B Only",
		"BOTH@default@a": "A both",
	} {
		p, name, err := m.resolve(id, KindChat)
		require.NoError(t, err, id)
		require.Equal(t, want, p.config.Label()+" "+name, id)
	}
}

func TestNamesOfModelsInDocuments(t *testing.T) {
	doc, err := engine.ParseJSON([]byte(`{"components":{"A":{"obj":{"params":{"llm_id":"a","n":1.0,"tools":[
		{"params":{"llm_id":"b"}},{"params":{"llm_id":"{x@y}"}}],"setups":{"image":{"llm_id":"a"}}}}}},
		"settings":{"fallback_models":["a","b",7]},"graph":{"nodes":[{"data":{"form":{"llm_id":"a","name":"a"}}}]}}`))
	require.NoError(t, err)
	var named []string
	NamedIn(doc.Without("graph"), func(id string) { named = append(named, id) })
	require.Equal(t, []string{"a", "b", "a", "a", "b"}, named)
	renamed := Renamed(doc, map[string]string{"a": "c@P", "none": "x"})
	want := strings.NewReplacer(`"llm_id":"a"`, `"llm_id":"c@P"`, `["a",`, `["c@P",`).Replace(doc.JSON())
	require.Equal(t, want, renamed.JSON())
	require.Equal(t, doc.JSON(), Renamed(doc, map[string]string{"1": "c"}).JSON())
}

// Large documents cost time and text in proportion to their size: a chain of containers, an unknown
// model in each step, and a different one in each.
func TestUnknownModelsOfLargeDocuments(t *testing.T) {
	m, err := New(Config{Providers: []Provider{{Name: "P", Models: []Entry{{Name: strings.Repeat("m", 200)}}}}})
	require.NoError(t, err)
	const steps = 50_000
	large := func(step string) engine.Value {
		var b strings.Builder
		for i := range steps {
			fmt.Fprintf(&b, `,"n%d":`+step, i, i+1)
		}
		doc, err := engine.ParseJSON([]byte(`{"components":{` + b.String()[1:] + `}}`))
		require.NoError(t, err)
		return doc
	}
	began := time.Now()
	require.Empty(t, m.UnknownIn(large(`{"parent_id":"n%d"}`)))
	same := m.UnknownIn(large(`{"obj":{"params":{"llm_id":"x","other":%d}}}`))
	require.Len(t, same, steps)
	text := 0
	for _, d := range same {
		text += len(d.Message)
	}
	require.Less(t, text, 50*steps, "the known models are listed once")
	require.Equal(t, `unknown model "x", see n0`, same[1].Message)
	differ := m.UnknownIn(large(`{"obj":{"params":{"llm_id":"x%d"}}}`))
	require.Len(t, differ, mostNames+1)
	require.Contains(t, differ[mostNames].Message, "not looked up")
	require.Less(t, time.Since(began), 20*time.Second, "the first alone took minutes")
}

// A provider that accepts every name does not take one that is an alias.
func TestAliasesBeforeOpenProviders(t *testing.T) {
	m, err := New(Config{
		Providers: []Provider{
			{Name: "Ollama", API: Ollama},
			{Name: "V", Models: []Entry{{Name: "a"}, {Name: "e", Kind: KindEmbedding}}},
		},
		Aliases: map[string]string{"gpt-4o": "a@V", "a": "x@Ollama", "llama@Ollama": "a@V"},
	})
	require.NoError(t, err)
	for id, want := range map[string]string{
		"gpt-4o": "a@V", "GPT-4o": "a@V", "a": "a@V", "llama@Ollama": "llama@Ollama", "other": "other@Ollama",
	} {
		p, name, err := m.resolve(id, KindChat)
		require.NoError(t, err, id)
		require.Equal(t, want, name+"@"+p.config.Label(), id)
	}
	require.ErrorContains(t, m.Check("e@V"), "of the kind embedding, not chat")
}
