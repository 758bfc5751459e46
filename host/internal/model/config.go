package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/redact"
	"github.com/easel-canvas/easel/host/internal/limit"
	"github.com/easel-canvas/easel/host/internal/model/price"
)

// DefaultFile is read from the working directory if EASEL_MODEL_FILE is not set.
const DefaultFile = "easel.models.json"

// defaultContext is the context size, in tokens, of a model whose entry sets none. Current
// commercial models have at least this much.
const defaultContext = 128_000

// Config lists the providers. The zero value has none.
type Config struct {
	// Default is the id that an empty llm_id means; "" is the first model of the first
	// provider.
	Default string `json:"default,omitempty"`
	// Speech is the id of the speech model; "" is the first model of kind speech. Without one there
	// is not a speech output.
	Speech string `json:"speech,omitempty"`
	Voice  string `json:"voice,omitempty"` // voice of the speech model; "" is alloy
	// Transcription is the id of the model that writes down speech; "" is the first of its kind.
	Transcription string `json:"transcription,omitempty"`
	// Embedding is the id of the embedding model; "" is the first model of kind embedding.
	Embedding string `json:"embedding,omitempty"`
	// Aliases map ids that canvases use to configured ids. The key "*" matches every unknown id.
	Aliases   map[string]string `json:"aliases,omitempty"`
	Providers []Provider        `json:"providers"`

	// Currency is the code of the currency in which costs are counted; "" counts none by the
	// vendors' price lists. Rates has what a unit of other currencies is worth in it.
	Currency string             `json:"-"`
	Rates    map[string]float64 `json:"-"`
}

// Provider is an endpoint with models.
type Provider struct {
	Name     string `json:"name"`               // the part of an id after the last @; case-insensitive
	Instance string `json:"instance,omitempty"` // distinguishes accounts at one provider; "" is "default"
	API      API    `json:"api,omitempty"`      // the form of its requests; "" is the preset's, or openai
	// BaseURL is without /chat/completions; without one, requests go to the preset of the name or
	// the vendor of the API.
	BaseURL string `json:"base_url,omitempty"`
	Key     string `json:"key,omitempty"`
	KeyEnv  string `json:"key_env,omitempty"` // environment variable with the key; "" means the preset's
	// Headers are sent with each request. Their values are secret like the key.
	Headers map[string]string `json:"headers,omitempty"`
	// Models lists the models. An empty list accepts every name.
	Models  []Entry `json:"models,omitempty"`
	Timeout float64 `json:"timeout_seconds,omitempty"` // maximum time without data from the server; 0 is 300
	Retries *int    `json:"retries,omitempty"`         // retries after the first attempt; nil is 3
	// Local means that an operator allows the address, which is one of the host's machine.
	// Providers of the configuration need no permission.
	Local bool `json:"local,omitempty"`
	// Limits bound the calls of each of its models on this host; zero fields are left to the host.
	Limits limit.Limits `json:"limits,omitzero"`
}

// Kind is the purpose of a model.
type Kind string

// The kinds of models.
const (
	KindChat      Kind = "chat"
	KindSpeech    Kind = "speech"
	KindEmbedding Kind = "embedding"
	KindRerank    Kind = "rerank"
	// KindTranscription converts speech to text.
	KindTranscription Kind = "transcription"
)

var kinds = []Kind{KindChat, KindSpeech, KindEmbedding, KindRerank, KindTranscription}

// Entry describes one model. Its JSON is an object or just the name.
type Entry struct {
	Name   string `json:"name"`
	Kind   Kind   `json:"kind,omitempty"`   // "" is chat
	Tools  *bool  `json:"tools,omitempty"`  // supports tool calling; nil is true
	Images *bool  `json:"images,omitempty"` // accepts images; nil is true
	// Context is in tokens; 0 means that of the price list, or 128,000, and 16,384 with api ollama.
	Context int `json:"context,omitempty"`
	// Dimensions are requested of an embedding model; 0 leaves them to the model. A server that has
	// one size refuses them, and they are not sent again.
	Dimensions int `json:"dimensions,omitempty"`
	// Fallback lists the ids of models that are called, in this order, when the server of this one
	// fails; those of a canvas come first.
	Fallback []string `json:"fallback,omitempty"`
	// Drop lists parameters that are never sent to the model, such as temperature.
	Drop []string `json:"drop,omitempty"`
	// Limits replace those of the provider for this model.
	Limits limit.Limits `json:"limits,omitzero"`
}

// UnmarshalJSON accepts a name instead of the object.
func (e *Entry) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte{'"'}) {
		return json.Unmarshal(data, &e.Name)
	}
	type plain Entry
	return strict(data, (*plain)(e))
}

