package v2

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/limit"
	"github.com/easel-canvas/easel/host/internal/model"
)

// models serves the models that canvases may name, and the providers that a tenant adds to the
// host's.
type models struct{ *app.Services }

func (m models) operations() []operation {
	const read, admin = app.ScopeRead, app.ScopeAdmin
	const aliases = "/api/v2/models/aliases"
	const standard, one = "/api/v2/models/default", "/api/v2/providers/{provider}"
	return []operation{
		handle(operation{
			method: "GET", path: "/api/v2/models", body: api.BodyNone, scope: read, name: "listModels",
			about: "List the models that canvases can name.",
		}, m.list),
		handle(operation{
			method: "GET", path: standard, body: api.BodyNone, scope: read, name: "getDefaultModels",
			about: "Get the default models. An empty value means that the host chooses.",
		}, m.choice),
		handle(operation{
			method: "PUT", path: standard, body: api.BodyTiny, scope: admin, name: "putDefaultModels",
			about: "Set the default models, which are used when a canvas names none.",
		}, m.putChoice),
		handle(operation{
			method: "GET", path: aliases, body: api.BodyNone, scope: read, name: "getModelAliases",
			about: "Get the aliases of models of the tenant. Those of the host's configuration are not among them.",
		}, m.aliases),
		handle(operation{
			method: "PUT", path: aliases, body: api.BodySmall, scope: admin, name: "putModelAliases",
			about: "Set the aliases of models: a canvas that names a model which the tenant does not have uses that " +
				"of the alias. The id * is that of all other names.",
		}, m.putAliases),
		handle(operation{
			method: "GET", path: pricesPath, body: api.BodyNone, scope: read, name: "getModelPrices",
			about: "Get the prices of models that the tenant has set. They come before those of the host and of " +
				"vendors' price lists.",
		}, m.prices),
		handle(operation{
			method: "PUT", path: pricesPath, body: api.BodySmall, scope: admin, name: "putModelPrices",
			about: "Set the prices of models of the tenant, in the currency of the host. They count from then on. " +
				"Models of providers of the host keep the operator's prices, except in the tenant that operates it.",
		}, m.putPrices),
		handle(operation{
			method: "GET", path: "/api/v2/providers", body: api.BodyNone, scope: read, name: "listProviders",
			about: "List the model providers of the tenant. Keys are not shown.",
		}, m.providers),
		handle(operation{
			method: "PUT", path: one, body: api.BodySmall, scope: admin, name: "putProvider",
			about: "Create or replace a model provider, named NAME or INSTANCE@NAME. Without a key or headers, those " +
				"that were stored for the same base URL are kept; they are never shown.",
		}, m.putProvider),
		handle(operation{
			method: "DELETE", path: one, body: api.BodyTiny, scope: admin, name: "deleteProvider",
			about: "Delete a model provider with its key.",
		}, m.removeProvider),
		handle(operation{
			method: "POST", path: one + "/test", body: api.BodyTiny, scope: admin, name: "testProvider",
			about: "Test a model provider: request a short answer, speech or a vector from one of its models.",
		}, m.testProvider),
		handle(operation{
			method: "GET", path: one + "/models", body: api.BodyNone, scope: admin, name: "listOfferedModels",
			about: "List the models that a provider serves, as its server lists them, with what the list says of them.",
		}, m.offers),
		handle(operation{
			method: "GET", path: "/api/v2/models/learned", body: api.BodyNone, scope: admin, name: "listLearned",
			about: "List what was learned of models from the answers of their servers: refused parameters, sizes, " +
				"forms. It is forgotten after 30 days without a change.",
		}, m.learned),
		handle(operation{
			method: "DELETE", path: one + "/learned", body: api.BodyTiny, scope: admin, name: "resetLearned",
			about: "Forget what was learned of a model of a provider, or of all its models. Other hosts follow in " +
				"a minute. Providers of the host need a key of the tenant that operates it, with the scope host.",
		}, m.resetLearned),
		handle(operation{
			method: "GET", path: "/api/v2/provider-presets", body: api.BodyNone, scope: read,
			name:  "listProviderPresets",
			about: "List the known providers: one with such a name needs no API and no base URL.",
		}, m.presets),
		handle(operation{
			method: "POST", path: "/api/v2/local-providers", body: api.BodyTiny, scope: app.ScopeHost,
			name: "findLocalProviders",
			about: "Look for model servers on the machine of the host, at the addresses of the presets. Add one as a " +
				"provider with its base_url and local.",
		}, m.findLocal),
	}
}

