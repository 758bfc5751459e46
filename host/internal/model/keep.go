package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/egress/reach"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Kinds of items in the store.
const (
	providerItem = "provider"
	choiceItem   = "models"        // one item: Choice
	aliasItem    = "model aliases" // one item: a map of ids
	priceItem    = "model prices"  // one item: a map of prices
)

// ErrTooManyPrices means that a tenant has the most prices; remove some.
var ErrTooManyPrices = fmt.Errorf("more than %d prices", mostAliases)

// Records are the stored items of tenants; [store.Items] implements it.
type Records interface {
	List(ctx context.Context, tenant, kind string) ([]store.Item, error)
	Get(ctx context.Context, tenant, kind, id string) (store.Item, error)
	Named(ctx context.Context, tenant, kind, name string) (store.Item, error)
	Put(ctx context.Context, item store.Item) (store.Item, error)
	Delete(ctx context.Context, tenant, kind, id string) error
}

// Choice holds the models a tenant uses when a canvas names none; "" means the host's
// configuration.
type Choice struct {
	Default   string `json:"default,omitempty"`
	Speech    string `json:"speech,omitempty"`
	Voice     string `json:"voice,omitempty"`
	Embedding string `json:"embedding,omitempty"`
	// Transcription is the model that writes down speech.
	Transcription string `json:"transcription,omitempty"`
}

// mostAliases bounds the aliases of a tenant, and its prices, which each run reads.
const mostAliases = 1000

// ErrTooManyAliases means that a tenant has the most aliases; remove some.
var ErrTooManyAliases = fmt.Errorf("more than %d aliases", mostAliases)

// Providers lists the providers of a tenant without their keys and with empty values of headers;
// hasKey reports by label whether a key is stored.
func (t *Tenants) Providers(ctx context.Context, tenant string) (list []Provider, hasKey map[string]bool, err error) {
	list, err = t.read(ctx, tenant)
	hasKey = map[string]bool{}
	for i := range list {
		hasKey[list[i].Label()] = list[i].Key != ""
		list[i].Key = ""
		for name := range list[i].Headers {
			list[i].Headers[name] = ""
		}
	}
	return list, hasKey, err
}

