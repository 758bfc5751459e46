// Package pluginkit is the conformance kit behind `easel plugin test`, which authors run before a
// release. It also tests the examples of this repository.
//
// [Run] takes the bytes of a plugin and its cases. It loads the plugin as a host does, plays every
// case on three fresh instances, and once in Node, and requires the same outputs and the same fuel
// each time. Then it sends the plugin bad calls: input that is empty, huge, no UTF-8 or full of
// unknown fields; callers that cancel at each emit; services that fail or are denied; another
// tenant after an error. The plugin may return an error, but it must not fault. Clock and chance
// are pinned, and nothing reaches the network: requests are answered from the case.
//
// The report lists the outcomes, and the size, fuel and memory of the plugin compared with an
// earlier report.
package pluginkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/easel-canvas/easel/host/internal/plugin"
	"github.com/easel-canvas/easel/plugins/contract"
)

// Options configure Run. The zero value works.
type Options struct {
	CacheDir string  // of compiled code; empty keeps none
	Last     *Report // to compare with; nil compares with nothing
	Node     string  // program of Node.js 20 or later, which plays the cases too; empty is none
}

// Report is the result of a run of the kit.
type Report struct {
	Plugin  string           `json:"plugin"`
	Version string           `json:"version"`
	Digest  string           `json:"digest"`
	Bytes   int              `json:"bytes"`
	StartUS int64            `json:"start_us"` // first load with a warm cache, in microseconds
	Fuel    map[string]int64 `json:"fuel"`     // per case
	Memory  map[string]int64 `json:"memory"`   // bytes of the guest after each case
	Checks  []Check          `json:"checks"`
}

// Check is one thing the kit looked at.
type Check struct {
	Name    string `json:"name"`
	Outcome string `json:"outcome"` // ok, warning or failed
	Detail  string `json:"detail,omitempty"`
	// Log has the lines that the plugin logged while a case was played.
	Log []plugin.LogLine `json:"log,omitempty"`
}

// The outcomes of a check.
const (
	OK      = "ok"
	Warning = "warning"
	Failed  = "failed"
)

// Passed reports whether nothing failed; warnings pass.
func (r *Report) Passed() bool {
	for _, c := range r.Checks {
		if c.Outcome == Failed {
			return false
		}
	}
	return true
}

func (r *Report) add(name, outcome, format string, args ...any) {
	r.Checks = append(r.Checks, Check{Name: name, Outcome: outcome, Detail: fmt.Sprintf(format, args...)})
}

// verdict adds a check that failed when err is one.
func (r *Report) verdict(name string, err error) {
	if err != nil {
		r.add(name, Failed, "%v", err)
		return
	}
	r.add(name, OK, "")
}

// kit is one run.
type kit struct {
	report  *Report
	wasm    []byte
	options Options
	cases   []Case
	first   map[string]*outcome // of the cases that passed, on a fresh instance
}

// Run plays the kit. The error means that it could not start; what is wrong with the plugin is in
// the report.
func Run(ctx context.Context, wasm []byte, cases []Case, o Options) (*Report, error) {
	k := &kit{
		report: &Report{Bytes: len(wasm), Fuel: map[string]int64{}, Memory: map[string]int64{}},
		wasm:   wasm, options: o, cases: cases, first: map[string]*outcome{},
	}
	bench, err := k.bench(ctx)
	if err != nil {
		return nil, err
	}
	defer bench.close()
	m, err := bench.load(ctx)
	if err != nil {
		k.report.add("load", Failed, "%v", err)
		return k.report, nil
	}
	k.report.Plugin, k.report.Version, k.report.Digest = m.Manifest().Name, m.Manifest().Version, m.Digest()
	k.report.add("load", OK, "sections, imports, meter, manifest and first instance")
	k.lint(m.Manifest())
	if err := k.restart(ctx); err != nil {
		return nil, err
	}
	if len(cases) == 0 {
		k.report.add("cases", Warning, "no cases; write one in cases.json")
	}
	for _, c := range cases {
		if err := k.play(ctx, c); err != nil {
			return nil, err
		}
	}
	if err := k.node(ctx); err != nil {
		return nil, err
	}
	k.badInput(ctx, bench, m)
	if len(cases) > 0 {
		k.cancel(ctx, bench, m, cases[0])
		k.services(ctx, bench, m, cases[0])
		if err := k.neighbours(ctx, cases[0]); err != nil {
			return nil, err
		}
	}
	k.compare()
	return k.report, ctx.Err()
}

