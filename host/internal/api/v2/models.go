package v2

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/easel-canvas/easel/host/internal/api"
	"github.com/easel-canvas/easel/host/internal/app"
	"github.com/easel-canvas/easel/host/internal/limit"
	"github.com/easel-canvas/easel/host/internal/model"
)

// models are what canvases may name, and the providers that a tenant adds beside those of the
// host's configuration.
type models struct{ *app.Services }

func (m models) operations() []operation {
	const read, admin = app.ScopeRead, app.ScopeAdmin
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
	}
}

type modelView struct {
	ID       string `json:"id" jsonschema:"value for llm_id in canvases; *@PROVIDER if any name is accepted, * if any id is"`
	Kind     string `json:"kind" jsonschema:"chat, speech, embedding or rerank"`
	Provider string `json:"provider"`
	Host     bool   `json:"host" jsonschema:"whether it is shared by all tenants"`
	About    string `json:"about,omitempty"`
}

type modelChoice struct {
	Chat      string `json:"chat,omitempty"`
	Speech    string `json:"speech,omitempty"`
	Voice     string `json:"voice,omitempty" jsonschema:"voice for speech"`
	Embedding string `json:"embedding,omitempty"`
}

type modelEntry struct {
	Name    string `json:"name"`
	Kind    string `json:"kind,omitempty" jsonschema:"chat (default), speech, embedding or rerank"`
	Tools   *bool  `json:"tools,omitempty" jsonschema:"whether it supports function calling; default true"`
	Images  *bool  `json:"images,omitempty" jsonschema:"whether it accepts images; default true"`
	Context int    `json:"context,omitempty" jsonschema:"context window in tokens; 0 means 128000, with api ollama 16384"`

	Dimensions int `json:"dimensions,omitempty" jsonschema:"size of the vectors that an embedding model is requested to return"`

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
	API     string            `json:"api,omitempty" jsonschema:"form of its requests: openai (default), anthropic, gemini, azure, ollama or responses"`
	BaseURL string            `json:"base_url,omitempty" jsonschema:"base URL without /chat/completions; empty for that of the vendor of the API"`
	Key     string            `json:"key,omitempty"`
	Headers map[string]string `json:"headers,omitempty" jsonschema:"sent with each request; if absent, those stored for the same base URL are kept"`
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
		out.Items[i] = modelView{ID: v.ID(), Kind: string(v.Kind), Provider: v.Provider, Host: v.Host}
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
	return modelChoice{v.Default, v.Speech, v.Voice, v.Embedding}, err
}

type putChoice struct {
	Who  app.Principal
	Body modelChoice
}

func (m models) putChoice(ctx context.Context, in putChoice) (modelChoice, error) {
	c := in.Body
	err := m.Models.SetChoice(ctx, in.Who.Tenant, model.Choice{
		Default: c.Chat, Speech: c.Speech, Voice: c.Voice, Embedding: c.Embedding,
	})
	if errors.Is(err, model.ErrUnknownModel) {
		err = app.BadArgument("%s", err)
	}
	return c, err
}

func providerViewOf(p model.Provider, hasKey bool) providerView {
	out := providerView{
		Name: p.Label(), API: string(p.API), BaseURL: p.BaseURL, HasKey: hasKey, Models: []modelEntry{},
		Headers: slices.Sorted(maps.Keys(p.Headers)), Timeout: p.Timeout, Limits: limitsView(p.Limits),
	}
	for _, e := range p.Models {
		limits := limitsView(e.Limits)
		out.Models = append(out.Models, modelEntry{
			e.Name, string(e.Kind), e.Tools, e.Images, e.Context, e.Dimensions, limits,
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
	p.Limits = in.Body.Limits.read()
	for _, e := range in.Body.Models {
		p.Models = append(p.Models, model.Entry{
			Name: e.Name, Kind: model.Kind(e.Kind), Tools: e.Tools, Images: e.Images, Context: e.Context,
			Dimensions: e.Dimensions,
			Limits:     e.Limits.read(),
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

// testTime is how long a provider may take to answer a test.
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
	Local   bool     `json:"local" jsonschema:"whether the server usually runs on one's own machine, without a key"`
}

func (m models) presets(context.Context, byTenant) (list[presetView], error) {
	var out list[presetView]
	for _, p := range model.Presets() {
		v := presetView{p.Name, p.Aliases, string(cmp.Or(p.API, model.OpenAI)), p.BaseURL, p.Local}
		out.Items = append(out.Items, v)
	}
	return out, nil
}

type offerView struct {
	Name      string `json:"name"`
	Kind      string `json:"kind" jsonschema:"chat, speech, embedding or rerank"`
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
	out := list[offerView]{Items: make([]offerView, len(offers))}
	for i, o := range offers {
		out.Items[i] = offerView{o.Name, string(o.Kind), o.Context, o.Tools, o.Images, o.Reasons}
	}
	return out, err
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
