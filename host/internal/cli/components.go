package cli

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/place"
)

var componentsCommand = command{
	name: "components", args: "[NAME...] [FLAGS]",
	summary: "lists the components a canvas may use",
	help: `
For each place where canvases run it says what a component does there: runs, "needs: what", or stand-in for made-up
outputs. cli is easel run, chat and record; server is easel serve; page is the preview. With --json each component has
the JSON Schema of its params, its inputs, its outputs and its definition as a tool, and its places.`,
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
					list = list.Append(s.Describe().With("places", places(s)))
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
	all := place.All()
	head := []string{"NAME", "TOOL"}
	for _, p := range all {
		head = append(head, strings.ToUpper(p.Name))
	}
	fmt.Fprintln(w, strings.Join(append(head, "WHAT IT DOES"), "\t"))
	for _, s := range specs {
		tool := ""
		if s.Tool != nil {
			tool = s.Tool.Function
		}
		row := []string{strings.Join(append([]string{s.Name}, s.Aliases...), ", "), tool}
		for _, p := range all {
			row = append(row, cut(p.Status(s).String(), 40))
		}
		fmt.Fprintln(w, strings.Join(append(row, cut(s.Doc, 100)), "\t"))
	}
	return w.Flush()
}

// places says what a component does at each place: {cli: {state, needs?}, server, page}.
func places(s *engine.Spec) engine.Value {
	b := engine.NewObject(3)
	for _, p := range place.All() {
		b.Set(p.Name, p.Status(s).Value())
	}
	return b.Value()
}