type modelView struct {
	ID       string `json:"id" jsonschema:"value for llm_id in canvases; *@PROVIDER if any name is accepted, * if any id is"`
	Kind     string `json:"kind" jsonschema:"chat, speech, embedding, rerank or transcription"`
	Provider string `json:"provider"`
	Host     bool   `json:"host" jsonschema:"whether it is shared by all tenants"`
	About    string `json:"about,omitempty"`
	Tools    *bool  `json:"tools,omitempty" jsonschema:"whether it supports function calling, if that is configured"`
	Default  bool   `json:"default,omitempty" jsonschema:"whether canvases that name no model use it for chats"`
	// Also are the other names of the preset of the provider.
	Also []string `json:"provider_aliases,omitempty" jsonschema:"other names of the provider in ids"`
}

type modelChoice struct {
	Chat      string `json:"chat,omitempty"`
	Speech    string `json:"speech,omitempty"`
	Voice     string `json:"voice,omitempty" jsonschema:"voice for speech"`
	Embedding string `json:"embedding,omitempty"`

	Transcription string `json:"transcription,omitempty" jsonschema:"model that writes down speech"`
}

type modelEntry struct {
	Name    string `json:"name"`
	Kind    string `json:"kind,omitempty" jsonschema:"chat (default), speech, embedding, rerank or transcription"`
	Tools   *bool  `json:"tools,omitempty" jsonschema:"whether it supports function calling; default true"`
	Images  *bool  `json:"images,omitempty" jsonschema:"whether it accepts images; default true"`
	Context int    `json:"context,omitempty" jsonschema:"context window in tokens; 0 means 128000, with api ollama 16384"`

	Dimensions int `json:"dimensions,omitempty" jsonschema:"size of the vectors that an embedding model is requested to return"`

	Fallback []string `json:"fallback,omitempty" jsonschema:"models to call when its server fails"`
	Drop     []string `json:"drop,omitempty" jsonschema:"parameters that it never gets"`

	Limits *callLimits `json:"limits,omitempty" jsonschema:"replace those of the provider for this model"`
}

type callLimits struct {
	Concurrency int   `json:"concurrency,omitempty" jsonschema:"concurrent calls; 0 means the limit of the host"`
	Requests    int   `json:"requests_per_minute,omitempty" jsonschema:"0 means the limit of the host"`
	Tokens      int64 `json:"tokens_per_minute,omitempty" jsonschema:"input and output; 0 means the limit of the host"`
}

func (l *callLimits) read() (out limit.Limits) {
	if l != nil {
		out = limit.Limits(*l)
	}
	return out
}

func limitsView(l limit.Limits) *callLimits {
	if l == (limit.Limits{}) {
		return nil
	}
	out := callLimits(l)
	return &out
}

type providerInput struct {
	API     string            `json:"api,omitempty" jsonschema:"form of its requests: openai (default), anthropic, bedrock, gemini, azure, ollama or responses"`
	BaseURL string            `json:"base_url,omitempty" jsonschema:"base URL without /chat/completions; empty for that of the vendor of the API"`
	Key     string            `json:"key,omitempty"`
	Headers map[string]string `json:"headers,omitempty" jsonschema:"sent with each request; if absent, those stored for the same base URL are kept"`
	Local   bool              `json:"local,omitempty" jsonschema:"allow this base URL on the machine of the host; only for those who operate the host"`
	Models  []modelEntry      `json:"models,omitempty" jsonschema:"if empty, every model name is accepted"`
	Timeout float64           `json:"timeout_seconds,omitempty" jsonschema:"seconds without data after which a request fails; 0 means 300"`
	Limits  *callLimits       `json:"limits,omitempty" jsonschema:"limits of each of its models, per host"`
}

type providerView struct {
	Name    string       `json:"name" jsonschema:"NAME or INSTANCE@NAME"`
	API     string       `json:"api,omitempty"`
	BaseURL string       `json:"base_url"`
	HasKey  bool         `json:"has_key"`
	Headers []string     `json:"header_names,omitempty" jsonschema:"names of the stored headers"`
	Local   bool         `json:"local,omitempty"`
	Models  []modelEntry `json:"models"`
	Timeout float64      `json:"timeout_seconds,omitempty"`
	Limits  *callLimits  `json:"limits,omitempty"`
}

