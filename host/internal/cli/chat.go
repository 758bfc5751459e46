package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/easel-canvas/easel/engine"
)

var chatCommand = command{
	name: "chat", args: "CANVAS.json [FLAGS]",
	summary: "talks to a canvas, turn by turn",
	help: `
Each line is a turn. Forms are asked for where they come up. /file PATH hands a file over with the next turn, for
sys.files; /reset starts the conversation anew; /exit, or the end of the input, ends the program.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		c := &chatter{}
		c.world.flags(fs)
		fs.StringVar(&c.inputs, "inputs", "", "form fields of the beginning: `JSON` object, or file that holds one")
		fs.StringVar(&c.state, "state", "", "`FILE` that keeps the conversation")
		fs.StringVar(&c.user, "user", "local", "`ID` of the user")
		fs.StringVar(&c.progress, "progress", "auto", "show which node runs: auto (on a terminal), always or never")
		return c.run
	},
}

// chatter is the command chat with its flags.
type chatter struct {
	world    world
	inputs   string
	state    string
	user     string
	progress string
}

func (c *chatter) run(ctx context.Context, a *app, args []string) error {
	if len(args) != 1 {
		return misuse("chat", "one canvas is needed, not %d", len(args))
	}
	s, err := a.open(args[0], c.state)
	if err != nil {
		return err
	}
	options, err := c.world.options(a)
	if err != nil {
		return err
	}
	shows, err := a.progress(c.progress)
	if err != nil {
		return err
	}
	given, err := a.readInputs(c.inputs)
	if err != nil {
		return &usageError{"chat", err}
	}
	if c.inputs == "" && a.asks && !s.state.Paused() {
		if given, err = a.ask(ctx, s.form(), ""); err != nil {
			return err
		}
	}
	if text := prologue(s.canvas); text != "" && len(s.state.History()) == 0 {
		fmt.Fprintln(a.out, text)
	}
	return c.loop(ctx, a, &turn{session: s, options: options}, given, shows)
}

// loop is the conversation. A turn that fails is told, and the conversation goes on.
func (c *chatter) loop(ctx context.Context, a *app, t *turn, given engine.Value, shows bool) error {
	var files texts // of the next turn
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var in engine.Input
		if !t.session.state.Paused() {
			if a.asks {
				fmt.Fprint(a.err, "> ")
			}
			line, err := a.line(ctx)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			switch line {
			case "":
				continue
			case "/exit":
				return nil
			case "/reset":
				t.session.state.Reset(false)
				continue
			}
			if path, ok := strings.CutPrefix(line, "/file "); ok {
				path = strings.TrimSpace(path)
				if _, err := c.world.uploads.Add(path); err != nil {
					fmt.Fprintf(a.err, "easel: %v\n", err)
				} else {
					files = append(files, path)
				}
				continue
			}
			in.Query = engine.String(line)
			if in.Files, err = c.world.attach(files); err != nil {
				return err
			}
			files = nil
			if in.Inputs, err = c.world.complete(t.session, given); err != nil {
				return err
			}
		} else {
			fields := t.pause.Get("inputs")
			if t.pause.IsNull() { // the state was saved while a form was open
				fields = t.session.form()
			}
			answers, err := a.ask(ctx, fields, t.pause.Get("tips").Text())
			if errors.Is(err, errUnanswered) {
				return errPaused
			}
			if err != nil {
				return err
			}
			if in.Inputs, err = c.world.complete(t.session, answers); err != nil {
				return err
			}
		}
		in.UserID = c.user
		p := &printer{out: a.out, err: a.err, progress: shows}
		t.watch = p.event
		err := t.run(ctx, in)
		if errors.Is(err, engine.ErrCanceled) {
			return err
		}
		if err != nil {
			fmt.Fprintf(a.err, "easel: %v\n", err)
		}
	}
}

// prologue is the greeting of a canvas.
func prologue(c *engine.Canvas) string {
	return c.Document().Get("components").Get("begin").Get("obj").Get("params").Get("prologue").Text()
}
