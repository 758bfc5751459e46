package cli

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/hosttool"
	"github.com/easel-canvas/easel/host/internal/tools"
)

var componentsCommand = command{
	name: "components", args: "[NAME...] [FLAGS]",
	summary: "lists the components a canvas may use",
	help:    `With --json each has the JSON Schema of its params, its inputs, its outputs and its definition as a tool.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		asJSON := fs.Bool("json", false, "print a JSON list with schemas")
		asPage := fs.Bool("markdown", false, "print a page of documentation")
		return func(_ context.Context, a *app, args []string) error {
			specs, err := a.specs(args)
			if err != nil {
				return &usageError{"components", err}
			}
			if *asJSON {
				list := engine.List()
				for _, s := range specs {
					list = list.Append(s.Describe())
				}
				fmt.Fprintln(a.out, list.JSON())
				return nil
			}
			if *asPage {
				componentsPage(a.out, specs)
				return nil
			}
			return a.table(specs)
		}
	},
}

func (a *app) specs(names []string) ([]*engine.Spec, error) {
	if len(names) == 0 {
		return a.registry.Specs(), nil
	}
	var out []*engine.Spec
	for _, n := range names {
		s, err := a.registry.Lookup(n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (a *app) table(specs []*engine.Spec) error {
	w := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTOOL\tRUNS\tWHAT IT DOES")
	for _, s := range specs {
		tool, runs := "", "yes"
		if s.Tool != nil {
			tool = s.Tool.Function
		}
		switch _, outside := s.New().(interface{ Needs() string }); {
		case s.Missing != "":
			runs = "no"
		case outside && !tools.Offers(s.Name) && !hosttool.Serves(s.Name):
			runs = "host" // only where a host offers it
		}
		name := strings.Join(append([]string{s.Name}, s.Aliases...), ", ")
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", name, tool, runs, cut(s.Doc, 100))
	}
	return w.Flush()
}