func (t *Tenants) read(ctx context.Context, tenant string) ([]Provider, error) {
	items, err := t.Records.List(ctx, tenant, providerItem)
	if err != nil {
		return nil, err
	}
	out := make([]Provider, len(items))
	for i, item := range items {
		if out[i], err = providerOf(item); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func providerOf(item store.Item) (Provider, error) {
	var p Provider
	if err := json.Unmarshal(item.Doc, &p); err != nil {
		return p, fmt.Errorf("provider %q: %w", item.Name, err)
	}
	var err error
	p.Key, p.Headers, err = openSecret(item.Secret)
	if err != nil {
		return p, fmt.Errorf("provider %q: %w", item.Name, err)
	}
	return p, nil
}

// sealed is the secret of a provider with headers. The secret of one without is its key.
type sealed struct {
	Key     string            `json:"key"`
	Headers map[string]string `json:"headers"`
}

// sealedMark starts a secret with headers; a key cannot start with it.
const sealedMark = "\x00"

func secretOf(p *Provider) ([]byte, error) {
	if len(p.Headers) == 0 {
		return []byte(p.Key), nil
	}
	data, err := json.Marshal(sealed{p.Key, p.Headers})
	return append([]byte(sealedMark), data...), err
}

func openSecret(secret []byte) (key string, headers map[string]string, err error) {
	data, marked := bytes.CutPrefix(secret, []byte(sealedMark))
	if !marked {
		return string(secret), nil, nil
	}
	var s sealed
	err = json.Unmarshal(data, &s)
	return s.Key, s.Headers, err
}

var (
	// ErrKeyNeeded means that the address of a provider changes without a new key, or that its
	// secret would be sent and no longer only sign. A stored key is sent only to the address it was
	// given for.
	ErrKeyNeeded = errors.New("the address or api changes: enter the key again")
	// ErrHeadersNeeded means the same of its headers.
	ErrHeadersNeeded = errors.New("the address changes: enter the headers again, or {} to remove them")
)

// keep sets the key and the headers that p lacks to those of the provider that it replaces. Nil
// headers are kept, empty ones removed.
func (p *Provider) keep(old *Provider) error {
	moved := !reach.SameAddress(old.address(), p.address())
	switch {
	case p.Key == "" && old.Key != "" && (moved || old.signs() && p.API != Bedrock):
		return fmt.Errorf("%s: %w", p.Label(), ErrKeyNeeded)
	case p.Headers == nil && len(old.Headers) > 0 && moved:
		return fmt.Errorf("%s: %w", p.Label(), ErrHeadersNeeded)
	}
	p.Key = cmp.Or(p.Key, old.Key)
	p.Local = p.Local || old.Local && !moved
	if p.Headers == nil {
		p.Headers = old.Headers
	}
	return nil
}

// signs reports whether the key signs requests and is not sent.
func (p *Provider) signs() bool {
	_, ok := credentialsOf(p.Key)
	return ok && p.API == Bedrock
}

// Put adds a provider or replaces the one with the same label. Without a key the stored key is
// kept, and without headers the stored headers.
//
// Errors: [ErrKeyNeeded], [ErrHeadersNeeded], those of [Provider.Check], [store.ErrConflict].
func (t *Tenants) Put(ctx context.Context, tenant string, p Provider) error {
	p = p.Completed()
	if err := p.Check(); err != nil {
		return err
	}
	item, err := t.Records.Named(ctx, tenant, providerItem, p.Label())
	switch {
	case errors.Is(err, store.ErrNotFound):
		item = store.Item{Tenant: tenant, Kind: providerItem}
	case err != nil:
		return err
	default:
		old, err := providerOf(item)
		if err != nil {
			return err
		}
		if err := p.keep(&old); err != nil {
			return err
		}
	}
	if item.Secret, err = secretOf(&p); err != nil {
		return err
	}
	item.Name = p.Label()
	p.Key, p.KeyEnv, p.Headers = "", "", nil
	if item.Doc, err = json.Marshal(p); err != nil {
		return err
	}
	_, err = t.Records.Put(ctx, item)
	return err
}

// Delete removes a provider and its key. Errors: [store.ErrNotFound].
func (t *Tenants) Delete(ctx context.Context, tenant, label string) error {
	item, err := t.Records.Named(ctx, tenant, providerItem, label)
	if err != nil {
		return err
	}
	return t.Records.Delete(ctx, tenant, providerItem, item.ID)
}

// Try makes a minimal call to one model of a tenant's provider; an empty name means the first model
// listed. It returns the name of the model called and the beginning of its output.
//
// Errors: [store.ErrNotFound], [ErrUnknownModel], those of the model.
func (t *Tenants) Try(ctx context.Context, tenant, label, name string) (asked, answer string, err error) {
	made, err := t.waitedFor(ctx, tenant, label)
	if err != nil {
		return "", "", err
	}
	p := &made.config
	if name == "" && len(p.Models) > 0 {
		name = p.Models[0].Name
	}
	if name == "" {
		return "", "", fmt.Errorf("%w: %s lists none, so one must be named", ErrUnknownModel, p.Label())
	}
	entry, ok := p.entry(name)
	if !ok {
		return name, "", fmt.Errorf("%w: %s does not list %q", ErrUnknownModel, p.Label(), name)
	}
	answer, err = made.try(ctx, entry)
	return name, answer, err
}

// stored returns a provider as it is stored. Errors: [store.ErrNotFound].
func (t *Tenants) stored(ctx context.Context, tenant, label string) (Provider, error) {
	item, err := t.Records.Named(ctx, tenant, providerItem, label)
	if err != nil {
		return Provider{}, err
	}
	return providerOf(item)
}

// waitedFor returns a stored provider for a user who waits, and can retry. Errors:
// [store.ErrNotFound].
func (t *Tenants) waitedFor(ctx context.Context, tenant, label string) (*provider, error) {
	p, err := t.stored(ctx, tenant, label)
	if err != nil {
		return nil, err
	}
	p.Retries = new(int)
	return t.provider(&p, tenant)
}

// provider returns a provider of a tenant, ready to be called.
func (t *Tenants) provider(p *Provider, tenant string) (*provider, error) {
	made, err := newProvider(*p, t.transport(p))
	if err != nil {
		return nil, err
	}
	made.lessons, made.owner = &t.lessons, tenant
	return made, nil
}

// maxTryRunes bounds the output that Try returns, in runes.
const maxTryRunes = 200

func (p *provider) try(ctx context.Context, e Entry) (answer string, err error) {
	switch e.kind() {
	case KindSpeech:
		_, err = p.speak(ctx, e.Name, defaultVoice, "Hello.")
		return "", err
	case KindEmbedding:
		_, _, err = p.embed(ctx, e.Name, []string{"Hello."})
		return "", err
	case KindTranscription:
		return p.transcribe(ctx, e.Name, "recording.wav", silence())
	case KindRerank:
		_, _, err = p.rerank(ctx, e.Name, "Hello.", []string{"Hello."})
		return "", err
	}
	req := &engine.ModelRequest{Messages: []engine.ModelMessage{{Role: "user", Content: "Answer with the word: hello"}}}
	for piece, err := range p.generate(ctx, e.Name, req) {
		if err != nil {
			return "", err
		}
		answer += piece.Text
	}
	if r := []rune(answer); len(r) > maxTryRunes {
		answer = string(r[:maxTryRunes])
	}
	return answer, nil
}

// Choice returns the model choice of a tenant.
func (t *Tenants) Choice(ctx context.Context, tenant string) (c Choice, err error) {
	return c, t.readItem(ctx, tenant, choiceItem, &c)
}

// readItem reads the only item of a kind, if there is one.
func (t *Tenants) readItem(ctx context.Context, tenant, kind string, into any) error {
	item, err := t.Records.Get(ctx, tenant, kind, kind)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(item.Doc, into)
}

// writeItem replaces the only item of a kind.
func (t *Tenants) writeItem(ctx context.Context, tenant, kind string, v any) error {
	item, err := t.Records.Get(ctx, tenant, kind, kind)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	item.Tenant, item.Kind, item.ID, item.Name = tenant, kind, kind, kind
	if item.Doc, err = json.Marshal(v); err != nil {
		return err
	}
	_, err = t.Records.Put(ctx, item)
	return err
}

// SetChoice stores the model choice of a tenant. What stood there before may name models that were
// removed. Errors: [ErrUnknownModel], [store.ErrConflict].
func (t *Tenants) SetChoice(ctx context.Context, tenant string, c Choice) error {
	before, err := t.Choice(ctx, tenant)
	if err != nil {
		return err
	}
	changed := map[Kind][]string{}
	for _, one := range [...]struct {
		kind    Kind
		id, old string
	}{
		{KindChat, c.Default, before.Default},
		{KindSpeech, c.Speech, before.Speech},
		{KindEmbedding, c.Embedding, before.Embedding},
		{KindTranscription, c.Transcription, before.Transcription},
	} {
		if one.id != one.old {
			changed[one.kind] = append(changed[one.kind], one.id)
		}
	}
	if err := t.known(ctx, tenant, changed); err != nil {
		return err
	}
	return t.writeItem(ctx, tenant, choiceItem, c)
}

// Aliases returns the ids of models by the ids that canvases of a tenant use; they come before the
// aliases of the host.
func (t *Tenants) Aliases(ctx context.Context, tenant string) (aliases map[string]string, err error) {
	return aliases, t.readItem(ctx, tenant, aliasItem, &aliases)
}

// SetAliases replaces the aliases of a tenant. What stood there before may name models that were
// removed. Errors: [ErrUnknownModel], [ErrTooManyAliases], [store.ErrConflict].
func (t *Tenants) SetAliases(ctx context.Context, tenant string, aliases map[string]string) error {
	if len(aliases) > mostAliases {
		return ErrTooManyAliases
	}
	before, err := t.Aliases(ctx, tenant)
	if err != nil {
		return err
	}
	var changed []string
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		if id := aliases[alias]; id != before[alias] {
			changed = append(changed, id)
		}
	}
	if err := t.known(ctx, tenant, map[Kind][]string{KindChat: changed}); err != nil {
		return err
	}
	return t.writeItem(ctx, tenant, aliasItem, aliases)
}

// Prices returns the prices that a tenant has set, by ids of models; they come before those of the
// host.
func (t *Tenants) Prices(ctx context.Context, tenant string) (prices engine.Prices, err error) {
	return prices, t.readItem(ctx, tenant, priceItem, &prices)
}

// SetPrices replaces the prices of a tenant. Errors: [ErrTooManyPrices], [store.ErrConflict].
func (t *Tenants) SetPrices(ctx context.Context, tenant string, prices engine.Prices) error {
	if len(prices) > mostAliases {
		return ErrTooManyPrices
	}
	return t.writeItem(ctx, tenant, priceItem, prices)
}

// known reports an id that is not one of a model of its kind; empty ones are left out. Aliases lead
// to models, and not to other aliases.
func (t *Tenants) known(ctx context.Context, tenant string, ids map[Kind][]string) error {
	m, err := t.load(ctx, tenant)
	if err != nil {
		return err
	}
	for kind, list := range ids {
		for _, id := range list {
			p, name, ok := m.find(id)
			if id == "" {
				continue
			}
			if !ok {
				return m.unknown(id, "")
			}
			if e, _ := p.config.entry(name); listed(p, name) && e.kind() != kind {
				return fmt.Errorf("%w: %s is of the kind %s, not %s", ErrUnknownModel, id, e.kind(), kind)
			}
		}
	}
	return nil
}
