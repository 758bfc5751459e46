package cli

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/plugin/node"
	"github.com/easel-canvas/easel/plugins/contract"
)

var pluginRun = command{
	name: "plugin run", args: "FILE [--arg NAME=VALUE]... [FLAGS]",
	summary: "runs a plugin once, as the only node of a canvas",
	help: `
A VALUE has the type that the plugin declares for NAME: JSON, or text. The text of a streaming plugin is printed as
it arrives; otherwise its outputs are printed as JSON. It may use the model, its keys and its variables as its manifest
requests, and web services only on the hosts of --allow-http.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &pluginRunner{}
		r.flags(fs)
		return func(ctx context.Context, a *app, args []string) error {
			file, err := one("run", "FILE", args)
			if err != nil {
				return err
			}
			r.logs, r.howToSet = a.pluginLog(), howToSetByFlag
			return r.with(ctx, a, func(h *plugin.Host) error {
				wasm, err := source(ctx, h, file)
				if err != nil {
					return err
				}
				m, err := h.Load(ctx, wasm, plugin.LoadOptions{Granted: r.granted()})
				if err != nil {
					return err
				}
				values, err := r.arguments(m)
				if err != nil {
					return err
				}
				return r.call(ctx, a, m, values)
			})
		}
	},
}

// pluginRunner is the run verb with its flags, which dev shares.
type pluginRunner struct {
	pluginPlace
	world
	args    texts
	hosts   texts
	secrets texts
	set     texts
	files   texts
	all     bool
	// component is the component of a file with several.
	component string
}

func (r *pluginRunner) flags(fs *flag.FlagSet) {
	r.pluginPlace.flags(fs)
	fs.StringVar(&r.world.model, "model", "",
		"`ID` of the model for llm.chat: offline, scripted:FILE, or MODEL@PROVIDER")
	fs.Var(&r.args, "arg", "`NAME=VALUE` of an argument or a param; repeatable")
	fs.Var(&r.hosts, "allow-http", "`HOST` that the plugin may reach, if its manifest requests it; repeatable")
	fs.Var(&r.secrets, "secret", "`NAME=VALUE` of a secret, or NAME=@VARIABLE of the environment; repeatable")
	fs.Var(&r.set, "setting", "`NAME=VALUE` of a setting of the plugin; repeatable")
	fs.Var(&r.files, "file", "`PATH` of a file that the plugin may read, with the path as its id; repeatable")
	fs.StringVar(&r.world.save, "save", "", "`DIR` for files that the plugin stores; none are stored when left out")
	fs.BoolVar(&r.world.private, "allow-private", false, "allow private and local addresses")
	fs.StringVar(&r.component, "component", "", "`NAME` of the component, for a file with several")
	fs.BoolVar(&r.all, "allow-all", false, "grant all requested permissions")
}

// granted returns the permissions that the flags allow.
func (r *pluginRunner) granted() contract.Permissions {
	all := contract.Everything()
	if r.all {
		return all
	}
	all.HTTP.Hosts, all.HTTP.Private = r.hosts, r.world.private
	all.Secrets = map[string]contract.SecretPermission{"*": {Hosts: r.hosts, Plain: true}}
	return all
}

// arguments parses the pairs of --arg. A nil module declares nothing.
func (r *pluginRunner) arguments(m *plugin.Module) (engine.Value, error) {
	if m == nil {
		return r.values(r.args)
	}
	about, err := m.Manifest().ByName(r.component)
	if err != nil {
		return engine.Null, misuse("plugin run", "--component: %w", err)
	}
	return r.values(r.args, about.Arguments, about.Params)
}

// values parses the pairs of --arg or --setting, whose types the first schema that has them
// declares.
func (r *pluginRunner) values(pairs []string, schemas ...*contract.Schema) (engine.Value, error) {
	b := engine.NewObject(len(pairs))
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return engine.Null, misuse("plugin run", "%s: expected NAME=VALUE", pair)
		}
		var types []string
		for _, s := range schemas {
			if p, declared := s.Property(name); declared && types == nil {
				types = p.Types()
			}
		}
		b.Set(name, typedArgument(text, types))
	}
	return b.Value(), nil
}

// typedArgument returns a text of the command line as a value of one of the types of a schema, any
// without types: JSON, unless a string is declared and the JSON has no other declared type.
func typedArgument(text string, types []string) engine.Value {
	v, err := engine.ParseJSONText(text)
	if err != nil {
		return engine.String(text)
	}
	kinds := map[engine.Kind][]string{
		engine.KindNull: {"null"}, engine.KindBool: {"boolean"}, engine.KindNumber: {"number", "integer"},
		engine.KindList: {"array"}, engine.KindObject: {"object"},
	}
	isDeclared := func(name string) bool { return slices.Contains(types, name) }
	if isDeclared("string") && !slices.ContainsFunc(kinds[v.Kind()], isDeclared) {
		return engine.String(text)
	}
	return v
}

// howToSetByFlag returns the flag that sets a setting or secret for one run.
func howToSetByFlag(_ string, kind plugin.SettingKind, name string) string {
	return fmt.Sprintf("set it with --%s %s=VALUE", kind, name)
}

// vault looks up secrets in --secret, then in the environment.
type vault struct {
	given map[string]string
	rest  engine.Secrets
}

// Secret returns the value of a secret.
func (v vault) Secret(ctx context.Context, name string) (engine.Secret, error) {
	if s, ok := v.given[name]; ok {
		return engine.Secret{Value: s}, nil
	}
	return v.rest.Secret(ctx, name)
}

func (r *pluginRunner) vault(a *app, rest engine.Secrets) (vault, error) {
	v := vault{map[string]string{}, rest}
	for _, pair := range r.secrets {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return v, misuse("plugin run", "--secret: expected NAME=VALUE")
		}
		if variable, from := strings.CutPrefix(text, "@"); from {
			if text = a.getenv(variable); text == "" {
				return v, misuse("plugin run", "--secret %s: environment variable %s is not set", name, variable)
			}
		}
		v.given[name] = text
	}
	return v, nil
}

// call runs the plugin as a node and prints its result.
func (r *pluginRunner) call(ctx context.Context, a *app, m *plugin.Module, values engine.Value) error {
	about, err := m.Manifest().ByName(r.component)
	if err != nil {
		return misuse("plugin run", "--component: %w", err)
	}
	options, err := r.options(a)
	if err != nil {
		return err
	}
	if options.Ports.Secrets, err = r.vault(a, options.Ports.Secrets); err != nil {
		return err
	}
	for _, path := range r.files {
		if _, err := r.uploads.Add(path); err != nil {
			return &usageError{"plugin run", err}
		}
	}
	settings, err := r.values(r.set, m.Manifest().Settings)
	if err != nil {
		return err
	}
	if err := m.Manifest().CheckSettings(settings); err != nil {
		return err
	}
	var keeps shelf
	reg := a.registry.Clone()
	reg.Plugin = node.New(node.Config{
		KV: keeps.kv, Find: func(string) (*plugin.Module, error) { return m, nil }, Try: true,
		Settings: func(string, *plugin.Module) engine.Value { return settings },
	}).Lookup
	say := ""
	if about.Streams {
		say = "{" + pluginNode + "@text}"
	}
	canvas, err := engine.Load(reg, oneNode(about, values, say).AppendJSON(nil))
	if err != nil {
		return fmt.Errorf("%w: %w", errLoad, err)
	}
	said, outputs := false, engine.Null
	for e, err := range canvas.Run(ctx, canvas.State(), engine.Input{}, options) {
		if err != nil {
			printDenied(a, m)
			return err
		}
		data := e.Data()
		switch {
		case e.Type == engine.EventMessage && !r.json:
			said = true
			fmt.Fprint(a.out, data.Get("content").Str())
		case e.Type == engine.EventProgress && !r.json:
			fmt.Fprintf(a.err, "%v %s\n", data.Get("pct"), data.Get("note").Text())
		case e.Type == engine.EventNodeFinished && e.Node == pluginNode:
			outputs = data.Get("outputs").Without("_created_time").Without("_elapsed_time")
		}
	}
	if said {
		_, err = fmt.Fprintln(a.out)
		return err
	}
	_, err = fmt.Fprintln(a.out, outputs.JSON())
	return err
}

// printDenied names the requested permissions that the flags do not allow, which may be the reason
// of a failure.
func printDenied(a *app, m *plugin.Module) {
	if denied := m.Manifest().Permissions.Beyond(m.Granted()); len(denied) > 0 {
		fmt.Fprintf(a.err, "requested permissions that the flags do not allow: %s; "+
			"see --allow-http, --allow-private and --allow-all\n", strings.Join(denied, ", "))
	}
}

// pluginNode is the id of the only node.
const pluginNode = "Plugin:0"

// oneNode returns a canvas with the plugin, followed by a Message if the result is to be an answer.
func oneNode(m *contract.Manifest, values engine.Value, say string) engine.Value {
	node := func(kind string, params engine.Value, down ...string) engine.Value {
		return engine.Object("obj", engine.Object("component_name", kind, "params", params), "downstream", down)
	}
	components := engine.NewObject(3)
	components.Set("begin", node("Begin", engine.Object(), pluginNode))
	name := engine.PluginPrefix + m.NodeName() + "@" + m.Major()
	if say == "" {
		components.Set(pluginNode, node(name, values))
	} else {
		components.Set(pluginNode, node(name, values, "Message:0"))
		components.Set("Message:0", node("Message", engine.Object("content", []string{say})))
	}
	globals := engine.Object("sys.query", "", "sys.user_id", "local", "sys.conversation_turns", 0, "sys.files",
		engine.List())
	return engine.Object("components", components.Value(), "globals", globals)
}
