package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/plugins/contract"
)

// installed resolves components named plugin:… to installed plugins. They are opened on first use
// and stay open until the program ends.
func (a *app) installed() func(name string) (engine.Spec, bool) {
	open := sync.OnceValue(func() *node.Adapter {
		find, settings, err := a.openInstalled()
		if err != nil {
			find = func(string) (*plugin.Module, error) { return nil, err }
		}
		var keeps shelf
		of := func(_ string, m *plugin.Module) engine.Value { return settings.Get(m.Owner()) }
		return node.New(node.Config{
			Find: find, KV: keeps.kv, Settings: of,
			Lacks: func(tenant string, m *plugin.Module) []engine.Diagnostic {
				return node.Lacks(m, of(tenant, m), a.hasSecret)
			},
		})
	})
	return func(name string) (engine.Spec, bool) { return open().LookupFor("")(name) }
}

func (a *app) openInstalled() (find func(string) (*plugin.Module, error), settings engine.Value, err error) {
	p := &pluginPlace{}
	dir, err := p.folder(a)
	if err != nil {
		return nil, settings, err
	}
	p.howToSet = howToSetIn(dir)
	if settings, err = plugin.ReadSettings(dir); err != nil {
		return nil, settings, err
	}
	if _, err := os.Stat(filepath.Join(dir, "plugins.json")); errors.Is(err, fs.ErrNotExist) {
		return nil, settings, &contract.Error{
			Code:    contract.NotFound,
			Message: "not installed; install it with `easel plugin install FILE`",
		}
	}
	ctx := context.Background()
	h, err := p.host(ctx, a, plugin.Warn)
	if err != nil {
		return nil, settings, err
	}
	c, err := plugin.OpenCatalog(ctx, h, dir, contract.Everything())
	if err != nil {
		return nil, settings, errors.Join(err, h.Close(ctx))
	}
	return c.Get, settings, nil
}

// shelf holds keys and values of plugins in memory, one store per plugin.
type shelf struct {
	mu  sync.Mutex
	kvs map[string]*plugin.MemoryKV
}

func (s *shelf) kv(_, name string) plugin.KV {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kvs == nil {
		s.kvs = map[string]*plugin.MemoryKV{}
	}
	if s.kvs[name] == nil {
		s.kvs[name] = &plugin.MemoryKV{}
	}
	return s.kvs[name]
}
