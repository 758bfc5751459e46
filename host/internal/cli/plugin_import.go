package cli

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
)

var pluginImport = command{
	name: "plugin import", args: "FILE.py|FILE.json|FILE.yaml [FLAGS]",
	summary: "creates tools from an OpenAPI document, or a manifest from a RAGFlow LLMToolPlugin",
	help: `
Of an OpenAPI 3 or Swagger 2.0 document (JSON or YAML) each chosen operation becomes the folder of a plugin that is
only data: its parameters and the properties of its body are arguments, its server is the one host it may reach, and
the key it requires is a secret of the host. Without --operation and --all the operations are listed; --all leaves out
operations that cannot be converted, such as uploads of files, and reports them.

Reads the value that get_metadata returns, or the same value as JSON, and writes a manifest with that name and those
arguments. The code is not converted: plugins are WebAssembly modules. Names that begin with $t: are translation keys
and are kept.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		api := &openAPIImport{}
		fs.Var(&api.chosen, "operation", "`ID` of an operation of an OpenAPI document; repeatable")
		fs.BoolVar(&api.all, "all", false, "all operations of an OpenAPI document")
		fs.StringVar(&api.server, "server", "", "`URL` of the service instead of the servers in an OpenAPI document")
		fs.StringVar(&api.dir, "dir", ".", "`DIR` in which the folders of plugins are created")
		out := fs.String("o", "", "`FILE` to write (default: standard output)")
		return func(_ context.Context, a *app, args []string) error {
			file, err := one("import", "FILE", args)
			if err != nil {
				return err
			}
			raw, err := os.ReadFile(file)
			if err != nil {
				return &usageError{"", err}
			}
			if doc, ok, err := isOpenAPI(file, raw); err != nil || ok {
				if err != nil {
					return err
				}
				return api.run(a, file, doc)
			}
			manifest, err := pluginkit.Import(string(raw))
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			text, err := json.MarshalIndent(manifest, "", "  ")
			if err != nil {
				return err
			}
			if *out != "" {
				return writeNew(*out, append(text, '\n'), 0o644)
			}
			_, err = fmt.Fprintln(a.out, string(text))
			return err
		}
	},
}
