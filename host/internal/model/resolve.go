package model

import (
	"errors"
	"fmt"
	"strings"
)

// ErrUnknownModel means that no configured provider has the model; use a known id, or add the model or an alias to
// the configuration.
var ErrUnknownModel = errors.New("unknown model")

// resolve finds the provider of an llm_id and the model's name there.
func (m *Models) resolve(id string) (*provider, string, error) {
	if id == "" {
		return m.first()
	}
	if p, name, ok := m.find(id); ok {
		return p, name, nil
	}
	for _, key := range [...]string{id, "*"} {
		if alias, ok := m.config.Aliases[key]; ok {
			if p, name, ok := m.find(alias); ok {
				return p, name, nil
			}
			return nil, "", m.unknown(alias, "alias of "+id)
		}
	}
	return nil, "", m.unknown(id, "")
}

// first is the model of an empty id.
func (m *Models) first() (*provider, string, error) {
	if d := m.config.Default; d != "" {
		if p, name, ok := m.find(d); ok {
			return p, name, nil
		}
		return nil, "", m.unknown(d, "the configured default")
	}
	for _, p := range m.providers {
		if len(p.config.Models) > 0 {
			return p, p.config.Models[0].Name, nil
		}
	}
	return nil, "", fmt.Errorf("%w: a component names none and there is no default; set default in the model configuration or EASEL_MODEL_DEFAULT", ErrUnknownModel)
}

// find tries the whole id as a model's name, then what stands before the last @ at that provider, then the same with
// an instance between them. Names of models may hold @ themselves.
func (m *Models) find(id string) (*provider, string, bool) {
	if p, ok := listing(id, m.providers); ok {
		return p, id, true
	}
	at := strings.LastIndexByte(id, '@')
	if at < 0 {
		p, ok := open(m.providers)
		return p, id, ok
	}
	name, named := id[:at], m.named(id[at+1:])
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		for _, p := range named {
			if strings.EqualFold(p.config.instance(), name[i+1:]) && p.has(name[:i]) {
				return p, name[:i], true
			}
		}
	}
	if p, ok := listing(name, named); ok {
		return p, name, true
	}
	p, ok := open(named)
	return p, name, ok
}

// named are the providers of one name, those without an instance first.
func (m *Models) named(name string) []*provider {
	var plain, others []*provider
	for _, p := range m.providers {
		if !strings.EqualFold(p.config.Name, name) {
			continue
		}
		if p.config.Instance == "" {
			plain = append(plain, p)
		} else {
			others = append(others, p)
		}
	}
	return append(plain, others...)
}

// listing finds the provider that lists a model.
func listing(name string, among []*provider) (*provider, bool) {
	for _, p := range among {
		if len(p.config.Models) > 0 && p.has(name) {
			return p, true
		}
	}
	return nil, false
}

// open finds a provider that accepts every name.
func open(among []*provider) (*provider, bool) {
	for _, p := range among {
		if len(p.config.Models) == 0 {
			return p, true
		}
	}
	return nil, false
}

func (p *provider) has(name string) bool {
	_, ok := p.config.entry(name)
	return ok
}

func (p *Provider) instance() string {
	if p.Instance == "" {
		return "default"
	}
	return p.Instance
}

// unknown is the error for an id; it lists what there is.
func (m *Models) unknown(id, why string) error {
	if why != "" {
		why = " (" + why + ")"
	}
	var known []string
	for _, p := range m.providers {
		if len(p.config.Models) == 0 {
			known = append(known, "any name@"+p.config.label())
		}
		for _, e := range p.config.Models {
			known = append(known, e.Name+"@"+p.config.label())
		}
	}
	return fmt.Errorf("%w %q%s; known are %s; add it to the model configuration, or an alias that leads it to one of them", ErrUnknownModel, id, why, strings.Join(known, ", "))
}
