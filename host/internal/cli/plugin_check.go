package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/easel-canvas/easel/host/internal/cli/pluginkit"
	"github.com/easel-canvas/easel/host/internal/disk"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

var pluginTest = command{
	name: "plugin test", args: "FILE [FLAGS]", summary: "runs a plugin's cases and robustness checks",
	help: `
Every case is played on three fresh instances and, if Node.js is installed, in the kernel of web pages; all must
agree in outputs and fuel. Then the plugin is tested with invalid input, canceled calls, failing services, and two
tenants. Web services and models answer from the case; nothing reaches the network. Exits with 1 if a check failed;
warnings pass.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		t := &pluginTester{}
		t.flags(fs)
		fs.StringVar(&t.cases, "cases", "", "`FILE` of cases instead of those in the plugin")
		fs.StringVar(&t.report, "report", "", "`FILE` of the last report, to compare with; replaced on success")
		fs.StringVar(&t.junit, "junit", "", "`FILE` to write a JUnit report to")
		fs.StringVar(&t.node, "node", "node", "Node.js `PROGRAM`; empty skips the tests in Node.js")
		fs.BoolVar(&t.verbose, "v", false, "also list passed cases and the plugin's log")
		return func(ctx context.Context, a *app, args []string) error {
			file, err := one("test", "FILE", args)
			if err != nil {
				return err
			}
			return t.run(ctx, a, file)
		}
	},
}

// pluginTester is the test verb with its flags.
type pluginTester struct {
	pluginPlace
	cases, report, junit, node string
	verbose                    bool
}

func (t *pluginTester) run(ctx context.Context, a *app, file string) error {
	var wasm []byte
	if err := t.with(ctx, a, func(h *plugin.Host) (err error) {
		wasm, err = source(ctx, h, file)
		return err
	}); err != nil {
		return err
	}
	r, err := t.play(ctx, a, wasm)
	if err != nil {
		return err
	}
	if t.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		t.print(a, r)
	}
	if t.junit != "" {
		raw, err := r.JUnit()
		if err != nil {
			return err
		}
		if err := disk.Replace(t.junit, raw); err != nil {
			return err
		}
	}
	if !r.Passed() {
		return errFailed
	}
	if t.report == "" {
		return nil
	}
	raw, err := r.JSON()
	if err != nil {
		return err
	}
	return disk.Replace(t.report, raw)
}

func (t *pluginTester) play(ctx context.Context, a *app, wasm []byte) (*pluginkit.Report, error) {
	cases, err := pluginkit.CasesOf(wasm)
	if t.cases != "" {
		var raw []byte
		if raw, err = os.ReadFile(t.cases); err == nil {
			cases, err = pluginkit.ReadCases(raw)
		}
	}
	if err != nil {
		return nil, &usageError{"", err}
	}
	dir, err := t.folder(a)
	if err != nil {
		return nil, err
	}
	o := pluginkit.Options{CacheDir: filepath.Join(dir, "cache")}
	if o.Node, err = exec.LookPath(t.node); err != nil {
		o.Node = "" // the report contains the error
	}
	if o.Last, err = lastReport(t.report); err != nil {
		return nil, err
	}
	return pluginkit.Run(ctx, wasm, cases, o)
}

func lastReport(path string) (*pluginkit.Report, error) {
	if path == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &usageError{"", err}
	}
	var r pluginkit.Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("report %s: %w", path, err)
	}
	return &r, nil
}

func (t *pluginTester) print(a *app, r *pluginkit.Report) {
	count := map[string]int{}
	for _, c := range r.Checks {
		count[c.Outcome]++
		if c.Outcome != pluginkit.OK || t.verbose {
			fmt.Fprintf(a.out, "%-8s %s", c.Outcome, c.Name)
			if c.Detail != "" {
				fmt.Fprintf(a.out, ": %s", c.Detail)
			}
			fmt.Fprintln(a.out)
		}
		if t.verbose {
			for _, line := range c.Log {
				fmt.Fprintf(a.out, "%-8s %s %q\n", "log", line.Level, line.Text)
			}
		}
	}
	fmt.Fprintf(a.out, "%s %s, %d KB: %d ok, %d warnings, %d failed\n",
		r.Plugin, r.Version, r.Bytes>>10, count[pluginkit.OK], count[pluginkit.Warning], count[pluginkit.Failed])
}
