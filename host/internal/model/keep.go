package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/store"
)

// Kinds of store items.
const (
	providerItem = "provider"
	choiceItem   = "models" // one item: Choice
)

// Choice is what a tenant uses when a canvas names no model; "" leaves it to the host's
// configuration.
type Choice struct {
	Default   string `json:"default,omitempty"`
	Speech    string `json:"speech,omitempty"`
	Voice     string `json:"voice,omitempty"`
	Embedding string `json:"embedding,omitempty"`
}

// Providers lists what a tenant has added, without keys; hasKey says by label which of them have
// one.
func (t *Tenants) Providers(ctx context.Context, tenant string) (list []Provider, hasKey map[string]bool, err error) {
	list, err = t.read(ctx, tenant)
	hasKey = map[string]bool{}
	for i := range list {
		hasKey[list[i].Label()] = list[i].Key != ""
		list[i].Key = ""
	}
	return list, hasKey, err
}

func (t *Tenants) read(ctx context.Context, tenant string) ([]Provider, error) {
	items, err := t.Store.Items(ctx, tenant, providerItem)
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
	p.Key = string(item.Secret)
	return p, nil
}

// ErrKeyNeeded means that a provider's address changes and its key does not come along; a key is
// sent only to the address that it was given for.
var ErrKeyNeeded = errors.New("the address changes, so the key is needed again")

// Put adds a provider or replaces the one of the same label. Without a key the stored one stays.
// Errors: [ErrKeyNeeded], those of [Provider.Check], [store.ErrConflict].
func (t *Tenants) Put(ctx context.Context, tenant string, p Provider) error {
	if err := p.Check(); err != nil {
		return err
	}
	item, err := t.Store.ItemNamed(ctx, tenant, providerItem, p.Label())
	switch {
	case errors.Is(err, store.ErrNotFound):
		item = store.Item{Tenant: tenant, Kind: providerItem}
	case err != nil:
		return err
	case p.Key == "":
		old, err := providerOf(item)
		if err != nil {
			return err
		}
		if old.Key != "" && old.BaseURL != p.BaseURL {
			return fmt.Errorf("%s: %w", p.Label(), ErrKeyNeeded)
		}
		p.Key = old.Key
	}
	item.Name, item.Secret = p.Label(), []byte(p.Key)
	p.Key, p.KeyEnv = "", ""
	if item.Doc, err = json.Marshal(p); err != nil {
		return err
	}
	_, err = t.Store.PutItem(ctx, item)
	return err
}

// Delete removes a provider with its key. Errors: [store.ErrNotFound].
func (t *Tenants) Delete(ctx context.Context, tenant, label string) error {
	item, err := t.Store.ItemNamed(ctx, tenant, providerItem, label)
	if err != nil {
		return err
	}
	return t.Store.DeleteItem(ctx, tenant, providerItem, item.ID)
}

// Try asks one model of a tenant's provider for as little as it can give: the first one it lists
// when name is empty. It gives the name of the model that was asked, and the beginning of what it
// said. Errors: [store.ErrNotFound], [ErrUnknownModel], those of the model.
func (t *Tenants) Try(ctx context.Context, tenant, label, name string) (asked, answer string, err error) {
	item, err := t.Store.ItemNamed(ctx, tenant, providerItem, label)
	if err != nil {
		return "", "", err
	}
	p, err := providerOf(item)
	if err != nil {
		return "", "", err
	}
	p.Retries = new(int) // the person who waits can try again
	made, err := newProvider(p, t.Transport)
	if err != nil {
		return "", "", err
	}
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

// mostTried is how much of a tried model's answer is shown, in runes.
const mostTried = 200

func (p *provider) try(ctx context.Context, e Entry) (answer string, err error) {
	switch e.kind() {
	case KindSpeech:
		_, err = p.speak(ctx, e.Name, defaultVoice, "Hello.")
		return "", err
	case KindEmbedding:
		_, _, err = p.embed(ctx, e.Name, []string{"Hello."})
		return "", err
	}
	req := &engine.ModelRequest{Messages: []engine.ModelMessage{{Role: "user", Content: "Answer with the word: hello"}}}
	for piece, err := range p.generate(ctx, e.Name, req) {
		if err != nil {
			return "", err
		}
		answer += piece.Text
	}
	if r := []rune(answer); len(r) > mostTried {
		answer = string(r[:mostTried])
	}
	return answer, nil
}

// Choice reads what a tenant uses when nothing is named.
func (t *Tenants) Choice(ctx context.Context, tenant string) (Choice, error) {
	var c Choice
	item, err := t.Store.Item(ctx, tenant, choiceItem, choiceItem)
	if errors.Is(err, store.ErrNotFound) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(item.Doc, &c)
}

// SetChoice stores it. Errors: [ErrUnknownModel] for an id that nothing has, [store.ErrConflict].
func (t *Tenants) SetChoice(ctx context.Context, tenant string, c Choice) error {
	m, err := t.load(ctx, tenant)
	if err != nil {
		return err
	}
	for _, id := range [...]string{c.Default, c.Speech, c.Embedding} {
		if _, _, ok := m.find(id); id != "" && !ok {
			return m.unknown(id, "")
		}
	}
	item, err := t.Store.Item(ctx, tenant, choiceItem, choiceItem)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	item.Tenant, item.Kind, item.ID, item.Name = tenant, choiceItem, choiceItem, choiceItem
	if item.Doc, err = json.Marshal(c); err != nil {
		return err
	}
	_, err = t.Store.PutItem(ctx, item)
	return err
}
