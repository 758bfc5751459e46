package cli

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

const settingsPlaces = `
With --url, --addr or EASEL_URL the settings are those of the caller's tenant on that host, which must be running;
otherwise they are those of ` + "`easel run`" + ` on this machine, whose secrets come from EASEL_SECRET_NAME. The folder
of a host has no settings.`

var pluginSet = command{
	name: "plugin set", args: "NAME KEY=VALUE... [FLAGS]",
	summary: "sets settings and secrets of an installed plugin",
	help: `
KEY= without a value removes a setting or secret. @VARIABLE as a value is read from the environment, which keeps
secrets out of the command line. Values of secrets are stored encrypted and never shown.
` + settingsPlaces,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		s := &settingsPlace{}
		s.flags(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) < 2 {
				return misuse("plugin set", "expected NAME and at least one KEY=VALUE")
			}
			return s.with(ctx, a, args[0], func(p pluginSettings) error {
				change, secrets, err := s.change(a, p, args[1:])
				if err != nil {
					return err
				}
				if err := p.set(ctx, change, secrets); err != nil {
					return err
				}
				return s.show(ctx, a, p)
			})
		}
	},
}

var pluginSettingsCommand = command{
	name: "plugin settings", args: "NAME [FLAGS]",
	summary: "lists the settings and secrets of an installed plugin",
	help:    settingsPlaces,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		s := &settingsPlace{}
		s.flags(fs)
		return func(ctx context.Context, a *app, args []string) error {
			name, err := one("settings", "NAME", args)
			if err != nil {
				return err
			}
			return s.with(ctx, a, name, func(p pluginSettings) error { return s.show(ctx, a, p) })
		}
	},
}

// settingsPlace is the location of plugin settings: a host, or the folder of plugins.
type settingsPlace struct {
	pluginPlace
	host remote
}

// pluginSettings are the settings of one plugin at a place.
type pluginSettings interface {
	// get returns {schema, values, missing, secrets: [{name, set, hosts, reason}]}.
	get(ctx context.Context) (engine.Value, error)
	set(ctx context.Context, settings, secrets engine.Value) error
}

func (s *settingsPlace) flags(fs *flag.FlagSet) {
	s.host.add(fs)
	fs.StringVar(&s.pluginPlace.dir, "plugins", "",
		"`DIR` of installed plugins; EASEL_PLUGINS or the user's configuration folder")
}

// with runs f with the settings of a plugin.
func (s *settingsPlace) with(ctx context.Context, a *app, name string, f func(pluginSettings) error) error {
	if cmp.Or(s.host.url, s.host.addr, a.getenv("EASEL_URL")) != "" {
		if err := s.host.open(a); err != nil {
			return err
		}
		return f(&hostSettings{&s.host, "plugins/" + url.PathEscape(name) + "/settings"})
	}
	dir, err := s.runFolder(a)
	if err != nil {
		return err
	}
	return s.catalog(ctx, a, func(c *plugin.Catalog) error {
		m, err := c.Get(name)
		if err != nil {
			return err
		}
		return f(&folderSettings{a, dir, m})
	})
}

// runFolder returns the folder of plugins if `easel run` reads its settings there. In the folder of
// a host only `easel run` would read them, or no command.
func (s *settingsPlace) runFolder(a *app) (string, error) {
	dir, err := s.folder(a)
	if err != nil {
		return "", err
	}
	if plugin.OfHost(dir) {
		return "", misuse("plugin set", "%s is the folder of a host, which stores the settings of its tenants in its "+
			"records: set them while it runs, with --url URL and its API key", dir)
	}
	ofRun, err := runFolder(a)
	if err == nil && !samePath(dir, ofRun) {
		return "", misuse("plugin set", "--plugins %s: `easel run` reads settings in %s, and a host in its records: "+
			"leave out --plugins, or name the host with --url URL", dir, ofRun)
	}
	return dir, nil
}

func samePath(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y) || filepath.Clean(a) == filepath.Clean(b)
}

// howToSetIn returns what sets a setting or secret of `easel run`, whose plugins are in dir.
func howToSetIn(dir string) func(name string, kind plugin.SettingKind, key string) string {
	return func(name string, kind plugin.SettingKind, key string) string {
		switch {
		case kind == plugin.Secret:
			return "set EASEL_SECRET_" + key + " in the environment"
		case plugin.OfHost(dir):
			return dir + " is the folder of a host, where `easel run` has no settings: install the plugin in " +
				"another folder, and name that in EASEL_PLUGINS"
		}
		return fmt.Sprintf("set it with `easel plugin set %s %s=VALUE`", name, key)
	}
}

