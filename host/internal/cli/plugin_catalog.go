package cli

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/tools"
	"github.com/easel-canvas/easel/plugins/contract"
)

// verb returns a verb with the plugin folder's flags and one name or file as argument.
func verb(name, what, summary, help string,
	run func(ctx context.Context, a *app, p *pluginPlace, arg string) error,
) command {
	return command{
		name: "plugin " + name, args: what + " [FLAGS]", summary: summary, help: help,
		setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
			p := &pluginPlace{}
			p.flags(fs)
			return func(ctx context.Context, a *app, args []string) error {
				arg, err := one(name, what, args)
				if err != nil {
					return err
				}
				return run(ctx, a, p, arg)
			}
		},
	}
}

// change returns a verb that changes one installed plugin.
func change(name, summary, help string,
	f func(ctx context.Context, c *plugin.Catalog, name string) (plugin.Entry, error),
) command {
	return verb(name, "NAME", summary, help, func(ctx context.Context, a *app, p *pluginPlace, arg string) error {
		return p.catalog(ctx, a, func(c *plugin.Catalog) error {
			e, err := f(ctx, c, arg)
			if err != nil {
				return err
			}
			return a.entry(p, e)
		})
	})
}

var pluginInstall = command{
	name: "plugin install", args: "FILE|ADDRESS|NAME [FLAGS]", summary: "installs a plugin, or a new version of one",
	help: `
An ADDRESS is https://HOST/FILE.wasm or oci://HOST/REPOSITORY:VERSION; a NAME, or NAME@VERSION, is looked up in the
index of --index or EASEL_PLUGIN_INDEX. Downloads must be signed by a trusted key, see
` + "`easel plugin trust`" + `.

A plugin that requests permissions waits for approval: review them, then run ` + "`easel plugin enable NAME`" + `, or
install it with --yes, or with --allow for a part of them. The previous version stays active until then, and is kept.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pluginPlace{}
		p.flags(fs)
		yes := fs.Bool("yes", false, "approve all requested permissions")
		allow := allowFlag(fs)
		var from sources
		from.flags(fs)
		remote := fs.Bool("remote", false, "require a signature of a trusted key")
		return func(ctx context.Context, a *app, args []string) error {
			file, err := one("install", "FILE", args)
			if err != nil {
				return err
			}
			limit, err := allowed("install", fs, *allow)
			if err != nil {
				return err
			}
			if *yes && limit == nil {
				all := contract.Everything()
				limit = &all
			}
			if from.remote(a, file) {
				return p.installFrom(ctx, a, &from, file, limit)
			}
			return p.install(ctx, a, file, limit, *remote)
		}
	},
}

// install installs a file and approves the permissions within limit, unless that is nil.
func (p *pluginPlace) install(ctx context.Context, a *app, file string, limit *contract.Permissions,
	remote bool,
) error {
	var wasm []byte
	if err := p.with(ctx, a, func(h *plugin.Host) (err error) {
		wasm, err = source(ctx, h, file)
		return err
	}); err != nil {
		return err
	}
	from := plugin.Local
	if remote {
		from = plugin.Remote
	}
	return p.catalog(ctx, a, func(c *plugin.Catalog) error {
		var e plugin.Entry
		var err error
		if limit == nil {
			e, err = c.Install(ctx, wasm, from)
		} else {
			e, err = c.InstallApproved(ctx, wasm, from, *limit)
		}
		if err != nil {
			return err
		}
		return a.entry(p, e)
	})
}

// entry prints the state of a plugin.
func (a *app) entry(p *pluginPlace, e plugin.Entry) error {
	if p.json {
		return a.printJSON(e)
	}
	switch {
	case e.Waiting != nil:
		a.waiting(p, e)
		if e.Active != nil {
			fmt.Fprintf(a.out, "Version %s stays active.\n", e.Active.Version)
		}
	case e.Active == nil || !e.Enabled:
		fmt.Fprintf(a.out, "%s is off\n", e.Name)
	default:
		names := strings.Join(componentsOf(e, e.Active), ", ")
		fmt.Fprintf(a.out, "%s %s is enabled: %s\n", e.Name, e.Active.Version, names)
		if len(e.Active.Asks) > 0 {
			fmt.Fprintf(a.out, "Not approved:\n  %s\nApprove the rest with `easel plugin enable %s --allow all%s`.\n",
				strings.Join(e.Active.Asks, "\n  "), e.Name, p.flag())
		}
	}
	return nil
}

// waiting prints the permissions that an operator has to approve.
func (a *app) waiting(p *pluginPlace, e plugin.Entry) {
	w := e.Waiting
	fmt.Fprintf(a.out, "%s %s waits for approval.\n", e.Name, w.Version)
	if w.Replaces != nil {
		fmt.Fprintf(a.out, "It is by another key: this file is %s, the version before is %s.\n"+
			"Approvals and data of that version do not carry over.\n", plugin.SignedBy(w.Signer),
			plugin.SignedBy(*w.Replaces))
	}
	if len(w.Asks) > 0 {
		fmt.Fprintf(a.out, "It asks for:\n  %s\n", strings.Join(w.Asks, "\n  "))
	}
	fmt.Fprintf(a.out, "Approve all with `easel plugin enable %s --file %.12s%s`, or some with --allow.\n",
		e.Name, w.Digest, p.flag())
}

// waitingNote describes the waiting version in a list.
func (p *pluginPlace) waitingNote(e plugin.Entry) string {
	by := ""
	if e.Waiting.Replaces != nil {
		by = " by another key"
	}
	return fmt.Sprintf("%s%s waits for `%s%s`: it asks for %s", e.Waiting.Version, by, e.EnableCommand(), p.flag(),
		cmp.Or(strings.Join(e.Waiting.Asks, "; "), "nothing"))
}

// componentsOf returns what canvases name of a version: plugin:weather@1, or each component of its
// file.
func componentsOf(e plugin.Entry, v *plugin.Version) []string {
	if v == nil || len(v.Components) == 0 {
		return []string{engine.PluginPrefix + e.Ref()}
	}
	names := make([]string, len(v.Components))
	for i, c := range v.Components {
		names[i] = engine.PluginPrefix + c + "@" + e.Major
	}
	return names
}

var pluginEnable = command{
	name: "plugin enable", args: "NAME [--file DIGEST] [--allow LIST] [FLAGS]",
	summary: "approves the permissions of a plugin and enables it",
	help: `
--allow approves a part of them: a list such as http,kv of all, none, http, http:HOST, secrets, secrets:NAME, llm,
embed, kv and variables. The plugin runs without the others, whose calls fail with the error denied. A later version
that requests no further permissions is enabled with the same part.

--file is the beginning of the digest of the file to approve, as shown by install: if another file was
installed meanwhile, nothing is approved. A file by another key than the version before, or without a signature,
is enabled only with --file.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pluginPlace{}
		p.flags(fs)
		allow := allowFlag(fs)
		file := fs.String("file", "", "prefix of the `DIGEST` of the file")
		return func(ctx context.Context, a *app, args []string) error {
			name, err := one("enable", "NAME", args)
			if err != nil {
				return err
			}
			limit, err := allowed("enable", fs, *allow)
			if err != nil {
				return err
			}
			if tools.Named(name) {
				if limit != nil {
					return misuse("plugin enable",
						"%s is a built-in tool: it may only reach the hosts of its service", name)
				}
				return p.switchTool(a, name, true)
			}
			return p.catalog(ctx, a, func(c *plugin.Catalog) error {
				e, err := c.Enable(ctx, name, *file, limit)
				if err != nil {
					return err
				}
				return a.entry(p, e)
			})
		}
	},
}