func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// ReadConfig reads a configuration file.
func ReadConfig(path string) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Config{}, fmt.Errorf("model configuration: %w", err)
	}
	var c Config
	if err := strict(data, &c); err != nil {
		return Config{}, fmt.Errorf("model configuration %s: %w", path, err)
	}
	return c, nil
}

// FromEnvironment reads the file that EASEL_MODEL_FILE names, or DefaultFile if it is there, and
// adds the provider of the environment variables:
//
//	EASEL_MODEL_BASE_URL, EASEL_MODEL_KEY   an endpoint and its key
//	EASEL_MODEL_API                         its [API]; default "openai"
//	EASEL_MODEL_PROVIDER                    its name; default "OpenAI"
//	EASEL_MODEL_NAMES                       its models, comma-separated; default any name
//	EASEL_MODEL_DEFAULT                     the id that an empty llm_id means
//	EASEL_MODEL_SPEECH, EASEL_MODEL_VOICE   the id of the speech model, and its voice
//	EASEL_MODEL_EMBEDDING                   the id of the embedding model
//	EASEL_MODEL_TRANSCRIPTION               the id of the model that writes down speech
//	OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL   the same, as other programs name it
//
// getenv is os.Getenv outside of tests.
func FromEnvironment(getenv func(string) string) (Config, error) {
	var c Config
	path := getenv("EASEL_MODEL_FILE")
	named := path != ""
	if !named {
		path = DefaultFile
	}
	c, err := ReadConfig(path)
	if err != nil && (named || !errors.Is(err, fs.ErrNotExist)) {
		return Config{}, err
	}
	for name, to := range map[string]*string{
		"EASEL_MODEL_DEFAULT": &c.Default, "EASEL_MODEL_SPEECH": &c.Speech, "EASEL_MODEL_VOICE": &c.Voice,
		"EASEL_MODEL_EMBEDDING": &c.Embedding, "EASEL_MODEL_TRANSCRIPTION": &c.Transcription,
	} {
		if v := getenv(name); v != "" {
			*to = v
		}
	}
	c.Providers = append(c.Providers, environmentProvider(getenv)...)
	for i := range c.Providers {
		p := &c.Providers[i]
		for _, name := range p.keyVariables() {
			p.Key = cmp.Or(p.Key, getenv(name))
		}
	}
	return c, nil
}

func environmentProvider(getenv func(string) string) []Provider {
	either := func(a, b string) string { return cmp.Or(getenv(a), getenv(b)) }
	p := Provider{
		Name:    cmp.Or(getenv("EASEL_MODEL_PROVIDER"), "OpenAI"),
		API:     API(getenv("EASEL_MODEL_API")),
		BaseURL: either("EASEL_MODEL_BASE_URL", "OPENAI_BASE_URL"),
		Key:     getenv("EASEL_MODEL_KEY"),
	}
	preset, known := PresetOf(p.Name)
	variables := []string{"OPENAI_API_KEY"}
	if known && p.BaseURL == "" {
		variables = p.keyVariables()
	}
	for _, name := range variables {
		p.Key = cmp.Or(p.Key, getenv(name))
	}
	if p.BaseURL == "" && p.Key == "" && !preset.Local {
		return nil
	}
	names := either("EASEL_MODEL_NAMES", "OPENAI_MODEL")
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			p.Models = append(p.Models, Entry{Name: name})
		}
	}
	return []Provider{p}
}

// entry returns the configuration of a model; ok is false if it is not listed.
func (p *Provider) entry(name string) (Entry, bool) {
	for _, same := range sameNames {
		for _, e := range p.Models {
			if same(e.Name, name) {
				return e, true
			}
		}
	}
	return Entry{Name: name}, len(p.Models) == 0
}

func (e *Entry) kind() Kind {
	if e.Kind == "" {
		return KindChat
	}
	return e.Kind
}

// maxDrops bounds the parameters that a model never gets.
const maxDrops = 100

