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
	name: "plugin import", args: "FILE.py|FILE.json [FLAGS]",
	summary: "converts the metadata of a RAGFlow LLMToolPlugin into a manifest",
	help: `
Reads the value that get_metadata returns, or the same value as JSON, and writes a manifest with that name and those
arguments. The code is not converted: plugins are WebAssembly modules. Names that begin with $t: are translation keys
and are kept.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
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
