package model

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/host/internal/testing/runstest"
)

func testTenants(t *testing.T, host Config) *Tenants {
	t.Helper()
	m, err := New(host)
	require.NoError(t, err)
	return &Tenants{Records: runstest.Records(t, store.Config{}).Items, Host: m}
}

func TestTenantsProviders(t *testing.T) {
	ctx := t.Context()
	tenants := testTenants(t, Config{
		Default:   "shared@Host",
		Providers: []Provider{{Name: "Host", Models: []Entry{{Name: "shared"}}}},
	})
	require.NoError(t, tenants.Put(ctx, "a", Provider{
		Name: "P", BaseURL: "http://one/v1", Key: "sk-1",
		Models: []Entry{{Name: "m"}, {Name: "v", Kind: KindSpeech}},
	}))
	resolve := func(tenant, id string) string {
		m, err := tenants.Of(tenant, "").Models(ctx)
		require.NoError(t, err)
		p, name, err := m.resolve(id, KindChat)
		if err != nil {
			require.ErrorIs(t, err, ErrUnknownModel)
			return ""
		}
		return name + "@" + p.config.Label()
	}
	require.Equal(t, "m@P", resolve("a", "m@P"))
	require.Equal(t, "shared@Host", resolve("a", ""), "the host's default stays until the tenant chooses")
	require.Equal(t, "shared@Host", resolve("b", "shared"))
	require.Empty(t, resolve("b", "m@P"), "another tenant's provider is not there")

	require.ErrorIs(t, tenants.SetChoice(ctx, "b", Choice{Default: "m@P"}), ErrUnknownModel)
	require.NoError(t, tenants.SetChoice(ctx, "a", Choice{Default: "m@P"}))
	require.NoError(t, tenants.SetChoice(ctx, "a", Choice{Default: "m@P", Speech: "v@P", Voice: "nova"}))
	require.Equal(t, "m@P", resolve("a", ""))
	list, err := tenants.List(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, []Listed{
		{Name: "m", Kind: KindChat, Provider: "P", Default: true},
		{Name: "v", Kind: KindSpeech, Provider: "P"},
		{Name: "shared", Kind: KindChat, Provider: "Host", Host: true},
	}, list)

	shown, hasKey, err := tenants.Providers(ctx, "a")
	require.NoError(t, err)
	require.Empty(t, shown[0].Key, "keys are not returned")
	require.True(t, hasKey["P"])
	item, err := tenants.Records.Named(ctx, "a", providerItem, "p")
	require.NoError(t, err)
	require.NotContains(t, string(item.Doc), "sk-1")

	t.Run("stored key is kept for its address only", func(t *testing.T) {
		require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "P", BaseURL: "http://one/v1"}))
		m, err := tenants.Of("a", "").Models(ctx)
		require.NoError(t, err)
		require.Equal(t, "sk-1", m.providers[0].config.Key)
		for _, other := range []string{
			"http://thief/v1", "https://one/v1", "http://one:8080/v1", "http://one/v2", "http://one./v1",
			"http://one@thief/v1", "http://one/v1?to=thief", "",
		} {
			require.ErrorIs(t, tenants.Put(ctx, "a", Provider{Name: "P", BaseURL: other}), ErrKeyNeeded, other)
		}
		require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "P", BaseURL: "HTTP://One:80/v1"}), "the same address")
		signs := Provider{Name: "B", API: Bedrock, BaseURL: "https://b/v1", Key: "AKIAIOSFODNN7EXAMPLE:secret"}
		require.NoError(t, tenants.Put(ctx, "a", signs))
		sends := Provider{Name: "B", API: OpenAI, BaseURL: "https://b/v1"}
		require.ErrorIs(t, tenants.Put(ctx, "a", sends), ErrKeyNeeded, "a secret that only signed is not sent")
		require.NoError(t, tenants.Delete(ctx, "a", "B"))
		require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "O", Key: "sk-3"}))
		require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "O", BaseURL: openAIDialect{}.base()}),
			"the default address")
		require.NoError(t, tenants.Delete(ctx, "a", "O"))
		require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "P", BaseURL: "http://two/v1", Key: "sk-2"}))
	})
	require.ErrorContains(t, tenants.Put(ctx, "a", Provider{Name: "P", BaseURL: "ftp://x"}),
		"not an http or https address")
	require.ErrorIs(t, tenants.Delete(ctx, "b", "P"), store.ErrNotFound)
	require.NoError(t, tenants.Delete(ctx, "a", "p"))
	_, _, err = tenants.Try(ctx, "a", "P", "")
	require.ErrorIs(t, err, store.ErrNotFound)
}

