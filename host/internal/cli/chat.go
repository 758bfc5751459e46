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
	summary: "chats with a canvas in the terminal",
	help: `
Each line is a turn. Forms are prompted for when a run pauses. A line that begins with / is a command: /file PATH adds a
file to the next turn, for sys.files; /reset starts a new conversation; /exit, or the end of the input, ends
the program. // begins a turn whose text begins with /.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		c := &chatter{}
		c.world.flags(fs)
		fs.StringVar(&c.inputs, "inputs", "", "form fields of Begin: a `JSON` object or a file with one")
		fs.StringVar(&c.state, "state", "", "`FILE` with the state of the conversation")
		fs.StringVar(&c.user, "user", "local", "`ID` of the user")
		fs.StringVar(&c.progress, "progress", "auto", "show which node runs: auto (on a terminal), always or never")
		return c.run
	},
}

// chatter is the chat command with its flags.
type chatter struct {
	world    world
	inputs   string
	state    string
	user     string
	progress string

	files texts // of the next turn
}

func (c *chatter) run(ctx context.Context, a *app, args []string) error {
	if len(args) != 1 {
		return misuse("chat", "expected one canvas, got %d", len(args))
	}
	a.scripts = c.world.scripts
	s, err := a.open(args[0], c.state)
	if err != nil {
		return err
	}
	c.world.canvas = s.canvas.Document()
	options, err := c.world.options(a)
	if err != nil {
		return err
	}
	options.Ports.Canvases = a.canvasesBeside(args[0])
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

// loop runs the conversation. A failed turn is reported, and the conversation continues.
func (c *chatter) loop(ctx context.Context, a *app, t *turn, given engine.Value, shows bool) error {
	for {
		in, err := c.next(ctx, a, t, given)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		in.UserID = c.user
		p := &printer{out: a.out, err: a.err, progress: shows}
		t.watch = p.event
		err = t.run(ctx, in)
		if errors.Is(err, engine.ErrCanceled) {
			return err
		}
		if err != nil {
			fmt.Fprintf(a.err, "easel: %v\n", err)
		}
	}
}

// next reads the input of the next turn. It returns io.EOF at the end of the conversation.
func (c *chatter) next(ctx context.Context, a *app, t *turn, given engine.Value) (in engine.Input, err error) {
	if t.session.state.Paused() {
		return c.answers(ctx, a, t)
	}
	text, err := c.text(ctx, a, t)
	if err != nil {
		return in, err
	}
	in.Query = engine.String(text)
	if in.Files, err = c.world.attach(c.files); err != nil {
		return in, err
	}
	c.files = nil
	in.Inputs, err = c.world.complete(t.session, given)
	return in, err
}

// text reads lines and runs commands until a line is a message.
func (c *chatter) text(ctx context.Context, a *app, t *turn) (string, error) {
	for {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if a.asks {
			fmt.Fprint(a.err, "> ")
		}
		line, err := a.line(ctx)
		switch {
		case err != nil:
			return "", err
		case line == "":
			continue
		case !strings.HasPrefix(line, "/"):
			return line, nil
		case strings.HasPrefix(line, "//"):
			return line[1:], nil
		}
		err = c.command(t, line)
		if errors.Is(err, io.EOF) {
			return "", err
		}
		if err != nil {
			fmt.Fprintf(a.err, "easel: %v\n", err)
		}
	}
}

// answers prompts for the fields of the form that the conversation is paused at.
func (c *chatter) answers(ctx context.Context, a *app, t *turn) (in engine.Input, err error) {
	fields := t.pause.Get("inputs")
	if t.pause.IsNull() { // the state was saved while a form was open
		fields = t.session.form()
	}
	filled, err := a.ask(ctx, fields, t.pause.Get("tips").Text())
	if errors.Is(err, errUnanswered) {
		return in, errPaused
	}
	if err != nil {
		return in, err
	}
	in.Inputs, err = c.world.complete(t.session, filled)
	return in, err
}

// command runs a line such as /reset. It returns io.EOF at the end of the conversation; other
// errors are mistakes in the line.
func (c *chatter) command(t *turn, line string) error {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	switch {
	case name == "/file" && argument == "":
		return errors.New("/file: missing path of a file")
	case name == "/file":
		if _, err := c.world.uploads.Add(argument); err != nil {
			return err
		}
		c.files = append(c.files, argument)
		return nil
	case name != "/exit" && name != "/reset":
		return fmt.Errorf("unknown command %s%s; the commands are /file PATH, /reset, /exit; // begins a text with /",
			name, didYouMean(name, []string{"/file", "/reset", "/exit"}))
	case argument != "":
		return fmt.Errorf("%s takes no further arguments", name)
	case name == "/exit":
		return io.EOF
	}
	t.session.state.Reset(false)
	return nil
}

// prologue returns the greeting of a canvas.
func prologue(c *engine.Canvas) string {
	return engine.StartParams(c.Document()).Get("prologue").Text()
}
