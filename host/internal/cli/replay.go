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
)

var replayCommand = command{
	name: "replay", args: "CASE.json [FLAGS], --templates FILE.jsonl, or --chunker CASE.json",
	summary: "plays a conformance case and prints its events and results",
	help: `
All answers from outside the engine come from the case, so nothing is called. With --canvas that canvas is played with
the inputs and answers of the case. With --templates each line of the file is a template with its context, and each
printed line is {name, text} or {name, error}. With --chunker the case is one of a TokenChunker or TitleChunker, and
the chunks are printed as {case_id, chunks}.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		var r replayer
		r.flags(fs)
		fs.StringVar(&r.templates, "templates", "", "`FILE` of template cases, one JSON object per line")
		fs.StringVar(&r.chunker, "chunker", "", "`FILE` with a case of a chunker")
		return r.run
	},
}

// replayer is the replay command with its flags.
type replayer struct {
	cut         bool
	keep        bool
	concurrency int
	templates   string
	chunker     string
	canvas      string
}

func (r *replayer) flags(fs *flag.FlagSet) {
	fs.BoolVar(&r.cut, "cut", false, "stop at every checkpoint and continue with a new engine")
	fs.BoolVar(&r.keep, "keep", false, "play all turns on one state instead of saving and loading between them")
	fs.StringVar(&r.canvas, "canvas", "", "`FILE` of a canvas to play instead of the copy in the case")
	fs.IntVar(&r.concurrency, "concurrency", 0, "nodes of a batch that execute concurrently; 0 means 5")
}

// open creates the player and loads the canvas of --canvas.
func (r *replayer) open(a *app) (*casePlay, error) {
	player, err := casePlayer(a)
	if err != nil {
		return nil, err
	}
	p := &casePlay{player: player}
	p.player.Concurrency, p.player.Keep = r.concurrency, r.keep
	if r.cut {
		p.player.Cut = enginetest.AtCheckpoints
	}
	if r.canvas == "" {
		return p, nil
	}
	s, err := a.open(r.canvas, "")
	if err != nil {
		return nil, err
	}
	p.canvas = s.canvas.Document()
	return p, nil
}

// casePlay plays cases, with another canvas unless that is null.
type casePlay struct {
	player *enginetest.Player
	canvas engine.Value
}

// casePlayer plays cases with stand-ins for all ports except scripts, which are deterministic.
func casePlayer(a *app) (*enginetest.Player, error) {
	scripts, err := (&scriptPlace{}).port(a)
	if err != nil {
		return nil, &usageError{"", err}
	}
	return &enginetest.Player{Registry: a.registry, Ports: engine.Ports{Code: scripts}}, nil
}

func (r *replayer) run(ctx context.Context, a *app, args []string) error {
	if r.chunker != "" {
		if len(args) > 0 || r.templates != "" || r.canvas != "" {
			return misuse("replay", "--chunker excludes a case, --templates and --canvas")
		}
		return a.replayChunker(r.chunker)
	}
	if r.templates != "" {
		if len(args) > 0 {
			return misuse("replay", "--templates excludes a case")
		}
		if r.canvas != "" {
			return misuse("replay", "--templates excludes --canvas")
		}
		return a.replayTemplates(r.templates)
	}
	if len(args) != 1 {
		return misuse("replay", "expected one case, got %d", len(args))
	}
	p, err := r.open(a)
	if err != nil {
		return err
	}
	observed, _, err := p.play(ctx, args[0])
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, observed.JSON())
	return nil
}

// play reads a case and plays it. original is the case as it was played.
func (p *casePlay) play(ctx context.Context, path string) (observed, original engine.Value, err error) {
	data, err := readFile(path)
	if err != nil {
		return engine.Null, engine.Null, &usageError{"", err}
	}
	if original, err = engine.ParseJSON(data); err != nil {
		return engine.Null, engine.Null, &usageError{"", fmt.Errorf("%s: %w", path, err)}
	}
	if !p.canvas.IsNull() {
		original = original.With("dsl", p.canvas)
	}
	c, err := enginetest.ReadCase(original)
	if err != nil {
		return engine.Null, engine.Null, &usageError{"", fmt.Errorf("%s: %w", path, err)}
	}
	observed, err = p.player.Play(ctx, c)
	return observed, original, err
}

// longestCase bounds a line of template cases, in bytes.
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