type providerTest struct {
	Model string `json:"model,omitempty" jsonschema:"model to test; default the first one"`
}

type providerAnswer struct {
	OK     bool   `json:"ok"`
	Model  string `json:"model"`
	Answer string `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"`
	TookMS int64  `json:"took_ms"`
}

func (m models) list(ctx context.Context, in byTenant) (list[modelView], error) {
	all, err := m.Models.List(ctx, in.Who.Tenant)
	if err != nil {
		return list[modelView]{}, err
	}
	out := list[modelView]{Items: make([]modelView, len(all))}
	for i, v := range all {
		out.Items[i] = modelView{
			ID: v.ID(), Kind: string(v.Kind), Provider: v.Provider, Host: v.Host, Tools: v.Tools, Default: v.Default,
		}
		if preset, ok := model.PresetOf(v.Provider); ok && v.Alias == "" {
			out.Items[i].Also = slices.DeleteFunc(append([]string{preset.Name}, preset.Aliases...),
				func(name string) bool { return strings.EqualFold(name, v.Provider) })
		}
		if v.Alias != "" {
			out.Items[i].About = "alias of " + v.Name + "@" + v.Provider
		}
	}
	if len(all) == 0 {
		out.Items = append(out.Items, modelView{
			ID: "offline", Kind: string(model.KindChat), Provider: "easel", Host: true,
			About: "answers without a language model",
		})
	}
	return out, nil
}

func (m models) choice(ctx context.Context, in byTenant) (modelChoice, error) {
	v, err := m.Models.Choice(ctx, in.Who.Tenant)
	return modelChoice{v.Default, v.Speech, v.Voice, v.Embedding, v.Transcription}, err
}

type putChoice struct {
	Who  app.Principal
	Body modelChoice
}

func (m models) putChoice(ctx context.Context, in putChoice) (modelChoice, error) {
	c := in.Body
	return c, choosable(m.Models.SetChoice(ctx, in.Who.Tenant, model.Choice{
		Default: c.Chat, Speech: c.Speech, Voice: c.Voice, Embedding: c.Embedding,
		Transcription: c.Transcription,
	}))
}

// choosable is the error of a choice of models.
func choosable(err error) error {
	if errors.Is(err, model.ErrUnknownModel) || errors.Is(err, model.ErrTooManyAliases) {
		err = app.BadArgument("%s", err)
	}
	return err
}

type modelAliases struct {
	Aliases map[string]string `json:"aliases" jsonschema:"ids of models by the ids that canvases use; 1,000 at most"`
}

func (m models) aliases(ctx context.Context, in byTenant) (modelAliases, error) {
	v, err := m.Models.Aliases(ctx, in.Who.Tenant)
	if v == nil {
		v = map[string]string{}
	}
	return modelAliases{v}, err
}

type putAliases struct {
	Who  app.Principal
	Body modelAliases
}

func (m models) putAliases(ctx context.Context, in putAliases) (modelAliases, error) {
	if in.Body.Aliases == nil {
		return in.Body, app.BadArgument("aliases is missing; expected an object, {} to remove all")
	}
	seen := map[string]bool{}
	for alias, id := range in.Body.Aliases {
		same := strings.ToLower(alias)
		if strings.TrimSpace(alias) == "" || strings.TrimSpace(id) == "" || seen[same] {
			return in.Body, app.BadArgument("aliases: %q is empty, has no model, or is there twice", alias)
		}
		seen[same] = true
	}
	return in.Body, choosable(m.Models.SetAliases(ctx, in.Who.Tenant, in.Body.Aliases))
}

func providerViewOf(p model.Provider, hasKey bool) providerView {
	out := providerView{
		Name: p.Label(), API: string(p.API), BaseURL: p.BaseURL, HasKey: hasKey, Local: p.Local, Models: []modelEntry{},
		Headers: slices.Sorted(maps.Keys(p.Headers)), Timeout: p.Timeout, Limits: limitsView(p.Limits),
	}
	for _, e := range p.Models {
		out.Models = append(out.Models, modelEntry{
			e.Name, string(e.Kind), e.Tools, e.Images, e.Context, e.Dimensions, e.Fallback, e.Drop,
			limitsView(e.Limits),
		})
	}
	return out
}

func (m models) providers(ctx context.Context, in byTenant) (list[providerView], error) {
	all, hasKey, err := m.Models.Providers(ctx, in.Who.Tenant)
	out := list[providerView]{Items: make([]providerView, len(all))}
	for i, p := range all {
		out.Items[i] = providerViewOf(p, hasKey[p.Label()])
	}
	return out, err
}

type putProvider struct {
	Who  app.Principal
	Name string `path:"provider"`
	Body providerInput
}

// provider is the provider of a request.
func (in *putProvider) provider() (model.Provider, error) {
	p, err := model.Labelled(in.Name)
	if err != nil {
		return p, app.BadArgument("%s", err)
	}
	p.API, p.BaseURL, p.Headers = model.API(in.Body.API), in.Body.BaseURL, in.Body.Headers
	p.Key, p.Timeout = in.Body.Key, in.Body.Timeout
	p.Limits, p.Local = in.Body.Limits.read(), in.Body.Local
	for _, e := range in.Body.Models {
		p.Models = append(p.Models, model.Entry{
			Name: e.Name, Kind: model.Kind(e.Kind), Tools: e.Tools, Images: e.Images, Context: e.Context,
			Dimensions: e.Dimensions, Fallback: e.Fallback, Drop: e.Drop, Limits: e.Limits.read(),
		})
	}
	if err := p.Check(); err != nil {
		return p, app.BadArgument("%s", err)
	}
	return p, nil
}

func (m models) putProvider(ctx context.Context, in putProvider) (providerView, error) {
	p, err := in.provider()
	if err != nil {
		return providerView{}, err
	}
	if p.Local && !in.Who.May(app.ScopeHost) && !m.Models.Allows(ctx, in.Who.Tenant, p) {
		return providerView{}, app.Forbidden("local needs the right to operate the host")
	}
	err = m.Models.Put(ctx, in.Who.Tenant, p)
	if errors.Is(err, model.ErrKeyNeeded) || errors.Is(err, model.ErrHeadersNeeded) {
		err = app.BadArgument("%s", err)
	}
	if err != nil {
		return providerView{}, err
	}
	all, err := m.providers(ctx, byTenant{Who: in.Who})
	if i := slices.IndexFunc(all.Items, func(v providerView) bool { return v.Name == p.Label() }); i >= 0 {
		return all.Items[i], err
	}
	return providerView{}, err
}

type providerByName struct {
	Who  app.Principal
	Name string `path:"provider"`
}

// noProvider names what was not found; other errors stay.
func noProvider(err error) error {
	if errors.Is(err, app.ErrNotFound) {
		return app.Missing("provider")
	}
	return err
}

func (m models) removeProvider(ctx context.Context, in providerByName) (empty, error) {
	return empty{}, noProvider(m.Models.Delete(ctx, in.Who.Tenant, in.Name))
}

// testTime bounds the test of a provider.
const testTime = 30 * time.Second

type testProvider struct {
	Who  app.Principal
	Name string `path:"provider"`
	Body providerTest
}

func (m models) testProvider(ctx context.Context, in testProvider) (providerAnswer, error) {
	ctx, done := context.WithTimeout(ctx, testTime)
	defer done()
	began := time.Now()
	name, answer, err := m.Models.Try(ctx, in.Who.Tenant, in.Name, in.Body.Model)
	if errors.Is(err, app.ErrNotFound) {
		return providerAnswer{}, noProvider(err)
	}
	out := providerAnswer{OK: err == nil, Model: name, Answer: answer, TookMS: time.Since(began).Milliseconds()}
	if err != nil {
		out.Error = err.Error()
	}
	return out, nil
}

type presetView struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty" jsonschema:"other names, in any case"`
	API     string   `json:"api"`
	BaseURL string   `json:"base_url,omitempty" jsonschema:"absent if each customer has another one"`
	Example string   `json:"base_url_example,omitempty" jsonschema:"such as customers have"`
	Local   bool     `json:"local" jsonschema:"whether the server usually runs on one's own machine, without a key"`
}

func (m models) presets(context.Context, byTenant) (list[presetView], error) {
	var out list[presetView]
	for _, p := range model.Presets() {
		out.Items = append(out.Items, presetViewOf(p))
	}
	return out, nil
}

func presetViewOf(p model.Preset) presetView {
	return presetView{p.Name, p.Aliases, string(cmp.Or(p.API, model.OpenAI)), p.BaseURL, p.Example, p.Local}
}

type foundView struct {
	presetView
	Models []offerView `json:"models"`
}

