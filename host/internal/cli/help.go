package cli

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

const exitCodes = `Exit codes:
  0    done
  1    the run failed, or a case did not pass
  2    wrong arguments, or a file that cannot be read
  3    the run waits for a form; run again with --inputs and the same --state
  4    the canvas has errors
  130  stopped by Ctrl-C; what was done so far is saved
`

// usage prints the list of commands.
func (a *app) usage(w io.Writer) {
	fmt.Fprint(w, "easel runs agent canvases.\n\nUsage: easel COMMAND [ARGUMENTS]\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-11s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "  help        shows this list, or the help of a command: easel help run\n\n", exitCodes, "\n",
		modelHelp)
}

func (a *app) help(args []string) error {
	if len(args) == 0 {
		a.usage(a.out)
		return nil
	}
	c, err := find(args[0])
	if err != nil {
		return err
	}
	return a.helpBelow(c, args[1:])
}

// helpBelow shows the help of a command or of one of its verbs, as in `easel help plugin new`.
func (a *app) helpBelow(c *command, rest []string) error {
	if len(rest) == 0 {
		a.describe(a.out, c)
		return nil
	}
	if c.verbs == nil {
		return misuse("", "%q: `easel help %s` takes no further arguments", rest[0], c.name)
	}
	v, err := c.verb(rest[0])
	if err != nil {
		return err
	}
	return a.helpBelow(v, rest[1:])
}

// describe prints the help of one command.
func (a *app) describe(w io.Writer, c *command) {
	fmt.Fprintf(w, "easel %s: %s\n\nUsage: easel %s %s\n\n", c.name, c.summary, c.name, c.args)
	if c.help != "" {
		fmt.Fprintln(w, strings.TrimSpace(c.help)+"\n")
	}
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	c.setup(fs)
	first := true
	fs.VisitAll(func(f *flag.Flag) {
		if first {
			fmt.Fprintln(w, "Flags:")
			first = false
		}
		kind, text := flag.UnquoteUsage(f)
		if byDefault := defaultOf(f); byDefault != "" {
			text += " (default " + byDefault + ")"
		}
		fmt.Fprintf(w, "  %-26s %s\n", strings.TrimSpace(dashed(f.Name)+" "+kind), text)
	})
}

// defaultOf returns the default of a flag; "" for the zero value, which the flag's usage explains.
func defaultOf(f *flag.Flag) string {
	switch f.DefValue {
	case "0", "0s", "false":
		return ""
	}
	return f.DefValue
}
