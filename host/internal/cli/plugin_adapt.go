package cli

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

var pluginAdapt = command{
	name: "plugin adapt", args: "FILE [-o OUT.wasm] [FLAGS]",
	summary: "converts a foreign module, such as an Extism plugin, to a plugin",
	help: `
FILE is a module, or a manifest of Extism that names one and its configuration, hosts and limits.
The module is not changed and gets a manifest, which names the export to call and its interface. With the forms
text and bytes the input is the argument or param "input", and the output is "output"; with json the input is
an object of the arguments and the result is the output "output". A WASI program, which exports _start, reads the
input from stdin and writes the output to stdout; if its status is not 0, the call fails with the last line of
stderr. --mcp is for modules whose exports list and call MCP tools, as those of hyper-mcp: each tool becomes a
plugin, or only that of --tool. A module may send requests only to the hosts of --allow-http, after approval.
--config is a setting with a default, --setting one without.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		var a pluginkit.Adaption
		var hosts, settings, config texts
		fs.StringVar(&a.Name, "name", "", "`NAME` of the plugin; the file's when left out")
		fs.StringVar(&a.Version, "set-version", "1.0.0", "`VERSION` of the plugin")
		fs.StringVar(&a.Description, "description", "", "description for users and models")
		fs.StringVar(&a.Entry.Export, "entry", "", "the `EXPORT` to call; required if there are several")
		input := fs.String("input", "text", "the `FORM` of the input: text, json or bytes")
		output := fs.String("output", "text", "the `FORM` of the output: text, json or bytes")
		fs.Var(&hosts, "allow-http", "`HOST` that it may send requests to; repeatable")
		fs.Var(&settings, "setting", "`NAME` of a setting that it reads with config_get; repeatable")
		fs.Var(&config, "config", "`NAME=VALUE` that it reads with config_get unless it is set; repeatable")
		fs.BoolVar(&a.Private, "allow-private", false, "the hosts of --allow-http may have private and local addresses")
		mcp := fs.Bool("mcp", false, "make plugins of the MCP tools that it exports")
		tool := fs.String("tool", "", "with --mcp, the `NAME` of the only tool to make a plugin of")
		out := fs.String("o", "", "`FILE` to write; NAME.wasm when left out")
		return func(ctx context.Context, app *app, args []string) error {
			file, err := one("adapt", "FILE", args)
			if err != nil {
				return err
			}
			a.Entry.Input, a.Entry.Output, a.Hosts = contract.Form(*input), contract.Form(*output), hosts
			a.Settings, a.Config = settings, config
			if *mcp {
				return app.adaptMCP(ctx, file, *out, a, *tool)
			}
			return app.adapt(file, *out, a)
		}
	},
}

func (a *app) adapt(file, out string, how pluginkit.Adaption) error {
	wasm, from, err := pluginkit.ReadForeign(file, &how)
	if err != nil {
		return &usageError{"plugin adapt", err}
	}
	named(file, &how)
	if out == "" {
		out = how.Name + ".wasm"
	}
	if err := unread(from, out); err != nil {
		return err
	}
	adapted, err := pluginkit.Adapt(wasm, how)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := disk.Replace(out, adapted); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "wrote %s; try it with `easel plugin run %s --arg input=...`\n", out, out)
	return err
}

// unread refuses a file to write that was read.
func unread(from []string, to string) error {
	for _, file := range from {
		if filepath.Clean(file) == filepath.Clean(to) {
			return misuse("plugin adapt", "%s would be overwritten; name another file with -o", to)
		}
	}
	return nil
}

// named fills in the name and the description of an adaption.
func named(file string, how *pluginkit.Adaption) {
	if how.Name == "" {
		how.Name = pluginkit.PluginName(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	}
	if how.Description == "" {
		how.Description = "The module " + filepath.Base(file) + "."
	}
}

// adaptMCP writes a plugin for each MCP tool of a module, or for the one that tool names. out is
// the file of a single one.
func (a *app) adaptMCP(ctx context.Context, file, out string, how pluginkit.Adaption, tool string) error {
	wasm, from, err := pluginkit.ReadForeign(file, &how)
	if err != nil {
		return &usageError{"plugin adapt", err}
	}
	named(file, &how)
	var p pluginPlace
	return p.with(ctx, a, func(h *plugin.Host) error {
		list, err := pluginkit.AdaptMCP(ctx, h, wasm, how, tool)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if out != "" && len(list) > 1 {
			return misuse("plugin adapt", "-o names one file, and there are %d tools; choose one with --tool",
				len(list))
		}
		for _, made := range list {
			to := out
			if to == "" {
				to = made.Name + ".wasm"
			}
			if err := unread(from, to); err != nil {
				return err
			}
			if err := disk.Replace(to, made.Wasm); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s is a plugin now; try it with `easel plugin run %s --arg NAME=VALUE`\n", to, to)
		}
		return nil
	})
}
