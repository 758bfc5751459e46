package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/cli/profile"
)

var runCommand = command{
	name: "run", args: "CANVAS.json [FLAGS]",
	summary: "runs a canvas once and prints its answer",
	help: `
The answer streams to standard output; on a terminal, standard error shows the running nodes.
With --state the conversation is saved: the next call is its next turn. If a run pauses for a form, the fields are
prompted for on a terminal; elsewhere the user_inputs event is printed and the exit code is 3, and a call with --inputs
and the same --state continues the run. Ctrl-C stops the run and saves the state.
An ingestion pipeline, a canvas that starts at File, runs once for each --file and prints the chunks: as text, with
--json as a list of {file, output_format, chunks}; --output writes that list to a file.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		r := &runner{}
		r.world.flags(fs)
		fs.StringVar(&r.query, "q", "", "the user's `TEXT`")
		fs.StringVar(&r.inputs, "inputs", "", "form fields: a `JSON` object, a file with one, or - for standard input")
		fs.Var(&r.files, "file", "`PATH` of an upload, for sys.files; repeatable")
		fs.StringVar(&r.output, "output", "", "write the chunks of a pipeline to a JSON `FILE`")
		fs.StringVar(&r.state, "state", "", "`FILE` with the state of the conversation")
		fs.StringVar(&r.user, "user", "local", "`ID` of the user")
		fs.BoolVar(&r.events, "events", false, "print one JSON event per line instead of the answer")
		fs.BoolVar(&r.json, "json", false, "print one JSON object at the end instead of the answer")
		fs.BoolVar(&r.profile, "profile", false,
			"at the end show which nodes the run waited for and what one more slot would have saved; "+
				"a member of the output of --json")
		fs.StringVar(&r.progress, "progress", "auto", "show which node runs: auto (on a terminal), always or never")
		return r.run
	},
}

// runner is the run command with its flags.
type runner struct {
	world    world
	query    string
	inputs   string
	files    texts
	output   string
	state    string
	user     string
	events   bool
	json     bool
	profile  bool
	progress string
}

func (r *runner) run(ctx context.Context, a *app, args []string) error {
	switch {
	case len(args) > 1 && r.query == "":
		return misuse("run", "expected one canvas, got %d arguments; pass the user's text with -q", len(args))
	case len(args) != 1:
		return misuse("run", "expected one canvas, got %d", len(args))
	case r.events && r.json:
		return misuse("run", "--events and --json exclude each other")
	}
	a.scripts = r.world.scripts
	s, err := a.open(args[0], r.state)
	if err != nil {
		return err
	}
	if s.canvas.IsPipeline() {
		if r.profile {
			return misuse("run", "--profile does not apply to pipelines")
		}
		return r.runPipeline(ctx, a, s)
	}
	if r.output != "" {
		return misuse("run", "--output applies only to pipelines (canvases that start at File)")
	}
	in, err := r.input(ctx, a, s)
	if err != nil && ctx.Err() == nil {
		err = &usageError{"run", err}
	}
	if err != nil {
		return err
	}
	r.world.canvas = s.canvas.Document()
	options, err := r.world.options(a)
	if err != nil {
		return err
	}
	options.Ports.Canvases = a.canvasesBeside(args[0])
	shows, err := a.progress(r.progress)
	if err != nil {
		return err
	}
	p := &printer{out: a.out, err: a.err, progress: shows}
	if r.json || r.events {
		p.out = io.Discard
	}
	var timed timedEvents
	t := &turn{session: s, options: options, watch: func(e *engine.Event) {
		if r.profile {
			timed.add(e)
		}
		if r.events && e.Type.Wire() {
			fmt.Fprintf(a.out, "%s\n", e.JSON)
		}
		p.event(e)
	}}
	began := time.Now()
	err = r.turns(ctx, a, t, in)
	if p.progress && err == nil {
		p.note("done in %.2f s", time.Since(began).Seconds())
	}
	return errors.Join(err, r.report(a, t, p, &timed, err))
}

// report prints what flags ask for after the last turn, which ended with failed.
func (r *runner) report(a *app, t *turn, p *printer, timed *timedEvents, failed error) error {
	var spent *profile.Profile
	if r.profile {
		spent = timed.profile(t.session.canvas)
	}
	switch {
	case r.json:
		return r.printSummary(a, t, p, spent, failed)
	case r.profile:
		return spent.Write(a.err)
	}
	return nil
}

func (a *app) progress(choice string) (bool, error) {
	switch choice {
	case "auto":
		return a.shows, nil
	case "always", "never":
		return choice == "always", nil
	}
	return false, misuse("run", "--progress %s: expected auto, always or never", choice)
}

// input returns the input of the run from flags. On a terminal it prompts for the form of Begin or
// of a paused run.
func (r *runner) input(ctx context.Context, a *app, s *session) (engine.Input, error) {
	in := engine.Input{UserID: r.user}
	if r.query != "" {
		in.Query = engine.String(r.query)
	}
	given, err := a.readInputs(r.inputs)
	if err != nil {
		return in, err
	}
	if r.inputs == "" && a.asks {
		if given, err = a.ask(ctx, s.form(), ""); err != nil {
			return in, err
		}
	}
	if in.Inputs, err = r.world.complete(s, given); err != nil {
		return in, err
	}
	in.Files, err = r.world.attach(r.files)
	return in, err
}

// turns runs, and continues with the answers of each form while input is interactive.
func (r *runner) turns(ctx context.Context, a *app, t *turn, in engine.Input) error {
	for {
		if err := t.run(ctx, in); err != nil {
			return err
		}
		if t.pause.IsNull() {
			return nil
		}
		if !a.asks || r.events || r.json {
			return r.paused(a, t)
		}
		answers, err := a.ask(ctx, t.pause.Get("inputs"), t.pause.Get("tips").Text())
		if errors.Is(err, errUnanswered) {
			return errPaused
		}
		if err != nil {
			return err
		}
		if in.Inputs, err = r.world.complete(t.session, answers); err != nil {
			return err
		}
		in.Query, in.Files = engine.Null, engine.Null
	}
}

// paused reports the form that the run is paused at.
func (r *runner) paused(a *app, t *turn) error {
	if !r.events && !r.json {
		fmt.Fprintln(a.out, engine.Object("event", string(engine.EventUserInputs), "data", t.pause).JSON())
		if r.state == "" {
			fmt.Fprintln(a.err, "easel: the run is paused for input; pass --state FILE to resume it later")
		}
	}
	return errPaused
}

// printSummary prints the object of --json, with the profile if there is one.
func (r *runner) printSummary(a *app, t *turn, p *printer, spent *profile.Profile, failed error) error {
	v := r.summary(t, p, failed)
	if spent != nil {
		data, err := json.Marshal(spent)
		if err != nil {
			return err
		}
		parsed, err := engine.ParseJSON(data)
		if err != nil {
			return err
		}
		v = v.With("profile", parsed)
	}
	_, err := fmt.Fprintln(a.out, v.JSON())
	return err
}

// summary returns the object that --json prints.
func (r *runner) summary(t *turn, p *printer, err error) engine.Value {
	b := engine.NewObject(6)
	b.Set("answer", engine.String(p.answer.String())).Set("path", engine.Strings(t.session.state.Path()...))
	if !p.cited.IsNull() {
		b.Set("reference", p.cited)
	}
	if !t.pause.IsNull() {
		b.Set("user_inputs", t.pause)
	}
	if err != nil && !errors.Is(err, errPaused) {
		b.Set("error", engine.String(err.Error()))
	}
	return b.Value()
}
