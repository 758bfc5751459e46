package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/plugins/contract"
)

// The verbs of `easel plugin` are separate commands, each in a file plugin_VERB.go or with its
// siblings.
var pluginCommand = command{
	name: "plugin", args: "VERB [ARGUMENTS]",
	summary: "writes, tests and installs plugins",
	help:    pluginHelp(),
	setup:   needsVerb("plugin"),
	verbs:   pluginVerbs,
}

func pluginVerbs() []command {
	return []command{
		pluginNew, pluginAdapt, pluginDev, pluginRun, pluginTest, pluginPack, pluginInspect, pluginSearch,
		pluginInstall, pluginOutdated, pluginUpdate, pluginPublish, pluginList, pluginSet, pluginSettingsCommand,
		pluginEnable, pluginDisable, pluginRollback, pluginRemove, pluginSign, pluginVerify, pluginTrust, pluginImport,
	}
}

func pluginHelp() string {
	return verbHelp("plugin", pluginVerbs()) + ` Installed plugins live in --plugins DIR, EASEL_PLUGINS or the user's
configuration folder; a canvas names them plugin:NAME@MAJOR.
A FILE is a packed .wasm file, a .js file, or a folder with a plugin's source, which is built first.`
}

// pluginPlace is the location of installed plugins, from flags.
type pluginPlace struct {
	dir  string
	json bool
	logs *slog.Logger // minimum level of plugins' log lines; nil means errors only
	// howToSet returns what sets a setting or secret for this command; nil means on a host.
	howToSet func(plugin string, kind plugin.SettingKind, name string) string
}

func (p *pluginPlace) flags(fs *flag.FlagSet) {
	fs.StringVar(&p.dir, "plugins", "", "`DIR` of installed plugins; EASEL_PLUGINS or the user's configuration folder")
	fs.BoolVar(&p.json, "json", false, "print JSON")
}

// flag returns the flag that names the folder in a command for the same plugins, "" without one.
func (p *pluginPlace) flag() string {
	if p.dir == "" {
		return ""
	}
	return " --plugins " + quoted(p.dir)
}

// folder returns the folder of installed plugins.
func (p *pluginPlace) folder(a *app) (string, error) {
	if p.dir != "" {
		return p.dir, nil
	}
	return runFolder(a)
}

// runFolder returns the folder of the plugins of `easel run`.
func runFolder(a *app) (string, error) {
	if dir := a.getenv("EASEL_PLUGINS"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("plugins: %w; use --plugins DIR", err)
	}
	return filepath.Join(dir, "easel", "plugins"), nil
}

func (p *pluginPlace) trusted(a *app) (map[string][]string, error) {
	dir, err := p.folder(a)
	if err != nil {
		return nil, err
	}
	return plugin.ReadTrust(dir)
}

// host starts a host with the folder's cache of compiled code and its trusted keys.
func (p *pluginPlace) host(ctx context.Context, a *app, local plugin.Check) (*plugin.Host, error) {
	dir, err := p.folder(a)
	if err != nil {
		return nil, err
	}
	keys, err := p.trusted(a)
	if err != nil {
		return nil, err
	}
	// Only warnings: the command itself reports the rest.
	log := slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelError}))
	return plugin.New(ctx, plugin.Config{
		CacheDir: filepath.Join(dir, "cache"), Compiler: worker(pluginCompiler),
		Trust: plugin.Trust{Keys: keys, Local: local}, Log: log, PluginLog: p.logs,
		BuiltIn: node.BuiltIn(a.registry), HowToSet: p.howToSet,
	})
}

// pluginLog writes what plugins log, with level and call; control characters are escaped.
func (a *app) pluginLog() *slog.Logger {
	const trace = slog.LevelDebug - 4
	return slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{
		Level: trace,
		ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
			switch attr.Key {
			case slog.TimeKey:
				return slog.Attr{}
			case slog.LevelKey:
				level, _ := attr.Value.Any().(slog.Level)
				if level == trace {
					return slog.String(slog.LevelKey, "trace")
				}
				return slog.String(slog.LevelKey, strings.ToLower(level.String()))
			}
			return attr
		},
	}))
}

// with calls f with a host and closes it.
func (p *pluginPlace) with(ctx context.Context, a *app, f func(*plugin.Host) error) error {
	h, err := p.host(ctx, a, plugin.Off)
	if err != nil {
		return err
	}
	return errors.Join(f(h), h.Close(context.WithoutCancel(ctx)))
}

// catalog calls f with the installed plugins.
func (p *pluginPlace) catalog(ctx context.Context, a *app, f func(*plugin.Catalog) error) error {
	h, err := p.host(ctx, a, plugin.Warn)
	if err != nil {
		return err
	}
	dir, err := p.folder(a)
	if err == nil {
		var c *plugin.Catalog
		if c, err = plugin.OpenCatalog(ctx, h, dir, contract.Everything()); err == nil {
			before := c.Mark()
			if err = f(c); err == nil && c.Mark() != before {
				err = p.acknowledged(ctx, a, c)
			}
		}
	}
	return errors.Join(err, h.Close(context.WithoutCancel(ctx)))
}

// ackTime bounds how long a command waits for running hosts to load its change.
const ackTime = 5 * time.Second

// acknowledged waits until running hosts have loaded a change, and reports that.
func (p *pluginPlace) acknowledged(ctx context.Context, a *app, c *plugin.Catalog) error {
	ctx, done := context.WithTimeout(ctx, ackTime)
	defer done()
	running, behind, err := c.Await(ctx)
	switch {
	case err != nil:
		return err
	case behind > 0:
		fmt.Fprintf(a.err, "%d of %d running hosts have not loaded the change in %s; their logs have the reason\n",
			behind, running, ackTime)
	case running > 0 && !p.json:
		fmt.Fprintln(a.out, "The running host has loaded the change.")
	}
	return nil
}

// source reads a packed file, or builds and packs a folder.
func source(ctx context.Context, h *plugin.Host, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &usageError{"", err}
	}
	var wasm []byte
	switch {
	case info.IsDir():
		wasm, err = pluginkit.Build(ctx, path)
	case filepath.Ext(path) == ".js":
		if wasm, err = pluginkit.BuildJS(path); err == nil {
			return pluginkit.Pack(ctx, h, wasm, filepath.Dir(path))
		}
	default:
		return os.ReadFile(path)
	}
	if err != nil {
		return nil, err
	}
	return pluginkit.Pack(ctx, h, wasm, path)
}

// one returns the only argument.
func one(verb, what string, args []string) (string, error) {
	if len(args) != 1 {
		return "", misuse("plugin "+verb, "expected one argument, %s", what)
	}
	return args[0], nil
}

// printJSON prints a value as indented JSON.
func (a *app) printJSON(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, string(b))
	return err
}