func allowFlag(fs *flag.FlagSet) *string {
	return fs.String("allow", "", "`LIST` of permissions to approve, such as http,kv")
}

// given reports whether a flag is on the command line.
func given(fs *flag.FlagSet, name string) bool {
	found := false
	fs.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// allowed parses --allow; nil when it was not given.
func allowed(verb string, fs *flag.FlagSet, list string) (*contract.Permissions, error) {
	if !given(fs, "allow") {
		return nil, nil
	}
	limit, err := contract.Allow(strings.Split(list, ","))
	if err != nil {
		return nil, misuse("plugin "+verb, "--allow: %w", err)
	}
	return &limit, nil
}

var pluginDisable = verb("disable", "NAME", "disables a plugin or a built-in tool",
	"Canvases that use it still load; its nodes fail when reached. Those of the host are listed.",
	func(ctx context.Context, a *app, p *pluginPlace, name string) error {
		if tools.Named(name) {
			return p.switchTool(a, name, false)
		}
		return p.catalog(ctx, a, func(c *plugin.Catalog) error {
			e, err := c.Disable(ctx, name)
			if err != nil {
				return err
			}
			if err := a.entry(p, e); err != nil {
				return err
			}
			p.printUses(ctx, a, e.Ref())
			return nil
		})
	})

var pluginRollback = change("rollback", "activates the previous version again", "",
	func(ctx context.Context, c *plugin.Catalog, name string) (plugin.Entry, error) {
		return c.Rollback(ctx, name)
	})

var pluginRemove = command{
	name: "plugin remove", args: "NAME [--keep-data] [FLAGS]",
	summary: "removes a plugin with its approvals and data",
	help: `
The server deletes the plugin's data of all tenants shortly afterwards or at its next start. With --keep-data
the data is kept for a later version signed by the same key.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pluginPlace{}
		p.flags(fs)
		keep := fs.Bool("keep-data", false, "keep the data that the plugin has stored")
		return func(ctx context.Context, a *app, args []string) error {
			name, err := one("remove", "NAME", args)
			if err != nil {
				return err
			}
			return p.catalog(ctx, a, func(c *plugin.Catalog) error {
				stores, err := plugin.StoresData(c, name)
				if err != nil {
					return err
				}
				if err := c.Remove(ctx, name, *keep); err != nil {
					return err
				}
				if p.json {
					return a.printJSON(map[string]string{"removed": name})
				}
				fmt.Fprintf(a.out, "%s is removed\n", name)
				if *keep && !stores {
					fmt.Fprintln(a.out, "No data is kept: the plugin requests no kv and has no settings.")
				}
				p.printUses(ctx, a, name)
				return nil
			})
		}
	},
}

var pluginList = command{
	name: "plugin list", args: "[FLAGS]", summary: "lists the installed plugins and the built-in tools",
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		p := &pluginPlace{}
		p.flags(fs)
		return func(ctx context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return misuse("plugin list", "expected no arguments")
			}
			return p.catalog(ctx, a, func(c *plugin.Catalog) error {
				builtin, err := p.builtin(a)
				if err != nil {
					return err
				}
				return a.plugins(p, c.List(), builtin)
			})
		}
	},
}

func (a *app) plugins(p *pluginPlace, list []plugin.Entry, builtin []builtinTool) error {
	if p.json {
		all := make([]any, 0, len(list)+len(builtin))
		for _, e := range list {
			all = append(all, e)
		}
		for _, t := range builtin {
			all = append(all, t)
		}
		return a.printJSON(all)
	}
	var rows [][]string
	for _, e := range list {
		version, state, note := "", "off", e.Problem
		if e.Active != nil {
			version = e.Active.Version
			if e.Enabled {
				state = "on"
			}
		}
		if e.Problem != "" {
			state = "broken"
		}
		if note == "" && e.Active != nil && len(e.Active.Asks) > 0 {
			note = "does without " + strings.Join(e.Active.Asks, "; ")
		}
		if e.Waiting != nil {
			note = p.waitingNote(e)
		}
		rows = append(rows, []string{e.Name, version, state, note})
		if e.Active != nil && len(e.Active.Components) > 0 {
			for _, component := range componentsOf(e, e.Active) {
				rows = append(rows, []string{"  " + component, "", "", ""})
			}
		}
	}
	for _, t := range builtin {
		rows = append(rows, []string{t.Name, t.Version, onOff(t.Enabled), "built in, serves " + t.Component})
	}
	return printTable(a.out, []string{"NAME", "VERSION", "STATE", "NOTE"}, rows)
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return &usageError{"", err}
	}
	_, err = f.Write(content)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
