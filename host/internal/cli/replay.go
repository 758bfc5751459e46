package cli

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/engine/template"
	"github.com/easel-canvas/easel/host/internal/script"
)

var replayCommand = command{
	name: "replay", args: "CASE.json [FLAGS], or --templates FILE.jsonl",
	summary: "plays a conformance case and prints what was observed",
	help: `
Everything outside the engine answers from the case, so nothing is called. With --templates each line of the file is
a template with its context, and each line printed is {name, text} or {name, error}.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		var r replayer
		r.flags(fs)
		fs.StringVar(&r.templates, "templates", "", "`FILE` of template cases, one JSON object per line")
		return r.run
	},
}

// replayer is how cases are played.
type replayer struct {
	cut         bool
	keep        bool
	concurrency int
	templates   string
}

func (r *replayer) flags(fs *flag.FlagSet) {
	fs.BoolVar(&r.cut, "cut", false, "stop at every checkpoint and go on with a fresh engine")
	fs.BoolVar(&r.keep, "keep", false, "play all turns on one state instead of saving and loading between them")
	fs.IntVar(&r.concurrency, "concurrency", 0, "nodes of a batch at once; 0 means 5")
}

func (r *replayer) player(a *app) *enginetest.Player {
	p := casePlayer(a)
	p.Concurrency, p.Keep = r.concurrency, r.keep
	if r.cut {
		p.Cut = enginetest.AtCheckpoints
	}
	return p
}

// casePlayer plays cases with stand-ins for everything but scripts, which give the same each time.
func casePlayer(a *app) *enginetest.Player {
	return &enginetest.Player{Registry: a.registry, Ports: engine.Ports{Code: &script.Runner{Worker: worker()}}}
}

func (r *replayer) run(ctx context.Context, a *app, args []string) error {
	if r.templates != "" {
		if len(args) > 0 {
			return misuse("replay", "--templates takes no case beside it")
		}
		return a.replayTemplates(r.templates)
	}
	if len(args) != 1 {
		return misuse("replay", "one case is needed, not %d", len(args))
	}
	observed, _, err := a.play(ctx, r.player(a), args[0])
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, observed.JSON())
	return nil
}

// play reads a case and plays it.
func (a *app) play(ctx context.Context, p *enginetest.Player, path string) (observed, original engine.Value, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return engine.Null, engine.Null, &usageError{"", err}
	}
	if original, err = engine.ParseJSON(data); err != nil {
		return engine.Null, engine.Null, &usageError{"", fmt.Errorf("%s: %w", path, err)}
	}
	c, err := enginetest.ReadCase(original)
	if err != nil {
		return engine.Null, engine.Null, &usageError{"", fmt.Errorf("%s: %w", path, err)}
	}
	observed, err = p.Play(ctx, c)
	return observed, original, err
}

// longestCase is how long one line of template cases may be, in bytes.
const longestCase = 16 << 20

func (a *app) replayTemplates(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return &usageError{"", err}
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longestCase)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		c, err := engine.ParseJSON(lines.Bytes())
		if err != nil {
			return &usageError{"", fmt.Errorf("%s, line %d: %w", path, n, err)}
		}
		fmt.Fprintln(a.out, replayTemplate(c).JSON())
	}
	return lines.Err()
}

// replayTemplate renders a template case. It returns {name, text} or {name, error}.
func replayTemplate(c engine.Value) engine.Value {
	t, err := template.Parse(c.Get("template").Str())
	text := ""
	if err == nil {
		text, err = t.Render(c.Get("context").Lookup)
	}
	if err != nil {
		return engine.Object("name", c.Get("name"), "error", err.Error())
	}
	return engine.Object("name", c.Get("name"), "text", text)
}
