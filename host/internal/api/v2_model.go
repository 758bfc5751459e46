package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/easel-canvas/easel/host/internal/model"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Models of our own API: what canvases may name, and the providers that a
// tenant adds beside those of the host's configuration.
var v2ModelRoutes = []route{
	{method: "GET", path: "/api/v2/models", body: bodyNone, scope: scopeRead, answer: (*API).v2Models, doc: &v2Doc{
		name: "listModels", about: "Models that canvases may name.", out: schemaOf[v2Models](),
	}},
	{method: "GET", path: "/api/v2/models/default", body: bodyNone, scope: scopeRead, answer: (*API).v2Choice, doc: &v2Doc{
		name: "getDefaultModels", about: "Which models are used when none is named; empty ones are left to the host.", out: schemaOf[v2Choice](),
	}},
	{method: "PUT", path: "/api/v2/models/default", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2PutChoice, doc: &v2Doc{
		name: "putDefaultModels", about: "Chooses which models are used when none is named.", in: schemaOf[v2Choice](), out: schemaOf[v2Choice](),
	}},
	{method: "GET", path: "/api/v2/providers", body: bodyNone, scope: scopeRead, answer: (*API).v2ListProviders, doc: &v2Doc{
		name: "listProviders", about: "Model providers that the tenant has added. Keys are never shown.", out: schemaOf[v2Providers](),
	}},
	{method: "PUT", path: "/api/v2/providers/{provider}", body: bodySmall, scope: scopeAdmin, answer: (*API).v2PutProvider, doc: &v2Doc{
		name: "putProvider", about: "Adds or changes a model provider, named NAME or INSTANCE@NAME. Without a key the one that was given for this address stays.",
		in: schemaOf[v2ProviderInput](), out: schemaOf[v2Provider](),
	}},
	{method: "DELETE", path: "/api/v2/providers/{provider}", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2DeleteProvider, doc: &v2Doc{
		name: "deleteProvider", about: "Removes a model provider with its key.", status: http.StatusNoContent,
	}},
	{method: "POST", path: "/api/v2/providers/{provider}/test", body: bodyTiny, scope: scopeAdmin, answer: (*API).v2TestProvider, doc: &v2Doc{
		name: "testProvider", about: "Asks one model of a provider for a word, a sound or a vector.", in: schemaOf[v2ProviderTest](), out: schemaOf[v2ProviderTested](),
	}},
}

type v2Model struct {
	ID       string `json:"id" jsonschema:"what a canvas writes as llm_id; *@PROVIDER where any name is accepted"`
	Kind     string `json:"kind" jsonschema:"chat, speech or embedding"`
	Provider string `json:"provider"`
	Host     bool   `json:"host" jsonschema:"shared by all tenants of the host"`
	About    string `json:"about,omitempty"`
}

type v2Models struct {
	Items []v2Model `json:"items"`
}

type v2Choice struct {
	Chat      string `json:"chat,omitempty"`
	Speech    string `json:"speech,omitempty"`
	Voice     string `json:"voice,omitempty" jsonschema:"the voice that speech is read with"`
	Embedding string `json:"embedding,omitempty"`
}

type v2ModelEntry struct {
	Name    string `json:"name"`
	Kind    string `json:"kind,omitempty" jsonschema:"chat, which is what is meant by none, speech or embedding"`
	Tools   *bool  `json:"tools,omitempty" jsonschema:"calls functions natively; true unless told"`
	Images  *bool  `json:"images,omitempty" jsonschema:"takes images; true unless told"`
	Context int    `json:"context,omitempty" jsonschema:"tokens that fit; 0 is 128000"`
}

type v2ProviderInput struct {
	BaseURL string         `json:"base_url,omitempty" jsonschema:"up to and without /chat/completions; empty is OpenAI"`
	Key     string         `json:"key,omitempty"`
	Models  []v2ModelEntry `json:"models,omitempty" jsonschema:"none accepts every name"`
	Timeout float64        `json:"timeout_seconds,omitempty" jsonschema:"longest silence of the server; 0 is 300"`
}

type v2Provider struct {
	Name    string         `json:"name" jsonschema:"NAME or INSTANCE@NAME"`
	BaseURL string         `json:"base_url"`
	HasKey  bool           `json:"has_key"`
	Models  []v2ModelEntry `json:"models"`
	Timeout float64        `json:"timeout_seconds,omitempty"`
}

type v2Providers struct {
	Items []v2Provider `json:"items"`
}

type v2ProviderTest struct {
	Model string `json:"model,omitempty" jsonschema:"which; the first one when left out"`
}

