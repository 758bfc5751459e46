package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrUnknownModel means that no configured provider has the model; use a known id, or add the model
// or an alias to the configuration.
var ErrUnknownModel = errors.New("unknown model")

// resolve returns the provider of an id and the model's name there. An empty id means the default
// model of the kind.
func (m *Models) resolve(id string, kind Kind) (*provider, string, error) {
	if id == "" {
		return m.first(kind)
	}
	p, name, err := m.lookUp(id)
	if err != nil {
		return nil, "", err
	}
	if e, _ := p.config.entry(name); kind == KindChat && e.kind() != KindChat {
		return nil, "", fmt.Errorf("%w: %s@%s is of the kind %s, not chat", ErrUnknownModel, name,
			p.config.Label(), e.kind())
	}
	return p, name, nil
}

// lookUp returns the provider of an id and the model's name there. An alias comes before a provider
// that accepts every name, and the alias of all names after it.
func (m *Models) lookUp(id string) (*provider, string, error) {
	p, name, found := m.find(id)
	if found && (listed(p, name) || strings.Contains(id, "@")) {
		return p, name, nil
	}
	alias, ok := m.alias(id)
	if !ok && !found {
		alias, ok = m.alias("*")
	}
	if ok {
		if p, name, found = m.find(alias); !found {
			return nil, "", m.unknown(alias, "alias of "+id)
		}
	}
	if !found {
		return nil, "", m.unknown(id, "")
	}
	return p, name, nil
}

// alias returns what an id stands for: an alias of the tenant, or one of the configuration.
func (m *Models) alias(id string) (string, bool) {
	if alias, ok := aliasOf(id, m.own); ok {
		return alias, true
	}
	return aliasOf(id, m.config.Aliases)
}

// listed reports whether a provider lists a model, and does not only accept every name.
func listed(p *provider, name string) bool {
	_, ok := p.config.entry(name)
	return ok && len(p.config.Models) > 0
}

// aliasOf returns what an id stands for, in any case.
func aliasOf(id string, aliases map[string]string) (string, bool) {
	if alias, ok := aliases[id]; ok {
		return alias, true
	}
	for _, key := range slices.Sorted(maps.Keys(aliases)) {
		if strings.EqualFold(key, id) {
			return aliases[key], true
		}
	}
	return "", false
}

// chosen returns the id that the configuration sets for a kind, and the name of that setting.
func (c *Config) chosen(kind Kind) (id, setting string) {
	switch kind {
	case KindSpeech:
		return c.Speech, "speech"
	case KindEmbedding:
		return c.Embedding, "embedding"
	case KindTranscription:
		return c.Transcription, "transcription"
	}
	return c.Default, "default"
}

// first returns the default model of a kind.
func (m *Models) first(kind Kind) (*provider, string, error) {
	id, setting := m.config.chosen(kind)
	if id != "" {
		if p, name, ok := m.find(id); ok {
			return p, name, nil
		}
		return nil, "", m.unknown(id, "the configured "+setting)
	}
	for _, p := range m.providers {
		for _, e := range p.config.Models {
			if e.kind() == kind {
				return p, e.Name, nil
			}
		}
	}
	return nil, "", fmt.Errorf("%w: no %s model is named and there is no default; PUT /api/v2/models/default, or "+
		"set %s in the model configuration or EASEL_MODEL_%s",
		ErrUnknownModel, kind, setting, strings.ToUpper(setting))
}

// find looks up the whole id as a model name, then as "model@instance@Provider", then as
// "model@Provider". Model names may contain @ themselves.
func (m *Models) find(id string) (*provider, string, bool) {
	if p, listed, ok := listing(id, m.providers); ok {
		return p, listed, true
	}
	at := strings.LastIndexByte(id, '@')
	if at < 0 {
		p, ok := open(m.providers)
		return p, id, ok
	}
	name, named := id[:at], m.named(id[at+1:])
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		for _, p := range named {
			e, ok := p.config.entry(name[:i])
			if ok && strings.EqualFold(p.config.instance(), name[i+1:]) {
				return p, e.Name, true
			}
		}
	}
	if p, listed, ok := listing(name, named); ok {
		return p, listed, true
	}
	p, ok := open(named)
	return p, name, ok
}

// named returns the providers with a name, or else those that the name is an alias of; those
// without an instance first.
func (m *Models) named(name string) []*provider {
	preset, known := PresetOf(name)
	var found [4][]*provider
	for _, p := range m.providers {
		rank := 0
		if other, ok := PresetOf(p.config.Name); !strings.EqualFold(p.config.Name, name) {
			if !known || !ok || other.Name != preset.Name {
				continue
			}
			rank = 2
		}
		if p.config.Instance != "" {
			rank++
		}
		found[rank] = append(found[rank], p)
	}
	if exact := slices.Concat(found[:2]...); len(exact) > 0 {
		return exact
	}
	return slices.Concat(found[2:]...)
}

// sameNames compare a listed name with the one of a canvas: a name in another case is the same
// model if no provider lists exactly this one.
var sameNames = [...]func(listed, name string) bool{
	func(listed, name string) bool { return listed == name }, strings.EqualFold,
}

// listing returns the provider that lists a model, and the listed name.
func listing(name string, among []*provider) (*provider, string, bool) {
	for _, same := range sameNames {
		for _, p := range among {
			for _, e := range p.config.Models {
				if same(e.Name, name) {
					return p, e.Name, true
				}
			}
		}
	}
	return nil, "", false
}

// open returns a provider that accepts every model name.
func open(among []*provider) (*provider, bool) {
	for _, p := range among {
		if len(p.config.Models) == 0 {
			return p, true
		}
	}
	return nil, false
}

func (p *Provider) instance() string {
	if p.Instance == "" {
		return "default"
	}
	return p.Instance
}

// mostKnown bounds the models that an error lists.
const mostKnown = 20

// unknown returns the error for an id, with the list of known models.
func (m *Models) unknown(id, why string) error {
	if why != "" {
		why = " (" + why + ")"
	}
	var known []string
	for _, p := range m.providers {
		if len(p.config.Models) == 0 {
			known = append(known, "any name@"+p.config.Label())
		}
		for _, e := range p.config.Models {
			known = append(known, e.Name+"@"+p.config.Label())
		}
	}
	if more := len(known) - mostKnown; more > 0 {
		known = append(known[:mostKnown], fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf(
		"%w %q%s; known are %s; add it to the model configuration, or an alias that leads it to one of them",
		ErrUnknownModel, id, why, strings.Join(known, ", "))
}
