package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/plugin"
)

// devInterval is the pause between two reads of the folder.
const devInterval = 300 * time.Millisecond

var pluginDev = command{
	name: "plugin dev", args: "DIR [FLAGS]",
	summary: "rebuilds a plugin when its source changes, and calls it from a page or per input line",
	help: `
Each line of standard input is one call: a JSON object of arguments and params, or an empty line for those of --arg. A
successful build replaces the module at once: new calls use the new module, running ones finish with the old one. After
a failed build the old one stays. Ctrl-C or the end of the input ends the program.

It also prints the address of a page with a canvas around the plugin, which follows each build. There the plugin runs in
the page, with the permissions granted there.`,
	setup: func(fs *flag.FlagSet) func(context.Context, *app, []string) error {
		d := &pluginDeveloper{}
		d.flags(fs)
		fs.StringVar(&d.addr, "addr", "127.0.0.1:0", "`ADDRESS` of the page; empty for none")
		return func(ctx context.Context, a *app, args []string) error {
			dir, err := one("dev", "DIR", args)
			if err != nil {
				return err
			}
			d.logs, d.howToSet = a.pluginLog(), howToSetByFlag
			return d.with(ctx, a, func(h *plugin.Host) error { return d.run(ctx, a, h, dir) })
		}
	},
}

// pluginDeveloper is the dev verb. One goroutine watches and builds, the caller's runs the lines;
// they share module.
type pluginDeveloper struct {
	pluginRunner
	addr string   // of the page
	page *devPage // nil if addr is empty

	mu     sync.Mutex
	module *plugin.Module
}

func (d *pluginDeveloper) run(ctx context.Context, a *app, h *plugin.Host, dir string) error {
	seen, err := readStates(dir)
	if err != nil {
		return &usageError{"", err}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	end, err := d.openPage(ctx, a)
	if err != nil {
		return err
	}
	d.build(ctx, a, h, dir)
	var watching sync.WaitGroup
	watching.Go(func() { d.watch(ctx, a, h, dir, seen) })
	err = d.lines(ctx, a)
	stop()
	watching.Wait()
	return errors.Join(err, end())
}

// openPage serves the page, unless --addr is empty, until end.
func (d *pluginDeveloper) openPage(ctx context.Context, a *app) (end func() error, err error) {
	if d.addr == "" {
		return func() error { return nil }, nil
	}
	values, err := d.arguments(d.module)
	if err != nil {
		return nil, err
	}
	d.page = newDevPage(values)
	d.page.component = d.component
	return d.page.serve(ctx, a, d.addr)
}

// watch builds whenever a file of the folder changes. A file that changes during a build may be an
// edit, which is built next, or the build wrote it: then the next build changes it as well.
func (d *pluginDeveloper) watch(ctx context.Context, a *app, h *plugin.Host, dir string, seen fileStates) {
	tick := time.NewTicker(devInterval)
	defer tick.Stop()
	written := fileStates{} // during the last build
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, err := readStates(dir)
		if err != nil || maps.Equal(now, seen) { // a file may vanish while an editor saves it
			continue
		}
		d.build(ctx, a, h, dir)
		after, err := readStates(dir)
		if err != nil {
			after = now
		}
		seen, written = now.accept(after, written)
	}
}

// fileStates has the size and time of each file of a folder, by path.
type fileStates map[string]string

// readStates reads the states of all files except built modules.
func readStates(dir string) (fileStates, error) {
	states := fileStates{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if name := e.Name(); name == "node_modules" || strings.HasPrefix(name, ".") && path != dir {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := e.Info()
		if err != nil || strings.HasSuffix(path, ".wasm") {
			return err
		}
		states[path] = fmt.Sprint(info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return states, err
}

// accept returns the states before a build with those that also changed during the build before it,
// and the states this build changed. A removed file has the state "".
func (before fileStates) accept(after, last fileStates) (seen, written fileStates) {
	seen, written = maps.Clone(before), fileStates{}
	for _, states := range []fileStates{before, after} {
		for path := range states {
			if after[path] == before[path] {
				continue
			}
			written[path] = after[path]
			if _, again := last[path]; !again {
				continue
			}
			seen[path] = after[path]
			if after[path] == "" {
				delete(seen, path)
			}
		}
	}
	return seen, written
}

// build builds a new module and replaces the old one, whose calls finish.
func (d *pluginDeveloper) build(ctx context.Context, a *app, h *plugin.Host, dir string) {
	began := time.Now()
	wasm, err := source(ctx, h, dir)
	var m *plugin.Module
	if err == nil {
		m, err = h.Load(ctx, wasm, plugin.LoadOptions{Granted: d.granted()})
	}
	if err != nil {
		if ctx.Err() == nil {
			fmt.Fprintf(a.err, "easel: %v\n", err)
			d.page.failed(err)
		}
		return
	}
	d.mu.Lock()
	old := d.module
	d.module = m
	d.mu.Unlock()
	d.page.built(wasm, m)
	fmt.Fprintf(a.err, "%s %s is ready after %s: %s\n",
		m.Manifest().Name, m.Manifest().Version, time.Since(began).Round(time.Millisecond), m.Digest()[:12])
	if old != nil {
		ended, end := context.WithCancel(context.Background())
		end()
		if err := old.Close(ended); err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintf(a.err, "easel: %v\n", err)
		}
	}
}

// lines calls the plugin once per input line.
func (d *pluginDeveloper) lines(ctx context.Context, a *app) error {
	lines := make(chan string)
	go func() { // ends with the input; a terminal keeps it until the program ends
		defer close(lines)
		in := bufio.NewScanner(a.in)
		in.Buffer(nil, 16<<20)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, more := <-lines:
			if !more {
				return nil
			}
			if err := d.line(ctx, a, line); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				fmt.Fprintf(a.err, "easel: %v\n", err)
			}
		}
	}
}

func (d *pluginDeveloper) line(ctx context.Context, a *app, line string) error {
	d.mu.Lock()
	m := d.module
	d.mu.Unlock()
	if m == nil {
		return errors.New("no successful build yet")
	}
	values, err := d.arguments(m)
	if err != nil {
		return err
	}
	if line = strings.TrimSpace(line); line != "" {
		given, err := engine.ParseJSONText(line)
		if err != nil || given.Kind() != engine.KindObject {
			return fmt.Errorf("a line is a JSON object of arguments, such as {\"city\": \"Oslo\"}")
		}
		for name, v := range given.Fields() {
			values = values.With(name, v)
		}
	}
	return d.call(ctx, a, m, values)
}
