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
	name: "plugin import", args: "FILE.py|FILE.json [FLAGS]", summary: "makes a manifest out of a RAGFlow LLMToolPlugin",
	help: `
Reads the block that get_metadata returns, or the same as JSON, and writes the manifest of a plugin with that name and
those arguments. The function itself has to be written anew: easel runs no Python inside a plugin. Names that begin with
$t: are keys of translations and are kept.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		out := fs.String("o", "", "`FILE` to write; standard output when left out")
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