// Headers may be secrets: they are stored sealed, sent to the address they were given for, and
// never shown.
func TestHeadersOfProviders(t *testing.T) {
	ctx := t.Context()
	tenants := testTenants(t, Config{})
	one := Provider{Name: "P", BaseURL: "http://one/v1", Headers: map[string]string{"X-Team": "sk-team"}}
	require.NoError(t, tenants.Put(ctx, "a", one))
	item, err := tenants.Records.Named(ctx, "a", providerItem, "p")
	require.NoError(t, err)
	require.NotContains(t, string(item.Doc), "sk-team")
	shown, hasKey, err := tenants.Providers(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"X-Team": ""}, shown[0].Headers)
	require.False(t, hasKey["P"])
	sent := func() map[string]string {
		m, err := tenants.Of("a", "").Models(ctx)
		require.NoError(t, err)
		return m.providers[0].config.Headers
	}
	require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "P", BaseURL: "http://one/v1", Key: "sk-1"}))
	require.Equal(t, one.Headers, sent(), "kept with another key")
	for _, other := range []Provider{
		{Name: "P", BaseURL: "http://thief/v1", Key: "sk-2"},
		{Name: "P", Key: "sk-2"},
		{Name: "P", API: Anthropic, Key: "sk-2"},
	} {
		require.ErrorIs(t, tenants.Put(ctx, "a", other), ErrHeadersNeeded)
	}
	require.NoError(t, tenants.Put(ctx, "a", Provider{
		Name: "P", BaseURL: "http://two/v1", Key: "sk-2", Headers: map[string]string{},
	}))
	require.Empty(t, sent())
	require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "Q", Key: "sk-3"}))
	require.ErrorIs(t, tenants.Put(ctx, "a", Provider{Name: "Q", API: Anthropic}), ErrKeyNeeded,
		"another API has another address")
}

// refuse fails all requests and counts them.
type refuse struct{ calls int }

func (r *refuse) RoundTrip(*http.Request) (*http.Response, error) {
	r.calls++
	return nil, http.ErrNotSupported
}

func TestTenantsUseTheirTransport(t *testing.T) {
	ctx := t.Context()
	tenants := testTenants(t, Config{})
	text, _, err := collect(tenants.Of("a", "").Generate(ctx, hello(false)))
	require.NoError(t, err)
	require.Contains(t, text, "Offline answer", "without providers the offline model answers")
	sound, err := tenants.Of("a", "").Speak(ctx, "Hello")
	require.NoError(t, err)
	require.Empty(t, sound)

	guard := &refuse{}
	tenants.Transport = guard
	require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "P", BaseURL: "http://127.0.0.1:9/v1", Retries: new(int)}))
	req := hello(false)
	req.LLM = "m@P"
	_, _, err = collect(tenants.Of("a", "").Generate(ctx, req))
	require.ErrorContains(t, err, `model "m" of P`)
	require.Equal(t, 1, guard.calls)
	require.Equal(t, engine.Info{Tools: true, Images: true, Context: defaultContext, Model: "m@P"},
		tenants.Of("a", "").ModelInfo(ctx, "m@P"))
}

