// Package wallclock measures how long runs take beside their critical paths, with doubles of
// models and tools that take fixed times: shapes of canvases in each mode of scheduling, the same
// graphs on other frameworks (build/bench/peers), and real canvases if there are any.
package wallclock

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/engine/component"
)

// Modes are those of settings.scheduling; batch is the order of the original.
var Modes = []string{"batch", "eager"}

// slots is how many nodes of a run may be at work at once.
const slots = 32

// Peer is another framework that runs graphs of tasks.
type Peer struct {
	Name string
	// Command runs one graph, which it reads from standard input as {"unit_ms", "tasks"}, and
	// prints the seconds that it took.
	Command func(ctx context.Context, input []byte) ([]byte, error)
}

// Report measures all shapes and prints a table of wall time / critical path.
func Report(ctx context.Context, w io.Writer, unit time.Duration, peers []Peer) error {
	fmt.Fprintf(w, "\n%-40s %9s", fmt.Sprintf("wall / critical path, unit %s", unit), "critical")
	for _, mode := range Modes {
		fmt.Fprintf(w, " %12s", mode)
	}
	for _, p := range peers {
		fmt.Fprintf(w, " %12s", p.Name)
	}
	fmt.Fprintln(w)
	for _, s := range shapes {
		critical := time.Duration(s.critical * float64(unit))
		fmt.Fprintf(w, "%-40s %9s", s.name, critical)
		for _, mode := range Modes {
			took, err := best(func() (time.Duration, error) { return run(ctx, s.nodes, mode, unit) })
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, mode, err)
			}
			fmt.Fprintf(w, " %12.2f", took.Seconds()/critical.Seconds())
		}
		for _, p := range peers {
			cell, err := p.measure(ctx, &s, unit, critical)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, p.Name, err)
			}
			fmt.Fprintf(w, " %12s", cell)
		}
		fmt.Fprintln(w)
	}
	return real(ctx, w, unit)
}

// measure is the cell of a peer in the table.
func (p *Peer) measure(ctx context.Context, s *shape, unit, critical time.Duration) (string, error) {
	if s.tasks == nil {
		return "-", nil
	}
	input, err := json.Marshal(map[string]any{"unit_ms": unit.Milliseconds(), "tasks": s.tasks})
	if err != nil {
		return "", err
	}
	took, err := best(func() (time.Duration, error) {
		out, err := p.Command(ctx, input)
		if err != nil {
			return 0, err
		}
		var seconds float64
		if _, err := fmt.Sscan(string(out), &seconds); err != nil {
			return 0, fmt.Errorf("output %q: %w", out, err)
		}
		return time.Duration(seconds * float64(time.Second)), nil
	})
	return fmt.Sprintf("%.2f", took.Seconds()/critical.Seconds()), err
}

// rounds is how often each shape runs. The best round counts: other programs only slow it down.
const rounds = 3

func best(measure func() (time.Duration, error)) (time.Duration, error) {
	var least time.Duration
	for i := range rounds {
		took, err := measure()
		if err != nil {
			return 0, err
		}
		if i == 0 || took < least {
			least = took
		}
	}
	return least, nil
}

// run runs a canvas of components once.
func run(ctx context.Context, components engine.Value, mode string, unit time.Duration) (time.Duration, error) {
	doc := engine.Object("components", components, "path", engine.List(), "history", engine.List(), "retrieval",
		engine.List(), "globals", engine.Object())
	return runDocument(ctx, doc, mode, unit)
}

func runDocument(ctx context.Context, doc engine.Value, mode string, unit time.Duration) (time.Duration, error) {
	doc = doc.With("settings", doc.Get("settings").With("scheduling", engine.String(mode)))
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		return 0, err
	}
	canvas, err := engine.Load(registry, doc.AppendJSON(nil))
	if err != nil {
		return 0, err
	}
	d := &double{unit}
	options := engine.Options{Ports: engine.Ports{Model: d, Tools: d}, Concurrency: slots}
	began := time.Now()
	for _, err := range canvas.Run(ctx, canvas.State(), engine.Input{Query: engine.String(query)}, options) {
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// real runs the canvases of the folder EASEL_CANVASES, each model call one unit.
func real(ctx context.Context, w io.Writer, unit time.Duration) error {
	folder := os.Getenv("EASEL_CANVASES")
	if folder == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%-40s %9s", "real canvases, wall in units", "")
	for _, mode := range Modes {
		fmt.Fprintf(w, " %12s", mode)
	}
	fmt.Fprintln(w)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		doc, err := engine.ParseJSON(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if dsl := doc.Get("dsl"); !dsl.IsNull() {
			doc = dsl
		}
		fmt.Fprintf(w, "%-50s", strings.TrimSuffix(filepath.Base(file), ".json"))
		for _, mode := range Modes {
			took, err := runDocument(ctx, doc, mode, unit)
			cell := fmt.Sprintf("%.2f", took.Seconds()/unit.Seconds())
			if err != nil {
				cell = "failed" // it needs more than models and tools
			}
			fmt.Fprintf(w, " %12s", cell)
		}
		fmt.Fprintln(w)
	}
	return nil
}
