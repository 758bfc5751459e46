package cli

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/enginetest"
)

var testCommand = command{
	name: "test", args: "FILE|DIR... [FLAGS]",
	summary: "plays recorded cases and reports which pass",
	help: `
A case contains a copy of the canvas it was recorded from. With --canvas FILE that canvas is played instead, so that the
case tests its current version. A folder means all .json files directly inside it. Exits with 1 if a case does not
pass.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		var t tester
		t.flags(fs)
		fs.StringVar(&t.only, "only", "", "`PATTERN` of case names, such as 'agent_*'")
		fs.BoolVar(&t.verbose, "v", false, "also list passed cases")
		fs.BoolVar(&t.json, "json", false, "print one JSON object per case: {name, file, passed, differences}")
		return t.run
	},
}

// tester is the test command with its flags.
type tester struct {
	replayer
	only    string
	verbose bool
	json    bool
}

func (t *tester) run(ctx context.Context, a *app, args []string) error {
	files, err := caseFiles(args)
	if err != nil {
		return &usageError{"test", err}
	}
	player, err := t.open(a)
	if err != nil {
		return err
	}
	passed, failed := 0, 0
	for _, file := range files {
		name := nameOf(file)
		if t.only != "" {
			if fits, err := path.Match(t.only, name); err != nil {
				return misuse("test", "--only %s: %w", t.only, err)
			} else if !fits {
				continue
			}
		}
		observed, original, err := player.play(ctx, file)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var differences []string
		if err != nil {
			differences = []string{err.Error()}
		} else {
			differences = enginetest.Compare(original, observed)
		}
		if len(differences) == 0 {
			passed++
		} else {
			failed++
		}
		t.report(a, name, file, differences)
	}
	if !t.json {
		fmt.Fprintf(a.out, "%d passed, %d failed\n", passed, failed)
	}
	if failed > 0 {
		return errFailed
	}
	return nil
}

func (t *tester) report(a *app, name, file string, differences []string) {
	switch {
	case t.json:
		fmt.Fprintln(a.out, engine.Object("name", name, "file", file, "passed", len(differences) == 0, "differences",
			differences).JSON())
	case len(differences) > 0:
		fmt.Fprintf(a.out, "FAIL %s\n", name)
		for _, d := range differences {
			fmt.Fprintf(a.out, "     %s\n", d)
		}
	case t.verbose:
		fmt.Fprintf(a.out, "ok   %s\n", name)
	}
}

func nameOf(file string) string {
	base := filepath.Base(file)
	return base[:len(base)-len(filepath.Ext(base))]
}

// caseFiles returns the case files in the arguments.
func caseFiles(args []string) ([]string, error) {
	if len(args) == 0 {
		return nil, fmt.Errorf("expected at least one case or folder")
	}
	var out []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			out = append(out, arg)
			continue
		}
		found, err := filepath.Glob(filepath.Join(arg, "*.json"))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no .json files", arg)
		}
		out = append(out, found...)
	}
	return out, nil
}