// change reads KEY=VALUE as settings and secrets of a plugin.
func (s *settingsPlace) change(a *app, p pluginSettings, pairs []string) (settings, secrets engine.Value, err error) {
	known, err := p.get(context.Background())
	if err != nil {
		return settings, secrets, err
	}
	settings, secrets = engine.Object(), engine.Object()
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return settings, secrets, misuse("plugin set", "%q: expected KEY=VALUE", name)
		}
		if variable, from := strings.CutPrefix(text, "@"); from {
			if text = a.getenv(variable); text == "" {
				return settings, secrets, misuse("plugin set", "%s: the environment has no %s", name, variable)
			}
		}
		switch {
		case slices.ContainsFunc(known.Get("secrets").Slice(),
			func(v engine.Value) bool { return v.Get("name").Str() == name }):
			secrets = secrets.With(name, engine.String(text))
		case text == "":
			settings = settings.With(name, engine.Null)
		default:
			settings = settings.With(name, settingValue(known.Get("schema"), name, text))
		}
	}
	return settings, secrets, nil
}

// settingValue reads the text of a setting: JSON if its schema requires a type other than string.
func settingValue(schema engine.Value, name, text string) engine.Value {
	kind := schema.Get("properties").Get(name).Get("type").Str()
	if v, err := engine.ParseJSONText(text); err == nil && kind != "string" && kind != "" {
		return v
	}
	return engine.String(text)
}

// show lists settings and secrets.
func (s *settingsPlace) show(ctx context.Context, a *app, p pluginSettings) error {
	all, err := p.get(ctx)
	if err != nil {
		return err
	}
	if s.host.json {
		return a.printJSON(all)
	}
	var rows [][]string
	for name, schema := range all.Get("schema").Get("properties").Fields() {
		v, note := all.Get("values").Get(name), schema.Get("description").Str()
		if v.IsNull() && !schema.Get("default").IsNull() {
			v, note = schema.Get("default"), "default; "+note
		}
		if slices.ContainsFunc(all.Get("missing").Slice(), func(m engine.Value) bool { return m.Str() == name }) {
			note = "missing; " + note
		}
		rows = append(rows, []string{name, "setting", contract.SettingText(v), strings.TrimSuffix(note, "; ")})
	}
	for _, secret := range all.Get("secrets").Elements() {
		state := "not set"
		if secret.Get("set").True() {
			state = "set"
		}
		rows = append(rows, []string{secret.Get("name").Str(), "secret", state, secret.Get("reason").Str()})
	}
	return printTable(a.out, []string{"NAME", "KIND", "VALUE", "NOTE"}, rows)
}

// hostSettings reads and writes the settings of the caller's tenant on a host.
type hostSettings struct {
	host *remote
	path string
}

func (h *hostSettings) get(ctx context.Context) (engine.Value, error) {
	return h.host.ask(ctx, "GET", h.path, engine.Null)
}

func (h *hostSettings) set(ctx context.Context, settings, secrets engine.Value) error {
	_, err := h.host.ask(ctx, "PATCH", h.path, engine.Object("settings", settings, "secrets", secrets))
	return err
}

// folderSettings reads and writes the settings of `easel run`, in the folder of plugins.
type folderSettings struct {
	a      *app
	dir    string
	module *plugin.Module
}

func (f *folderSettings) get(context.Context) (engine.Value, error) {
	all, err := plugin.ReadSettings(f.dir)
	if err != nil {
		return engine.Null, err
	}
	about, set := f.module.Manifest(), all.Get(f.module.Owner())
	if set.IsNull() {
		set = engine.Object()
	}
	secrets := engine.List()
	for _, name := range slices.Sorted(maps.Keys(about.Permissions.Secrets)) {
		p := about.Permissions.Secrets[name]
		secrets = secrets.Append(engine.Object("name", name, "set", f.a.hasSecret(name),
			"hosts", engine.Strings(p.Hosts...), "reason", p.Reason))
	}
	return engine.Object("schema", about.Settings.Value(), "values", set,
		"missing", engine.Strings(about.MissingSettings(set)...), "secrets", secrets), nil
}

func (f *folderSettings) set(ctx context.Context, settings, secrets engine.Value) error {
	for name := range secrets.Fields() {
		return fmt.Errorf("secret %s is read from the environment here: set EASEL_SECRET_%s, or set the secret on a "+
			"host with --url", name, name)
	}
	given := engine.Object()
	for name, v := range settings.Fields() {
		if !v.IsNull() {
			given = given.With(name, v)
		}
	}
	if err := f.module.Manifest().CheckSettings(given); err != nil {
		return err
	}
	return plugin.ChangeSettings(ctx, f.dir, f.module.Owner(), settings)
}

// hasSecret reports whether the environment has a secret for `easel run`.
func (a *app) hasSecret(name string) bool { return a.getenv("EASEL_SECRET_"+name) != "" }
