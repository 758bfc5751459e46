// Package wallclock compares the durations of runs with their critical paths, with doubles of
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

// Modes of settings.scheduling; batch is the order of the original.
var Modes = []string{"batch", "eager"}

// Most is the largest ratio of an eager run of a shape to its critical path.
const Most = 1.02

// slots is the number of nodes of a run that may be active at once.
const slots = 32

// Peer is another framework that runs graphs of tasks.
type Peer struct {
	Name string
	// Command runs one graph, which it reads from standard input as {"unit_ms", "tasks"}, and
	// prints its duration in seconds.
	Command func(ctx context.Context, input []byte) ([]byte, error)
}

// Report measures all shapes and prints a table of wall time / critical path. It fails when an
// eager run of a shape takes more than most times its critical path, if most is not 0.
func Report(ctx context.Context, w io.Writer, unit time.Duration, most float64, peers []Peer) error {
	fmt.Fprintf(w, "\n%-40s %9s", fmt.Sprintf("wall / critical path, unit %s", unit), "critical")
	for _, mode := range Modes {
		fmt.Fprintf(w, " %12s", mode)
	}
	for _, p := range peers {
		fmt.Fprintf(w, " %12s", p.Name)
	}
	fmt.Fprintln(w)
	var over []string
	for _, s := range shapes {
		critical := time.Duration(s.critical * float64(unit))
		fmt.Fprintf(w, "%-40s %9s", s.name, critical)
		for _, mode := range Modes {
			took, err := best(func() (time.Duration, error) { return run(ctx, s.nodes, mode, unit) })
			if err != nil {
				return fmt.Errorf("%s, %s: %w", s.name, mode, err)
			}
			ratio := took.Seconds() / critical.Seconds()
			fmt.Fprintf(w, " %12.3f", ratio)
			if mode == "eager" && most > 0 && ratio > most {
				over = append(over, s.name)
			}
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
	if err := real(ctx, w, unit); err != nil || len(over) == 0 {
		return err
	}
	return fmt.Errorf("eager runs take more than %g of their critical path: %s", most, strings.Join(over, "; "))
}

// measure returns the cell of a peer in the table.
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

// rounds is the number of runs of each shape. The best round counts, since other programs only slow
// it down.
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
	took, _, err := runDocument(ctx, doc, mode, unit)
	return took, err
}

// uploads are the files of a run.
var uploads = engine.List(
	engine.Object("name", "a.txt"), engine.Object("name", "b.txt"), engine.Object("name", "c.txt"))

// mostAnswers bounds the forms of a canvas that are answered.
const mostAnswers = 5

// runDocument runs a canvas once and answers its forms. It also returns the calls.
func runDocument(
	ctx context.Context, doc engine.Value, mode string, unit time.Duration,
) (took time.Duration, calls []made, err error) {
	doc = doc.With("settings", doc.Get("settings").With("scheduling", engine.String(mode)))
	registry, err := engine.NewRegistry(component.Builtin()...)
	if err != nil {
		return 0, nil, err
	}
	canvas, err := engine.Load(registry, doc.AppendJSON(nil))
	if err != nil {
		return 0, nil, err
	}
	d := &double{unit: unit}
	ports := engine.Ports{Model: d, Tools: d, Retriever: d, Files: d}
	options := engine.Options{Ports: ports, Concurrency: slots}
	state, input := canvas.State(), engine.Input{Query: engine.String(query), Files: uploads}
	began := time.Now()
	for n := 0; n == 0 || state.Paused() && n <= mostAnswers; n++ {
		answers := engine.NewObject(4)
		for e, err := range canvas.Run(ctx, state, input, options) {
			if err != nil {
				return 0, nil, err
			}
			if e.Type == engine.EventUserInputs {
				for name := range e.Data().Get("inputs").Fields() {
					answers.Set(name, engine.Object("value", "go"))
				}
			}
		}
		input = engine.Input{Inputs: answers.Value()}
	}
	return time.Since(began), d.calls, nil
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
	fmt.Fprintf(w, "\n%-50s %9s", "real canvases, wall / critical path in units", "critical")
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
		ratios, chain := "", 0.0
		for _, mode := range Modes {
			took, calls, err := runDocument(ctx, doc, mode, unit)
			chain = critical(doc.Get("components"), calls)
			cell := fmt.Sprintf("%.3f", took.Seconds()/unit.Seconds()/chain)
			switch {
			case err != nil:
				cell = "failed" // it needs more than a model, tools, passages and texts
			case chain == 0:
				cell = "no calls"
			}
			ratios += fmt.Sprintf(" %12s", cell)
		}
		fmt.Fprintf(w, " %9.4g%s", chain, ratios)
		fmt.Fprintln(w)
	}
	return nil
}
