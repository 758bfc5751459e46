package host

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/schedule"
	"github.com/easel-canvas/easel/host/internal/store"
	"github.com/easel-canvas/easel/plugins/contract"
)

// triggersOf are the plugins that begin runs; nil where the machine cannot run any.
func triggersOf(p *plugins) schedule.Triggers {
	if p == nil {
		return nil
	}
	return p
}

// trigger returns an installed plugin, and its component that begins runs.
func (p *plugins) trigger(ref string) (*plugin.Module, *contract.Manifest, error) {
	m, err := p.catalog.Get(ref)
	if err != nil {
		return nil, nil, err
	}
	about, err := m.Manifest().Named(ref)
	if err == nil && about.Trigger == "" {
		err = contract.Errorf(contract.Unsupported, "is a component of canvases, not a trigger").At(ref, "")
	}
	return m, about, err
}

// CheckTrigger returns the kind of an installed plugin and refuses params that it does not accept.
func (p *plugins) CheckTrigger(ctx context.Context, _, ref string, params engine.Value) (contract.TriggerKind, error) {
	m, about, err := p.trigger(ref)
	if err != nil {
		return "", err
	}
	return about.Trigger, m.Check(ctx, about, params)
}

// CallTrigger calls a plugin that begins runs, with what the tenant grants, set and stored. commit
// writes what the call stores, all of it or nothing: a plugin that has read an event and noted that
// would lose it if the host died before the run of the event is written.
func (p *plugins) CallTrigger(ctx context.Context, c schedule.TriggerCall) (
	t contract.Triggered, commit func(context.Context) error, err error,
) {
	m, about, err := p.trigger(c.Plugin)
	if err != nil {
		return t, nil, err
	}
	kv := &stagedKV{kv: p.store.KV(c.Tenant, kvOwner(m.Owner()))}
	answer, err := m.Invoke(ctx, plugin.Invocation{
		CallRequest: plugin.CallRequest{
			Tenant: c.Tenant, Grant: p.grants.of(c.Tenant), Settings: p.settings.of(c.Tenant, m),
			Services:   plugin.Services{KV: kv, Secrets: relaySecrets{p.store, c.Tenant}},
			SecretMark: engine.NewSecretMark(),
		},
		Component: about, ID: c.ID, Params: c.Params, Arguments: c.Arguments,
	})
	if err == nil {
		t, err = about.ReadTriggered(answer.Outputs)
	}
	return t, kv.commit, err
}

// stagedKV is the data of a plugin during a call, whose changes wait for commit.
type stagedKV struct {
	kv      *store.KV
	mu      sync.Mutex
	changed map[string]*string // nil for a key that is removed
	quota   int64
}

func (s *stagedKV) Get(ctx context.Context, key string) (string, bool, error) {
	s.mu.Lock()
	value, changed := s.changed[key]
	s.mu.Unlock()
	if changed {
		return *cmp.Or(value, new(string)), value != nil, nil
	}
	return pluginKV{s.kv}.Get(ctx, key)
}

// Set stages a value. What is stored already counts when the changes are written.
func (s *stagedKV) Set(_ context.Context, key string, value *string, quota int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(s.changed)
	if next == nil {
		next = map[string]*string{}
	}
	next[key] = value
	var size int64
	for key, value := range next {
		if value != nil {
			size += int64(len(key) + len(*value))
		}
	}
	if size > quota {
		return plugin.ErrKVFull
	}
	s.changed, s.quota = next, quota
	return nil
}

func (s *stagedKV) List(ctx context.Context, prefix string) ([]string, error) {
	keys, err := pluginKV{s.kv}.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	keys = slices.DeleteFunc(keys, func(key string) bool {
		_, changed := s.changed[key]
		return changed
	})
	for key, value := range s.changed {
		if value != nil && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// commit writes the changes, all or none.
func (s *stagedKV) commit(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.changed) == 0 {
		return nil
	}
	err := s.kv.SetAll(ctx, s.changed, s.quota)
	if errors.Is(err, store.ErrQuota) {
		return plugin.ErrKVFull
	}
	return err
}
