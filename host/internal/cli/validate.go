package cli

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/easel-canvas/easel/engine"
)

var validateCommand = command{
	name: "validate", args: "CANVAS.json... [--json]",
	summary: "lists everything that is wrong with canvases",
	help:    `Exits with 4 when there is an error; warnings alone are accepted.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		asJSON := fs.Bool("json", false,
			"print a JSON list: [{file, diagnostics: [{severity, code, message, node, param}]}]")
		scripts := &scriptPlace{}
		scripts.flags(fs)
		return func(_ context.Context, a *app, args []string) error {
			a.scripts = *scripts
			if len(args) == 0 {
				return misuse("validate", "at least one canvas is needed")
			}
			return a.validate(args, *asJSON)
		}
	},
}

func (a *app) validate(paths []string, asJSON bool) error {
	list, bad := engine.List(), false
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return &usageError{"", err}
		}
		diagnostics := engine.Validate(a.registry, data)
		found := engine.List()
		errors := 0
		for _, d := range diagnostics {
			if d.Severity == engine.SeverityError {
				errors++
			}
			found = found.Append(d.Value())
			if !asJSON {
				fmt.Fprintf(a.out, "%s: %s\n", path, d)
			}
		}
		bad = bad || errors > 0
		list = list.Append(engine.Object("file", path, "diagnostics", found))
		if !asJSON && len(diagnostics) == 0 {
			fmt.Fprintf(a.out, "%s: ok\n", path)
		}
	}
	if asJSON {
		fmt.Fprintln(a.out, list.JSON())
	}
	if bad {
		return errInvalid
	}
	return nil
}
