package cli

import (
	"context"
	"flag"
	"io"

	"github.com/easel-canvas/easel/build/licences/lists"
)

var licencesCommand = command{
	name:    "licences",
	summary: "prints the licences of easel and its third-party software",
	setup: func(*flag.FlagSet) func(context.Context, *app, []string) error {
		return func(_ context.Context, a *app, args []string) error {
			if len(args) > 0 {
				return misuse("licences", "expected no arguments")
			}
			_, err := io.WriteString(a.out, lists.Program)
			return err
		}
	},
}