// Check reports the first invalid setting of a provider.
func (p *Provider) Check() error {
	completed := p.Completed()
	p = &completed
	if p.Name == "" {
		return fmt.Errorf("name is empty; it is what follows the @ of an llm_id")
	}
	if !isName(p.Name + p.Instance) {
		return fmt.Errorf("name %q is longer than %d bytes or has characters that cannot be printed", p.Label(),
			longestName)
	}
	if u, err := url.Parse(p.BaseURL); p.BaseURL != "" &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%s: base_url %q is not an http or https address", p.Label(),
			redact.Address(p.BaseURL))
	}
	if err := p.checkAPI(); err != nil {
		return fmt.Errorf("%s: %w", p.Label(), err)
	}
	for _, err := range [...]error{p.checkLocal(), p.Limits.Check()} {
		if err != nil {
			return fmt.Errorf("%s: %w", p.Label(), err)
		}
	}
	for _, e := range p.Models {
		switch {
		case e.Name == "":
			return fmt.Errorf("%s: a model has no name", p.Label())
		case e.Limits.Check() != nil:
			return fmt.Errorf("%s: model %q: %w", p.Label(), e.Name, e.Limits.Check())
		case !slices.Contains(kinds, e.kind()):
			return fmt.Errorf("%s: model %q: unknown kind %q (one of chat, speech, embedding, rerank, transcription)",
				p.Label(), e.Name, e.Kind)
		case e.Dimensions < 0 || e.Dimensions > 0 && e.kind() != KindEmbedding:
			return fmt.Errorf("%s: model %q: dimensions are for kind embedding, and at least 1", p.Label(), e.Name)
		case len(e.Fallback) > maxFallbacks || len(e.Drop) > maxDrops:
			return fmt.Errorf("%s: model %q: at most %d fallback models and %d parameters in drop", p.Label(), e.Name,
				maxFallbacks, maxDrops)
		case len(e.Fallback) > 0 && e.kind() != KindChat:
			return fmt.Errorf("%s: model %q: fallback is for kind chat", p.Label(), e.Name)
		case e.kind() != KindChat && p.API.chatOnly():
			return fmt.Errorf("%s: model %q: api %s has chat models only; add a provider with api openai for kind %s",
				p.Label(), e.Name, p.API, e.Kind)
		}
	}
	return nil
}

// checkAPI reports an unknown form, a missing address and invalid headers.
func (p *Provider) checkAPI() error {
	if !p.API.known() {
		return fmt.Errorf("api %q is unknown (one of %s)", p.API, apiNames())
	}
	if p.address() == "" {
		return fmt.Errorf("base_url is empty; api %s requires the address of your resource", p.API)
	}
	for name, v := range p.Headers {
		switch {
		case !httpguts.ValidHeaderFieldName(name):
			return fmt.Errorf("headers: %q is not the name of a header", name)
		case slices.Contains(ownHeaders, http.CanonicalHeaderKey(name)):
			return fmt.Errorf("headers: %s is set by easel", name)
		case !httpguts.ValidHeaderFieldValue(v):
			return fmt.Errorf("headers: the value of %s has characters that a header cannot have", name)
		}
	}
	return nil
}

// ownHeaders are set by the client.
var ownHeaders = []string{"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "Te", "Trailer"}

// address returns the base URL that requests go to.
func (p *Provider) address() string { return cmp.Or(p.BaseURL, p.dialect().base()) }

func (p *Provider) info(name string) engine.Info {
	e, _ := p.entry(name)
	info := engine.Info{
		Context: e.Context, Tools: e.Tools == nil || *e.Tools, Images: e.Images == nil || *e.Images,
		Fallback: e.Fallback,
	}
	if info.Context <= 0 && p.API == Ollama {
		info.Context = ollamaContext
	} else if info.Context <= 0 {
		known, _ := price.Of(p.address(), name, time.Now())
		info.Context = cmp.Or(known.Context, defaultContext)
	}
	return info
}

// price returns the price that the tenant has set for a model, if it may, or else that of its
// vendor's list, in the currency of the configuration; nil without one, and without a rate for the
// vendor's currency.
func (m *Models) price(p *provider, model string) (known *engine.Price, own bool) {
	if set, ok := m.prices.Of(model + "@" + p.config.Label()); ok && !slices.Contains(m.foreign, p) {
		return &set, true
	}
	listed, ok := price.Of(p.config.address(), model, time.Now())
	rate := m.config.Rates[listed.Currency]
	if listed.Currency == m.config.Currency {
		rate = 1
	}
	if !ok || rate <= 0 {
		return nil, false
	}
	one := listed.Price(rate)
	return &one, false
}

// Label returns the name of the provider with its instance: "OpenAI" or "work@OpenAI".
func (p *Provider) Label() string {
	if p.Instance == "" {
		return p.Name
	}
	return p.Instance + "@" + p.Name
}

// Labelled returns a provider with the name and instance of a label: "NAME" or "INSTANCE@NAME".
func Labelled(label string) (Provider, error) {
	p := Provider{Name: label}
	if instance, name, ok := strings.Cut(label, "@"); ok {
		p = Provider{Name: name, Instance: instance}
	}
	if p.Name == "" || p.Label() != label || strings.Contains(p.Name, "@") {
		return p, fmt.Errorf("provider %.60q: expected NAME or INSTANCE@NAME", label)
	}
	return p, nil
}
