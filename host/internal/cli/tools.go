package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/tools"
	"github.com/easel-canvas/easel/host/internal/tools/native"
	"github.com/easel-canvas/easel/plugins/contract"
)

const browserUsage = "`PATH` of a Chromium that renders pages for Browser nodes; without one their scripts do not run"

const sqliteUsage = "`DIR` of SQLite files that ExeSQL may read, apart from the data directory; none when left out"

const sqlSocketsUsage = "allow ExeSQL to use Unix sockets of database servers"

const noToolsUsage = "disable the built-in tools, such as web searches; nodes that need one fail when reached"

// tools returns the built-in tools. They are loaded on first use and closed when the program ends.
func (a *app) tools(private bool) *tools.Set {
	h := &toolHost{app: a}
	a.atEnd(h.close)
	cfg := tools.Config{AllowPrivate: private, Host: h.open}
	if dir, err := (&pluginPlace{}).folder(a); err == nil { // without a folder all tools are enabled
		cfg.Switches = tools.ReadSwitches(dir)
	}
	return tools.New(cfg)
}

// toolHost makes the host of the built-in tools when the first one is loaded.
type toolHost struct {
	app  *app
	mu   sync.Mutex
	made *plugin.Host
}

func (h *toolHost) open(ctx context.Context) (*plugin.Host, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.made != nil {
		return h.made, nil
	}
	log := slog.New(slog.NewTextHandler(h.app.err, &slog.HandlerOptions{Level: slog.LevelError}))
	made, err := plugin.New(ctx, plugin.Config{CacheDir: toolCache(), Log: log})
	h.made = made
	return made, err
}

func (h *toolHost) close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.made == nil {
		return nil
	}
	return h.made.Close(context.Background())
}

// warm compiles the built-in tools concurrently with the run. They work without, only slower.
func warm(a *app, set *tools.Set) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := set.Warm(context.Background()); err != nil {
			fmt.Fprintln(a.err, "built-in tools are not compiled; calls take longer:", err)
		}
	}()
	a.ends = slices.Insert(a.ends, 0, func() error { <-done; return nil }) // before the host closes
}

// callsTools reports whether a canvas has a node, or an agent a tool, that a built-in tool serves.
func callsTools(registry *engine.Registry, canvas engine.Value) bool {
	for _, node := range canvas.Get("components").Fields() {
		if isTool(registry, node.Get("obj")) {
			return true
		}
	}
	return false
}

func isTool(registry *engine.Registry, obj engine.Value) bool {
	spec, err := registry.Lookup(obj.Get("component_name").Str())
	if err != nil {
		return false // reported by loading
	}
	acts, ok := spec.New().(interface{ Needs() string })
	if ok && acts.Needs() == "Tools" && !native.Serves(spec.Name) {
		return true
	}
	below := obj.Get("params").Get("tools").Slice()
	return slices.ContainsFunc(below, func(tool engine.Value) bool { return isTool(registry, tool) })
}

// toolCache returns the folder of compiled code, which saves the compiler of each command; "" if
// this machine has no cache directory.
func toolCache() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir = filepath.Join(dir, "easel", "tools")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return dir
}

// builtinTool is a built-in tool in the output of `easel plugin list --json`.
type builtinTool struct {
	Name      string               `json:"name"`
	Version   string               `json:"version"`
	Builtin   bool                 `json:"builtin"`
	Enabled   bool                 `json:"enabled"`
	Component string               `json:"component"`
	Approved  contract.Permissions `json:"approved"`
}

// builtin lists the built-in tools and whether they are enabled.
func (p *pluginPlace) builtin(a *app) ([]builtinTool, error) {
	dir, err := p.folder(a)
	if err != nil {
		return nil, err
	}
	list, err := tools.List(tools.ReadSwitches(dir))
	if err != nil {
		return nil, err
	}
	out := make([]builtinTool, len(list))
	for i, t := range list {
		out[i] = builtinTool{t.Manifest.Name, t.Manifest.Version, true, t.On, t.Component, t.Manifest.Permissions}
	}
	return out, nil
}

// switchTool enables or disables a built-in tool.
func (p *pluginPlace) switchTool(a *app, name string, on bool) error {
	dir, err := p.folder(a)
	if err != nil {
		return err
	}
	if err := tools.ReadSwitches(dir).Set(name, on); err != nil {
		return err
	}
	if p.json {
		return a.printJSON(map[string]any{"name": name, "builtin": true, "enabled": on})
	}
	_, err = fmt.Fprintf(a.out, "%s is %s\n", name, onOff(on))
	return err
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
