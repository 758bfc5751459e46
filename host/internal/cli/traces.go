package cli

import (
	"context"
	"flag"
	"fmt"
	"net/url"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/host/internal/disk"
)

// The verbs of `easel traces`.
var tracesCommand = command{
	name: "traces", args: "VERB [ARGUMENTS]",
	summary: "reads the kept runs of a host",
	help:    verbHelp("traces", tracesVerbs()),
	setup:   needsVerb("traces"),
	verbs:   tracesVerbs,
}

func tracesVerbs() []command { return []command{tracesList, tracesCase, tracesUsage} }

var tracesList = listing("traces", "runs", "lists the runs of the tenant, newest first",
	"ID CANVAS STATUS TOKENS CREATED KEPT QUESTION ANSWER", func(run engine.Value) []string {
		return []string{
			run.Get("id").Str(), run.Get("canvas").Str(), run.Get("status").Str(), run.Get("tokens").Text(),
			moment(run.Get("created")), run.Get("kept").Str(), briefly(run.Get("question")), briefly(run.Get("answer")),
		}
	})

// briefly returns the first words of a text for a column.
func briefly(text engine.Value) string {
	const most = 40
	runes := []rune(text.Str())
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most]) + "…"
}

var tracesUsage = func() command {
	c := listing("traces", "traces/usage", "shows the bytes of kept runs by day and canvas",
		"DAY CANVAS BLOCKS BYTES", func(use engine.Value) []string {
			return []string{
				use.Get("day").Str(), use.Get("canvas").Str(), use.Get("blocks").Text(), use.Get("bytes").Text(),
			}
		})
	c.name = "traces usage"
	return c
}()

var tracesCase = command{
	name: "traces case", args: "RUN -o FILE [FLAGS]",
	summary: "writes a run as a case of easel test",
	help: `
The case has the document that ran, what the run was given, and what models, searches, tools and MCP servers answered.
The host has played it once; a run that comes out differently is refused with the first difference.
` + remoteHelp,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &remote{}
		r.add(fs)
		out := fs.String("o", "", "`FILE` to write")
		return func(ctx context.Context, a *app, args []string) error {
			switch {
			case len(args) != 1:
				return misuse("traces", "expected one RUN, got %d", len(args))
			case *out == "":
				return misuse("traces", "-o FILE is required")
			}
			if err := r.open(a); err != nil {
				return err
			}
			v, err := r.ask(ctx, "GET", "runs/"+url.PathEscape(args[0])+"/case", engine.Null)
			if err != nil {
				return err
			}
			c, err := enginetest.ReadCase(v.With("name", engine.String(nameOf(*out))))
			if err != nil {
				return err
			}
			if err := disk.Replace(*out, append(c.Value().AppendJSON(nil), '\n')); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s: recorded, events: %d\n", *out, c.Runs[0].Want.Get("events").Len())
			return nil
		}
	},
}