// bench is a separate host, with pinned clock and chance, and the world of one case.
type bench struct {
	host  *plugin.Host
	world *world
	wasm  []byte
}

func (k *kit) bench(ctx context.Context) (*bench, error) { return k.benchWith(ctx, 0) }

// benchWith makes a bench whose plugins of no state share instances that take longer than
// freshUnder to make; negative means always, 0 what the host does.
func (k *kit) benchWith(ctx context.Context, freshUnder time.Duration) (*bench, error) {
	b := &bench{world: &world{}, wasm: k.wasm}
	h, err := plugin.New(ctx, plugin.Config{
		CacheDir: k.options.CacheDir, HTTP: b.world, Random: zeroes{}, Trust: plugin.Trust{Local: plugin.Off},
		Now: now,
		Log: slog.New(slog.DiscardHandler), FreshUnder: freshUnder,
		HowToSet: func(_ string, kind plugin.SettingKind, name string) string {
			return fmt.Sprintf("set it in %ss of the case, as %q: VALUE", kind, name)
		},
	})
	b.host = h
	return b, err
}

// now is the clock of every call, and chance what each byte of chance is.
func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

const chance = 7

// zeroes is chance without surprise.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) { return copy(p, bytes.Repeat([]byte{chance}, len(p))), nil }

func (b *bench) load(ctx context.Context) (*plugin.Module, error) {
	return b.host.Load(ctx, b.wasm, plugin.LoadOptions{Granted: contract.Everything()})
}

// close frees the host; a guest that hangs is freed by the process.
func (b *bench) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = b.host.Close(ctx) // the report is complete already
}

// restart measures loading once the code is compiled.
func (k *kit) restart(ctx context.Context) error {
	b, err := k.bench(ctx)
	if err != nil {
		return err
	}
	defer b.close()
	began := time.Now()
	if _, err := b.load(ctx); err != nil {
		k.report.add("load again", Failed, "%v", err)
		return nil
	}
	took := time.Since(began)
	k.report.StartUS = took.Microseconds()
	if k.options.CacheDir != "" && took > 150*time.Millisecond {
		k.report.add("starts quickly", Warning, "%s from the cache of compiled code", took.Round(time.Millisecond))
		return nil
	}
	k.report.add("starts quickly", OK, "%s", took.Round(10*time.Microsecond))
	return nil
}

// lint warns of what other programs make of the manifest.
func (k *kit) lint(m *contract.Manifest) {
	if m.License == "" {
		k.report.add("manifest", Warning, "no license")
	}
	for _, c := range m.Nodes() {
		for _, name := range c.Arguments.Names() {
			if p, _ := c.Arguments.Property(name); p.Description() == "" {
				k.report.add("manifest", Warning, "argument %s of %s has no description; a model reads it", name,
					c.NodeName())
			}
		}
		if len(k.cases) > 0 && !slices.ContainsFunc(k.cases, func(t Case) bool { return t.Component == c.Component }) {
			k.report.add("cases", Warning, "no cases for the component %s", c.Component)
		}
	}
}

// compare looks at the report before.
func (k *kit) compare() {
	last := k.options.Last
	if last == nil {
		return
	}
	grown := func(what string, before, now int64, percent int64) {
		if before > 0 && now > before+before*percent/100 {
			k.report.add("cost", Warning, "%s grew from %d to %d", what, before, now)
		}
	}
	grown("size in bytes", int64(last.Bytes), int64(k.report.Bytes), 10)
	for name, now := range k.report.Fuel {
		grown("fuel of "+name, last.Fuel[name], now, 10)
		grown("memory after "+name, last.Memory[name], k.report.Memory[name], 25)
	}
}

// JSON writes the report, indented.
func (r *Report) JSON() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }
