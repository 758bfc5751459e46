package cli

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/tools"
)

var recordCommand = command{
	name: "record", args: "CANVAS.json -o CASE.json [FLAGS]",
	summary: "runs a canvas and writes a case for easel test",
	help: `
Each -q is a turn. The answers of models, datasets, files, tools, MCP servers and web requests of Invoke are written to
the case, so that it can be played without them and without a network. Values of secrets, and keys among the params, are
written as {{secret:NAME}}. The case is played once to check that it passes; differences are reported.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &recorder{}
		r.world.flags(fs)
		fs.Var(&r.queries, "q", "the user's `TEXT`; repeat for more turns")
		fs.StringVar(&r.inputs, "inputs", "", "form fields of the first turn: a `JSON` object or a file with one")
		fs.Var(&r.files, "file", "`PATH` of an upload of the first turn; repeatable")
		fs.StringVar(&r.out, "o", "", "`FILE` to write")
		fs.StringVar(&r.about, "about", "", "description of the case")
		return r.run
	},
}

// recorder is the record command with its flags.
type recorder struct {
	world   world
	queries texts
	inputs  string
	files   texts
	out     string
	about   string
}

func (r *recorder) run(ctx context.Context, a *app, args []string) error {
	switch {
	case len(args) != 1:
		return misuse("record", "expected one canvas, got %d", len(args))
	case r.out == "":
		return misuse("record", "-o FILE is required")
	}
	a.scripts = r.world.scripts
	s, err := a.open(args[0], "")
	if err != nil {
		return err
	}
	r.world.tape = new(enginetest.SecretsTape)
	if err := learnKeys(r.world.tape, s.canvas.Document()); err != nil {
		return err
	}
	r.world.canvas = s.canvas.Document()
	options, err := r.world.options(a)
	if err != nil {
		return err
	}
	options.Ports.Canvases = a.canvasesBeside(args[0])
	var runs []enginetest.Run
	for i := range max(1, len(r.queries)) {
		kwargs, err := r.kwargs(a, s, i)
		if err != nil {
			return &usageError{"record", err}
		}
		runs = append(runs, enginetest.Run{Kwargs: kwargs})
	}
	about := r.about
	if about == "" {
		about = "recorded"
	}
	player, err := casePlayer(a)
	if err != nil {
		return err
	}
	player.Concurrency = 1 // keeps model calls in one order
	player.Ports, player.Secrets = options.Ports, r.world.tape
	c, err := player.Record(ctx, nameOf(r.out), about, s.canvas.Document(), runs)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c == nil {
		return err
	}
	return a.keepCase(ctx, r.out, c)
}

// learnKeys collects the secrets in a canvas itself: passwords, and params that manifests of the
// built-in tools declare as secrets.
func learnKeys(tape *enginetest.SecretsTape, doc engine.Value) error {
	list, err := tools.List(nil)
	if err != nil {
		return err
	}
	names := map[string]bool{"password": true}
	for _, t := range list {
		for name := range t.Manifest.Permissions.Secrets {
			names[name] = true
		}
	}
	var walk func(v engine.Value)
	walk = func(v engine.Value) {
		for _, e := range v.Elements() {
			walk(e)
		}
		for name, member := range v.Fields() {
			if text := member.Str(); names[name] && !strings.Contains(text, "{{secret:") {
				tape.Learn(name, text)
			}
			walk(member)
		}
	}
	walk(doc)
	return nil
}

// kwargs returns the arguments of one turn in the form of cases. Form fields and uploads belong to
// the first turn.
func (r *recorder) kwargs(a *app, s *session, turn int) (engine.Value, error) {
	b := engine.NewObject(4)
	b.Set("user_id", engine.String("local"))
	if turn < len(r.queries) {
		b.Set("query", engine.String(r.queries[turn]))
	}
	given := engine.Null
	if turn == 0 {
		var err error
		if given, err = a.readInputs(r.inputs); err != nil {
			return engine.Null, err
		}
		files, err := r.world.attach(r.files)
		if err != nil {
			return engine.Null, err
		}
		if !files.IsNull() {
			b.Set("files", files)
		}
	}
	inputs, err := r.world.complete(s, given)
	if err != nil {
		return engine.Null, err
	}
	if !inputs.IsNull() {
		b.Set("inputs", inputs)
	}
	return b.Value(), nil
}

// keepCase writes a case and plays it once, as easel test does.
func (a *app) keepCase(ctx context.Context, path string, c *enginetest.Case) error {
	text := append(c.Value().AppendJSON(nil), '\n')
	if err := disk.Replace(path, text); err != nil {
		return fmt.Errorf("write case: %w", err)
	}
	player, err := casePlayer(a)
	if err != nil {
		return err
	}
	observed, err := player.Play(ctx, c)
	if err != nil {
		return err
	}
	differences := enginetest.Compare(c.Value(), observed)
	for _, d := range differences {
		fmt.Fprintf(a.err, "easel: the case is not reproducible: %s\n", d)
	}
	if len(differences) > 0 {
		return errFailed
	}
	fmt.Fprintf(a.out, "%s: recorded, turns: %d\n", path, len(c.Runs))
	return nil
}
