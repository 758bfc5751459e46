package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/easel-canvas/easel/host/internal/egress/redact"
	"github.com/easel-canvas/easel/host/internal/store"
)

// ErrHostProvider means that a provider belongs to the host, not to the tenant.
var ErrHostProvider = errors.New("the provider is one of the host")

// Remember stores what is learned of models in records, which hosts share, from now on. Call it
// before the first call.
func (t *Tenants) Remember(records LessonRecords) {
	t.lessons.records = records
	if t.Host != nil {
		t.Host.lessons.records = records
	}
}

// Learned is a lesson about a model of a provider.
type Learned struct {
	Provider string // label
	Host     bool   // the provider is one of the host
	Model    string
	Lesson
}

// Learned lists what was learned of the models of a tenant: those of its providers, and those of
// the host, which all tenants share.
func (t *Tenants) Learned(ctx context.Context, tenant string) ([]Learned, error) {
	m, err := t.load(ctx, tenant)
	if err != nil {
		return nil, err
	}
	known := map[string]map[lessonKey]Lesson{}
	var out []Learned
	for _, p := range m.providers {
		if known[p.owner] == nil {
			if known[p.owner], err = p.lessons.list(ctx, p.owner); err != nil {
				return nil, err
			}
		}
		for key, one := range known[p.owner] {
			if key.address == p.config.BaseURL {
				if one.BaseURL = redact.Address(one.BaseURL); p.owner == "" {
					one.BaseURL = "" // tenants do not see the addresses of the host
				}
				out = append(out, Learned{p.config.Label(), p.owner == "", key.model, one})
			}
		}
	}
	slices.SortFunc(out, func(a, b Learned) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
	})
	return out, nil
}

// Reset forgets what was learned of a model of a provider, or with "" of all its models. The
// providers of the host can be reset if operates is true.
//
// Errors: [store.ErrNotFound], [ErrHostProvider].
func (t *Tenants) Reset(ctx context.Context, tenant, label, model string, operates bool) error {
	m, err := t.load(ctx, tenant)
	if err != nil {
		return err
	}
	for _, p := range m.providers {
		switch {
		case p.config.Label() != label:
		case p.owner == "" && !operates:
			return fmt.Errorf("%s: %w", label, ErrHostProvider)
		default:
			return p.lessons.reset(ctx, p.lessonKey(model))
		}
	}
	return fmt.Errorf("provider %q: %w", label, store.ErrNotFound)
}