func TestTryProviders(t *testing.T) {
	ctx := t.Context()
	tenants := testTenants(t, Config{})
	server := speechServer(t)
	put := func(key string, models ...Entry) {
		require.NoError(t, tenants.Put(ctx, "a", Provider{
			Name: "P", BaseURL: server.URL + "/v1", Key: key,
			Models: models,
		}))
	}
	put("secret-key", Entry{Name: "v", Kind: KindSpeech}, Entry{Name: "e", Kind: KindEmbedding}, Entry{Name: "c"})
	for _, name := range []string{"", "v", "e"} {
		_, _, err := tenants.Try(ctx, "a", "P", name)
		require.NoError(t, err, name)
	}
	_, _, err := tenants.Try(ctx, "a", "P", "c")
	require.ErrorContains(t, err, "404")
	_, _, err = tenants.Try(ctx, "a", "P", "x")
	require.ErrorIs(t, err, ErrUnknownModel)
	put("")
	_, _, err = tenants.Try(ctx, "a", "P", "")
	require.ErrorIs(t, err, ErrUnknownModel)
	chat := httptest.NewServer(answerWith(saved(t, "text.json")))
	t.Cleanup(chat.Close)
	require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "Q", Instance: "work", BaseURL: chat.URL, Key: "k"}))
	asked, answer, err := tenants.Try(ctx, "a", "work@Q", "m")
	require.NoError(t, err)
	require.Equal(t, "m", asked)
	require.Contains(t, answer, "Hello, world")
}

func TestLabels(t *testing.T) {
	p, err := Labelled("work@OpenAI")
	require.NoError(t, err)
	require.Equal(t, Provider{Name: "OpenAI", Instance: "work"}, p)
	for _, bad := range []string{"", "@", "@P", "a@", "a@b@c"} {
		_, err := Labelled(bad)
		require.Error(t, err, bad)
	}
}

// A canvas may name any id of the list: each id resolves, and each alias that resolves is listed.
func TestTenantsListAliases(t *testing.T) {
	ctx := t.Context()
	tenants := testTenants(t, Config{
		Providers: []Provider{
			{Name: "Host", Models: []Entry{{Name: "big"}, {Name: "vectors", Kind: KindEmbedding}}},
			{Name: "Open", BaseURL: "http://one/v1"},
		},
		Aliases: map[string]string{
			"gpt-4@OpenAI": "big@Host", "dead": "missing@Nowhere", "embed": "vectors@Host", "*": "any@Open",
		},
	})
	list, err := tenants.List(ctx, "a")
	require.NoError(t, err)
	var ids []string
	for _, l := range list {
		ids = append(ids, l.ID())
	}
	require.Equal(t, []string{"big@Host", "vectors@Host", "*@Open", "*", "gpt-4@OpenAI"}, ids)

	m, err := tenants.Of("a", "").Models(ctx)
	require.NoError(t, err)
	p, name, err := m.resolve("gpt-4@OpenAI", KindChat)
	require.NoError(t, err)
	require.Equal(t, "big@Host", name+"@"+p.config.Label())
}

