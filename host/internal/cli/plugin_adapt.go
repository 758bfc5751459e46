package cli

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/plugins/contract"
)

var pluginAdapt = command{
	name: "plugin adapt", args: "FILE.wasm [-o OUT.wasm] [FLAGS]",
	summary: "converts a foreign module, such as an Extism plugin, to a plugin",
	help: `
The module stays as it is and gets a manifest, which says which of its exports is called and how. With the forms
text and bytes the input is the argument or param "input", and the output is "output"; with json the arguments go in
as an object and the result is the output "output". A module that sends requests does so to the hosts of --allow-http
only, once that is approved.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		var a pluginkit.Adaption
		var hosts texts
		fs.StringVar(&a.Name, "name", "", "`NAME` of the plugin; the file's when left out")
		fs.StringVar(&a.Version, "set-version", "1.0.0", "`VERSION` of the plugin")
		fs.StringVar(&a.Description, "description", "", "description for users and models")
		fs.StringVar(&a.Entry.Export, "entry", "", "the `EXPORT` to call; required if there are several")
		input := fs.String("input", "text", "the `FORM` of the input: text, json or bytes")
		output := fs.String("output", "text", "the `FORM` of the output: text, json or bytes")
		fs.Var(&hosts, "allow-http", "`HOST` that it may send requests to; repeatable")
		out := fs.String("o", "", "`FILE` to write; NAME.wasm when left out")
		return func(_ context.Context, app *app, args []string) error {
			file, err := one("adapt", "FILE.wasm", args)
			if err != nil {
				return err
			}
			a.Entry.Input, a.Entry.Output, a.Hosts = contract.Form(*input), contract.Form(*output), hosts
			return app.adapt(file, *out, a)
		}
	},
}

func (a *app) adapt(file, out string, how pluginkit.Adaption) error {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return &usageError{"plugin adapt", err}
	}
	if how.Name == "" {
		base := strings.ToLower(strings.TrimSuffix(filepath.Base(file), ".wasm"))
		how.Name = strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
				return r
			}
			return '-'
		}, base)
	}
	if how.Description == "" {
		how.Description = "The module " + filepath.Base(file) + "."
	}
	if out == "" {
		out = how.Name + ".wasm"
	}
	if filepath.Clean(file) == filepath.Clean(out) {
		return misuse("plugin adapt", "%s would be overwritten; name another file with -o", out)
	}
	adapted, err := pluginkit.Adapt(wasm, how)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := writeFile(out, adapted); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "wrote %s; try it with `easel plugin run %s --arg input=...`\n", out, out)
	return err
}
