package cli

import (
	"context"
	"flag"
	"fmt"

	"github.com/easel-canvas/easel/engine"
)

var validateCommand = command{
	name: "validate", args: "CANVAS.json... [FLAGS]",
	summary: "lists all problems of canvases",
	help: `
Exits with 4 if there is an error; warnings alone are accepted. With --place it also lists nodes and tools that do not
work there: components that do not run (not_available), scripts (unknown_language), models that the model
configuration lacks (unknown_model), and with --knowledge datasets that do not exist (unknown_dataset).`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		asJSON := fs.Bool("json", false,
			"print a JSON list: [{file, diagnostics: [{severity, code, message, node, param}]}]")
		scripts := &scriptPlace{}
		scripts.flags(fs)
		where := fs.String("place", "", "`NAME` of the place where the canvas will run: cli, server or page")
		knowledge := fs.String("knowledge", "", "with --place: `DIR` whose sub-folders are the datasets")
		return func(_ context.Context, a *app, args []string) error {
			a.scripts = *scripts
			if len(args) == 0 {
				return misuse("validate", "expected at least one canvas")
			}
			var check *placeCheck
			if *where != "" {
				var err error
				if check, err = newPlaceCheck(a, *where, *knowledge); err != nil {
					return err
				}
			}
			return a.validate(args, check, *asJSON)
		}
	},
}

// validate lists the problems of canvases, including those of a place unless check is nil.
func (a *app) validate(paths []string, check *placeCheck, asJSON bool) error {
	list, bad := engine.List(), false
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			return &usageError{"", err}
		}
		diagnostics := engine.Validate(a.registry, data)
		if check != nil {
			diagnostics = check.check(data, diagnostics)
		}
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
