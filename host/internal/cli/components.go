package cli

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/cli/place"
)

var componentsCommand = command{
	name: "components", args: "[NAME...] [FLAGS]",
	summary: "lists the components a canvas may use",
	help: `
For each place where canvases run it lists the state of a component there: runs, "needs: REQUIREMENT", or stand-in for
invented outputs. cli is easel run, chat and record; server is easel serve; page is the preview. With --json each
component has the JSON Schema of its params, its inputs, its outputs, its definition as a tool, and its places.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		asJSON := fs.Bool("json", false, "print a JSON list with schemas")
		asPage := fs.Bool("markdown", false, "print a page of documentation")
		scripts := &scriptPlace{}
		scripts.flags(fs)
		return func(_ context.Context, a *app, args []string) error {
			a.scripts = *scripts
			specs, err := a.specs(args)
			if err != nil {
				return &usageError{"components", err}
			}
			if *asJSON {
				list := engine.List()
				for _, s := range specs {
					list = list.Append(a.described(s).With("places", places(s)))
				}
				fmt.Fprintln(a.out, list.JSON())
				return nil
			}
			if *asPage {
				componentsPage(a.out, specs)
				return nil
			}
			return a.componentTable(specs)
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

func (a *app) componentTable(specs []*engine.Spec) error {
	all := place.All()
	head := []string{"NAME", "TITLE", "TOOL"}
	for _, p := range all {
		head = append(head, strings.ToUpper(p.Name))
	}
	head = append(head, "WHAT IT DOES")
	var rows [][]string
	for _, s := range specs {
		tool := ""
		if s.Tool != nil {
			tool = s.Tool.Function
		}
		row := []string{strings.Join(append([]string{s.Name}, s.Aliases...), ", "), s.Title, tool}
		for _, p := range all {
			row = append(row, cut(p.Status(s).String(), 40))
		}
		rows = append(rows, append(row, cut(s.Doc, 100)))
	}
	if err := printTable(a.out, head, rows); err != nil {
		return err
	}
	for _, s := range specs {
		if lacks := a.lacks(s); lacks != "" {
			fmt.Fprintf(a.out, "\n%s: %s\n", s.Name, lacks)
		}
	}
	return nil
}

// described returns the description of a component with the missing requirements: name -> reason.
func (a *app) described(s *engine.Spec) engine.Value {
	v, missing := s.Describe(), a.missingOf(s)
	if len(missing) == 0 {
		return v
	}
	b := engine.NewObject(len(missing))
	for _, m := range missing {
		b.Set(m.requirement, engine.String(m.err.Error()))
	}
	return v.With("missing", b.Value())
}

// lacks returns in one line the requirements of a component that this machine lacks.
func (a *app) lacks(s *engine.Spec) string {
	var parts []string
	for _, m := range a.missingOf(s) {
		parts = append(parts, m.err.Error())
	}
	return strings.Join(parts, "; ")
}

// lack is a requirement of a component and the reason why it is missing.
type lack struct {
	requirement string
	err         error
}

func (a *app) missingOf(s *engine.Spec) (missing []lack) {
	r, ok := s.New().(engine.Requirer)
	if !ok {
		return nil
	}
	for _, requirement := range r.MayRequire() {
		if err := a.registry.Missing(requirement); err != nil {
			missing = append(missing, lack{requirement, err})
		}
	}
	return missing
}

// places returns how a component runs at each place: {cli: {state, needs?}, server, page}.
func places(s *engine.Spec) engine.Value {
	b := engine.NewObject(3)
	for _, p := range place.All() {
		b.Set(p.Name, p.Status(s).Value())
	}
	return b.Value()
}