type v2ProviderTested struct {
	OK     bool   `json:"ok"`
	Model  string `json:"model"`
	Answer string `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"`
	TookMS int64  `json:"took_ms"`
}

func (a *API) v2Models(c *call) error {
	list, err := a.cfg.Models.List(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	out := v2Models{Items: make([]v2Model, len(list))}
	for i, m := range list {
		name := m.Name
		if name == "" {
			name = "*"
		}
		out.Items[i] = v2Model{ID: name + "@" + m.Provider, Kind: string(m.Kind), Provider: m.Provider, Host: m.Host}
	}
	if len(list) == 0 {
		out.Items = append(out.Items, v2Model{ID: "offline", Kind: string(model.KindChat), Provider: "easel", Host: true, About: "answers without a language model"})
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2Choice(c *call) error {
	v, err := a.cfg.Models.Choice(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2Choice{v.Default, v.Speech, v.Voice, v.Embedding})
	return nil
}

func (a *API) v2PutChoice(c *call) error {
	var in v2Choice
	if err := c.decode(&in); err != nil {
		return err
	}
	err := a.cfg.Models.SetChoice(c.ctx(), c.who.tenant, model.Choice{Default: in.Chat, Speech: in.Speech, Voice: in.Voice, Embedding: in.Embedding})
	if errors.Is(err, model.ErrUnknownModel) {
		return badArgument("%s", err)
	}
	if err != nil {
		return err
	}
	c.json(http.StatusOK, in)
	return nil
}

func v2ProviderOf(p model.Provider, hasKey bool) v2Provider {
	out := v2Provider{Name: p.Label(), BaseURL: p.BaseURL, HasKey: hasKey, Models: []v2ModelEntry{}, Timeout: p.Timeout}
	for _, e := range p.Models {
		out.Models = append(out.Models, v2ModelEntry{e.Name, string(e.Kind), e.Tools, e.Images, e.Context})
	}
	return out
}

func (a *API) v2ListProviders(c *call) error {
	list, hasKey, err := a.cfg.Models.Providers(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	out := v2Providers{Items: make([]v2Provider, len(list))}
	for i, p := range list {
		out.Items[i] = v2ProviderOf(p, hasKey[p.Label()])
	}
	c.json(http.StatusOK, out)
	return nil
}

func (a *API) v2PutProvider(c *call) error {
	var in v2ProviderInput
	if err := c.decode(&in); err != nil {
		return err
	}
	p, err := model.Labelled(c.params["provider"])
	if err != nil {
		return badArgument("%s", err)
	}
	p.BaseURL, p.Key, p.Timeout = in.BaseURL, in.Key, in.Timeout
	for _, e := range in.Models {
		p.Models = append(p.Models, model.Entry{Name: e.Name, Kind: model.Kind(e.Kind), Tools: e.Tools, Images: e.Images, Context: e.Context})
	}
	if err := p.Check(); err != nil {
		return badArgument("%s", err)
	}
	err = a.cfg.Models.Put(c.ctx(), c.who.tenant, p)
	if errors.Is(err, model.ErrKeyNeeded) {
		return badArgument("%s", err)
	}
	if err != nil {
		return err
	}
	_, hasKey, err := a.cfg.Models.Providers(c.ctx(), c.who.tenant)
	if err != nil {
		return err
	}
	c.json(http.StatusOK, v2ProviderOf(p, hasKey[p.Label()]))
	return nil
}

func (a *API) v2DeleteProvider(c *call) error {
	err := a.cfg.Models.Delete(c.ctx(), c.who.tenant, c.params["provider"])
	if errors.Is(err, store.ErrNotFound) {
		return notFoundV2("provider")
	}
	if err != nil {
		return err
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// testTime is how long a provider may take to answer a test.
const testTime = 30 * time.Second

func (a *API) v2TestProvider(c *call) error {
	var in v2ProviderTest
	if err := c.decode(&in); err != nil {
		return err
	}
	ctx, done := context.WithTimeout(c.ctx(), testTime)
	defer done()
	began := time.Now()
	name, answer, err := a.cfg.Models.Try(ctx, c.who.tenant, c.params["provider"], in.Model)
	if errors.Is(err, store.ErrNotFound) {
		return notFoundV2("provider")
	}
	out := v2ProviderTested{OK: err == nil, Model: name, Answer: answer, TookMS: time.Since(began).Milliseconds()}
	if err != nil {
		out.Error = err.Error()
	}
	c.json(http.StatusOK, out)
	return nil
}