func (m models) findLocal(ctx context.Context, _ byTenant) (list[foundView], error) {
	out := list[foundView]{Items: []foundView{}}
	for _, f := range m.Models.FindLocal(ctx) {
		out.Items = append(out.Items, foundView{presetViewOf(f.Preset), offerViews(f.Offers)})
	}
	return out, nil
}

type offerView struct {
	Name      string `json:"name"`
	Kind      string `json:"kind" jsonschema:"chat, speech, embedding, rerank or transcription"`
	Context   int    `json:"context,omitempty" jsonschema:"context window in tokens; absent if the list has none"`
	Tools     *bool  `json:"tools,omitempty" jsonschema:"whether it supports function calling; absent if unknown"`
	Images    *bool  `json:"images,omitempty" jsonschema:"whether it accepts images; absent if unknown"`
	Reasoning *bool  `json:"reasoning,omitempty" jsonschema:"whether it may reason first; absent if unknown"`
}

func (m models) offers(ctx context.Context, in providerByName) (list[offerView], error) {
	ctx, done := context.WithTimeout(ctx, testTime)
	defer done()
	offers, err := m.Models.Offers(ctx, in.Who.Tenant, in.Name)
	if errors.Is(err, app.ErrNotFound) {
		return list[offerView]{}, noProvider(err)
	}
	var failed *model.Error
	if errors.Is(err, model.ErrNoList) || errors.As(err, &failed) {
		return list[offerView]{}, app.BadArgument("%s", err)
	}
	return list[offerView]{Items: offerViews(offers)}, err
}

func offerViews(offers []model.Offer) []offerView {
	out := make([]offerView, len(offers))
	for i, o := range offers {
		out[i] = offerView{o.Name, string(o.Kind), o.Context, o.Tools, o.Images, o.Reasons}
	}
	return out
}

type learnedView struct {
	Provider  string            `json:"provider" jsonschema:"NAME or INSTANCE@NAME"`
	Host      bool              `json:"host" jsonschema:"whether all tenants share the provider"`
	Model     string            `json:"model"`
	Refused   []string          `json:"refused,omitempty" jsonschema:"parameters that the server refused"`
	Renamed   map[string]string `json:"renamed,omitempty" jsonschema:"parameters that are sent under another name"`
	Unsent    []string          `json:"unsent,omitempty" jsonschema:"settings without a place in its requests"`
	NoTools   bool              `json:"no_tools,omitempty" jsonschema:"whether it refuses tools"`
	Samples   bool              `json:"samples,omitempty" jsonschema:"whether it takes sampling parameters"`
	Reasons   bool              `json:"reasons,omitempty" jsonschema:"whether answers begin with reasoning"`
	BaseURL   string            `json:"base_url,omitempty" jsonschema:"the one that works; only of own providers"`
	Batch     int               `json:"batch,omitempty" jsonschema:"texts of one embedding request"`
	MaxTokens int               `json:"max_tokens,omitempty" jsonschema:"the largest that it accepts"`
	Until     time.Time         `json:"until" jsonschema:"when it is forgotten"`
}

func (m models) learned(ctx context.Context, in byTenant) (list[learnedView], error) {
	all, err := m.Models.Learned(ctx, in.Who.Tenant)
	out := list[learnedView]{Items: make([]learnedView, len(all))}
	for i, l := range all {
		out.Items[i] = learnedView{
			Provider: l.Provider, Host: l.Host, Model: l.Model, Refused: l.Drop, Renamed: l.Rename, Unsent: l.Unsent,
			NoTools: l.NoTools, Samples: l.Samples, Reasons: l.Reasons, Batch: l.Batch, MaxTokens: l.MaxTokens,
			BaseURL: l.BaseURL, Until: l.Until.UTC(),
		}
	}
	return out, err
}

type resetLearned struct {
	Who   app.Principal
	Name  string `path:"provider"`
	Model string `query:"model" jsonschema:"name of the model; default all models of the provider"`
}

func (m models) resetLearned(ctx context.Context, in resetLearned) (empty, error) {
	operates := m.Tenants.Operates(in.Who.Tenant) && in.Who.May(app.ScopeHost)
	err := m.Models.Reset(ctx, in.Who.Tenant, in.Name, in.Model, operates)
	if errors.Is(err, model.ErrHostProvider) {
		return empty{}, app.Forbidden("%s; a key of the tenant that operates it with scope host can reset it", err)
	}
	return empty{}, noProvider(err)
}