func TestAliasesOfTenants(t *testing.T) {
	ctx := t.Context()
	host := Provider{Name: "Host", Models: []Entry{{Name: "shared"}, {Name: "tts", Kind: KindSpeech}}}
	tenants := testTenants(t, Config{Aliases: map[string]string{"old": "shared"}, Providers: []Provider{host}})
	models := []Entry{{Name: "Small"}, {Name: "other"}}
	require.NoError(t, tenants.Put(ctx, "a", Provider{Name: "P", BaseURL: "http://one/v1", Models: models}))
	resolve := func(tenant, id string) string {
		m, err := tenants.Of(tenant, "").Models(ctx)
		require.NoError(t, err)
		p, name, err := m.resolve(id, KindChat)
		if err != nil {
			require.ErrorIs(t, err, ErrUnknownModel)
			return ""
		}
		return name + "@" + p.config.Label()
	}
	require.ErrorIs(t, tenants.SetAliases(ctx, "a", map[string]string{"x": "y@Z"}), ErrUnknownModel)
	own := map[string]string{"GPT@OpenAI": "small@p", "old": "other@P"}
	require.NoError(t, tenants.SetAliases(ctx, "a", own))
	chosen := Choice{Default: "other@P"}
	require.NoError(t, tenants.SetChoice(ctx, "a", chosen))
	require.Equal(t, "Small@P", resolve("a", "GPT@OpenAI"))
	require.Equal(t, "Small@P", resolve("a", "gpt@openai"), "in any case")
	require.Equal(t, "other@P", resolve("a", "old"), "before the host's")
	require.Equal(t, "shared@Host", resolve("b", "old"))
	require.Empty(t, resolve("b", "GPT@OpenAI"), "aliases of another tenant")
	list, err := tenants.List(ctx, "a")
	require.NoError(t, err)
	require.Contains(t, list, Listed{Name: "other", Kind: KindChat, Provider: "P", Alias: "old"})

	// What a removed provider leaves behind does not stop other changes.
	require.NoError(t, tenants.Delete(ctx, "a", "P"))
	chosen.Speech, own["new"] = "tts@Host", "shared"
	require.NoError(t, tenants.SetChoice(ctx, "a", chosen))
	require.NoError(t, tenants.SetAliases(ctx, "a", own))
	chosen.Speech, own["new"] = "none@P", "none@P"
	require.ErrorIs(t, tenants.SetChoice(ctx, "a", chosen), ErrUnknownModel)
	require.ErrorIs(t, tenants.SetAliases(ctx, "a", own), ErrUnknownModel)
	many := map[string]string{}
	for i := range mostAliases + 1 {
		many[string(rune('a'+i))] = "shared"
	}
	require.ErrorIs(t, tenants.SetAliases(ctx, "a", many), ErrTooManyAliases)
}

// The default is listed although its provider accepts every name.
func TestTheDefaultIsListed(t *testing.T) {
	tenants := testTenants(t, Config{Default: "gpt-x@Open", Providers: []Provider{{Name: "Open"}}})
	list, err := tenants.List(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, []Listed{
		{Kind: KindChat, Provider: "Open", Host: true},
		{Name: "gpt-x", Kind: KindChat, Provider: "Open", Host: true, Default: true},
	}, list)
	tenants.Host.config.Default = ""
	list, err = tenants.List(t.Context(), "a")
	require.NoError(t, err)
	require.Len(t, list, 1)
}

// No kind of call starts on an account that is used up, also those that report no tokens.
func TestSpentAccountsCallNoModel(t *testing.T) {
	ctx := t.Context()
	tenants := testTenants(t, Config{})
	guard := &refuse{}
	tenants.Transport = guard
	tenants.Account = func(string, string) Account { return &ledger{} }
	require.NoError(t, tenants.Put(ctx, "a", Provider{
		Name: "P", BaseURL: "http://127.0.0.1:9/v1", Retries: new(int), Models: []Entry{
			{Name: "c"},
			{Name: "s", Kind: KindSpeech},
			{Name: "t", Kind: KindTranscription},
			{Name: "e", Kind: KindEmbedding},
		},
	}))
	of := tenants.Of("a", "key k")
	for kind, call := range map[string]func() error{
		"chat":          func() error { _, _, err := collect(of.Generate(ctx, hello(false))); return err },
		"speech":        func() error { _, err := of.Speak(ctx, "Hello"); return err },
		"transcription": func() error { _, err := of.Transcribe(ctx, Recording{"audio/wav", silence()}); return err },
		"embedding":     func() error { _, err := of.Embed(ctx, []string{"Hello"}); return err },
	} {
		require.ErrorIs(t, call(), errSpent, kind)
	}
	require.Zero(t, guard.calls)
}
