// Package cli is the easel command: it runs, checks, records and serves canvases.
//
// Main is the program as a function of its arguments and streams, so tests call it in process. Each
// command is one file. Answers go to standard output; progress, warnings and errors to standard
// error. Output for programs is JSON (--json, --events).
package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
	"github.com/easel-canvas/easel/host/internal/code"
	"github.com/easel-canvas/easel/host/internal/code/python"
	"github.com/easel-canvas/easel/host/internal/code/script"
	"github.com/easel-canvas/easel/host/internal/page"
	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/host/internal/tools/native"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Exit codes of the program.
const (
	ExitOK       = 0   // done
	ExitFailed   = 1   // the run failed, or a case did not pass
	ExitUsage    = 2   // wrong arguments, or a file that cannot be read
	ExitPaused   = 3   // the run waits for a form
	ExitInvalid  = 4   // the canvas has errors
	ExitCanceled = 130 // stopped by Ctrl-C
)

// app holds the streams and the state that all commands share.
type app struct {
	in       *bufio.Reader
	out, err io.Writer // without characters that affect a terminal: err always, out if it is one
	screen   io.Writer // standard error as it is, for lines that are overwritten
	getenv   func(string) string
	registry *engine.Registry
	program  string      // how the program was called, for commands that it prints
	asks     bool        // standard input is a terminal
	shows    bool        // standard error is a terminal
	prints   bool        // standard output is a terminal, so that secrets may be printed
	page     bool        // the page is part of the program
	scripts  scriptPlace // where the command runs scripts
	ends     []func() error
}

// command is one subcommand of the program.
type command struct {
	name    string
	args    string // what follows the name, for help
	summary string // one line
	help    string // the rest
	setup   func(fs *flag.FlagSet) func(ctx context.Context, a *app, args []string) error
	verbs   func() []command // commands below this one, named "plugin install"
}

// commands in the order help shows them.
func commands() []command {
	return []command{
		runCommand, chatCommand, serveCommand, backupCommand, restoreCommand, exportCommand, importCommand, keyCommand,
		tracesCommand,
		tenantCommand, modelCommand, scheduleCommand, validateCommand, diffCommand, patchCommand, replayCommand,
		testCommand, recordCommand, componentsCommand, pluginCommand, pythonCommand, kbCommand, healthCommand,
		versionCommand, licencesCommand,
	}
}

// Internal commands by which the program starts worker processes; they are not in the help.
const (
	scriptWorker   = "script-worker"
	pluginCompiler = "plugin-compiler"
)

// Main runs the program with the arguments after its name and returns the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// After the first Ctrl-C the signal has its usual meaning again: a second one ends the program
	// at once.
	defer context.AfterFunc(ctx, stop)()
	if work := workers(stdin, stdout)[strings.Join(args, " ")]; work != nil {
		if err := work(ctx); err != nil {
			fmt.Fprintln(stderr, contract.Printable(err.Error()))
			return ExitFailed
		}
		return ExitOK
	}
	a, err := newApp(stdin, stdout, stderr)
	if err == nil {
		err = errors.Join(a.dispatch(ctx, args), a.end())
	}
	return a.exit(ctx, err)
}

// workers returns the internal commands of worker processes.
func workers(in io.Reader, out io.Writer) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		scriptWorker: func(ctx context.Context) error { return script.Work(ctx, in, out) },
		scriptWorker + " " + code.PythonWorker: func(ctx context.Context) error {
			return python.Work(ctx, in, out)
		},
		pluginCompiler: func(ctx context.Context) error { return plugin.CompileWork(ctx, in) },
	}
}

// atEnd registers a function that is called when the program ends.
func (a *app) atEnd(f func() error) { a.ends = append(a.ends, f) }

func (a *app) end() (err error) {
	for _, f := range a.ends {
		err = errors.Join(err, f())
	}
	return err
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) (*app, error) {
	a := &app{
		in: bufio.NewReader(stdin), out: stdout, err: &printableWriter{to: stderr}, screen: stderr, getenv: os.Getenv,
		program: calledAs(os.Args[0]),
		asks:    isTerminal(stdin), shows: isTerminal(stderr), prints: isTerminal(stdout),
		page: page.Built(),
	}
	if a.prints {
		a.out = &printableWriter{to: stdout}
	}
	var err error
	if a.registry, err = engine.NewRegistry(component.Builtin()...); err == nil {
		a.registry.Plugin = a.installed()
		a.registry.Missing = native.Missing(a.missing)
	}
	return a, err
}

// calledAs returns the program name for printed commands. The binary of `go run` is gone by then.
func calledAs(arg string) string {
	if strings.Contains(filepath.ToSlash(arg), "/go-build") && filepath.Base(filepath.Dir(arg)) == "exe" {
		return "go run github.com/easel-canvas/easel/host/cmd/easel"
	}
	return quoted(arg)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./@%+=:,~-]+$`)

// quoted quotes a word for the shell of this system.
func quoted(word string) string {
	switch {
	case plainWord.MatchString(word):
		return word
	case runtime.GOOS == "windows" && plainWord.MatchString(filepath.ToSlash(word)):
		return word
	case runtime.GOOS == "windows":
		return `"` + word + `"`
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// dispatch looks up the command, parses its flags and calls it.
func (a *app) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		a.usage(a.err)
		return &usageError{"", errShown}
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return a.help(rest)
	case "--version", "-version":
		name = "version"
	}
	c, err := find(name)
	if err != nil {
		return err
	}
	return a.call(ctx, c, rest)
}

func (a *app) call(ctx context.Context, c *command, args []string) error {
	if c.verbs != nil && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		v, err := c.verb(args[0])
		if err != nil {
			return err
		}
		return a.call(ctx, v, args[1:])
	}
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	run := c.setup(fs)
	positional, err := parse(fs, args)
	if errors.Is(err, flag.ErrHelp) {
		a.describe(a.out, c)
		return nil
	}
	if err != nil {
		return &usageError{c.name, flagError(fs, err)}
	}
	return run(ctx, a, positional)
}

// parse reads flags in any position up to "--".
func parse(fs *flag.FlagSet, args []string) (positional []string, err error) {
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return positional, nil
		}
		if stopped := len(args) - fs.NArg(); stopped > 0 && args[stopped-1] == "--" {
			return append(positional, fs.Args()...), nil
		}
		positional = append(positional, fs.Arg(0))
		args = fs.Args()[1:]
	}
}
