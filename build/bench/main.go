// Command bench runs the benchmarks of the engine, of the host and of plugins. It prints each as a
// ratio to the baselines of the same run, or next to a fixed bound, and fails when a figure exceeds
// its limit, so that no slowdown goes unnoticed. `bench host`, `bench plugins` and
// `bench wallclock` run the benchmarks of one part only.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
)

// limit bounds the ratio of two benchmarks: of is at most most times base, in the given metric.
type limit struct {
	of, base, metric string
	most             float64 // 0 means no limit
	known            string  // reason why it is over the limit, if known and reported; the run does not fail then
}

var limits = []limit{
	{"BenchmarkChain/nodes=10", "BenchmarkFloorAppend", "ns/node", 4, ""},
	{"BenchmarkChain/nodes=100", "BenchmarkFloorAppend", "ns/node", 4, ""},
	{"BenchmarkChain/nodes=500", "BenchmarkFloorAppend", "ns/node", 4, ""},
	{
		"BenchmarkChain/nodes=10", "BenchmarkChain/nodes=500", "ns/node", 1.25,
		"a run costs about as much by itself as four nodes",
	},
	{"BenchmarkChain/nodes=100", "BenchmarkChain/nodes=500", "ns/node", 1.25, ""},
	{"BenchmarkChain/nodes=5000", "BenchmarkChain/nodes=500", "ns/node", 1.4, ""},
	{"BenchmarkChain/nodes=100", "BenchmarkFloorChannel", "ns/node", 1, ""},
	{"BenchmarkFanOut/nodes=50", "BenchmarkFloorAppend", "ns/node", 4, ""},
	{"BenchmarkIteration/items=200", "BenchmarkChain/nodes=500", "ns/node", 1.5, ""},
	{"BenchmarkWaiting/joins=500", "BenchmarkChain/nodes=500", "ns/node", 3, ""},
	{
		"BenchmarkRunLog/nodes=100/log=memory", "BenchmarkRunLog/nodes=100/log=none", "ns/node", 1.5,
		"a run without a log became faster by more than one with a log",
	},
	{"BenchmarkRunLog/nodes=100/log=file", "BenchmarkRunLog/nodes=100/log=none", "ns/node", 2, ""},
	{
		"js BenchmarkChain/nodes=100", "BenchmarkChain/nodes=100", "ns/node", 8,
		"native code became faster by more than the module: see docs/decisions/engine-speed.md",
	},
	// Figures per second: the baseline may be at most this multiple of the figure.
	{"BenchmarkRunsOverHTTP/floor=synced-writes-in-a-loop", "BenchmarkRunsOverHTTP/sync=contract", "runs/s", 2, ""},
	{
		"BenchmarkRunsOverHTTP/floor=synced-writes", "BenchmarkRunsOverHTTP/sync=contract", "runs/s", 2,
		"writers at once share their syncs, so the processor is the limit and the work of a request counts",
	},
	{
		"BenchmarkRunsOverHTTP/floor=synced-writes-in-a-loop", "BenchmarkRunsOverHTTP/sync=contract,one-client",
		"runs/s", 2,
		"where a sync costs less than the work of a request, the processor is the limit, not the disk",
	},
	{
		"BenchmarkRunsOverHTTP/floor=engine", "BenchmarkRunsOverHTTP/sync=interval", "runs/s", 0,
		"buffered, not synced: HTTP, log and records against the bare engine",
	},
}

// bound is an absolute limit: the figure is at least or at most a fixed value.
type bound struct {
	of, metric  string
	least, most float64 // 0 means no limit
}

var bounds = []bound{
	{of: "BenchmarkReferences/refs=1000", metric: "x-join", most: 2},
	{of: "BenchmarkRunsOverHTTP/sync=interval", metric: "runs/s", least: 2000},
	{of: "BenchmarkFirstEvent", metric: "p50-ms", most: 10},
	{of: "BenchmarkFirstEvent", metric: "p99-ms", most: 50},
	{of: "BenchmarkPiece/sync=interval", metric: "p50-ms", most: 2},
	{of: "BenchmarkOpenStreams", metric: "MB", most: 400},
	{of: "BenchmarkCancelOverHTTP", metric: "p99-ms", most: 100},
	{of: "BenchmarkRunsOverHTTP/sync=contract", metric: "cpu-us/run"},
	{of: "BenchmarkRunsOverHTTP/sync=interval", metric: "cpu-us/run"},
}

// mostAllocs is the number of allocations per node that a chain may make.
const mostAllocs = 4

func main() {
	what := run
	if len(os.Args) > 1 {
		what = map[string]func() error{"host": host, "plugins": plugins, "wallclock": wallclockPart}[os.Args[1]]
	}
	if what == nil {
		fmt.Fprintf(os.Stderr, "bench: unknown part %q; use host, plugins or wallclock\n", os.Args[1])
		os.Exit(2)
	}
	if err := what(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	results := map[string]map[string][]float64{}
	if err := measure(results, "", "", nil, "./engine", "-bench", ".", "-count", "3", "-benchtime",
		"200ms"); err != nil {
		return err
	}
	if err := measureHost(results); err != nil {
		return err
	}
	js := []string{"GOOS=js", "GOARCH=wasm"}
	if _, err := exec.LookPath("node"); err != nil {
		fmt.Println("node is missing: the js/wasm figures are left out")
	} else if err := measure(results, "js ", "", js, "./engine", "-bench", "Chain/nodes=100$", "-count", "3",
		"-benchtime", "200ms", "-exec", jsExec()); err != nil {
		return err
	}
	return errors.Join(report(results), plugins(), wallclockPart())
}

func measureHost(results map[string]map[string][]float64) error {
	return measure(results, "", "", nil, "./host", "-bench", ".", "-benchtime", "1x")
}

// host runs the benchmarks of the host only.
func host() error {
	results := map[string]map[string][]float64{}
	if err := measureHost(results); err != nil {
		return err
	}
	over := compare(results, slices.DeleteFunc(slices.Clone(limits),
		func(l limit) bool { return results[l.of] == nil }))
	return tooMany(over + checkBounds(results, bounds))
}

func tooMany(over int) error {
	if over == 0 {
		return nil
	}
	return fmt.Errorf("%d figures are over their limit", over)
}

func jsExec() string {
	root, _ := exec.Command("go", "env", "GOROOT").Output()
	return string(bytes.TrimSpace(root)) + "/lib/wasm/go_js_wasm_exec"
}

var (
	row    = regexp.MustCompile(`^(Benchmark\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)
	figure = regexp.MustCompile(`([\d.]+) (\S+)`)
)

// measure runs benchmarks in the module of dir, or of this repository if it is empty, and collects
// every figure by name and metric.
func measure(results map[string]map[string][]float64, prefix, dir string, env []string, args ...string) error {
	cmd := exec.Command("go", append([]string{"test", "-run", "^$", "-benchmem"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go %v: %w\n%s", cmd.Args[1:], err, out)
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		m := row.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		name := prefix + m[1]
		if results[name] == nil {
			results[name] = map[string][]float64{}
		}
		for _, f := range figure.FindAllStringSubmatch(m[2], -1) {
			n, err := strconv.ParseFloat(f[1], 64)
			if err != nil {
				return err
			}
			results[name][f[2]] = append(results[name][f[2]], n)
		}
	}
	return lines.Err()
}

// best returns the lowest figure: for times, that is the run least disturbed by other processes.
// Figures per second are measured once.
func best(results map[string]map[string][]float64, name, metric string) (float64, bool) {
	list := results[name][metric]
	if len(list) == 0 {
		return 0, false
	}
	return slices.Min(list), true
}

func (l bound) describe() string {
	switch {
	case l.least > 0:
		return fmt.Sprintf(", at least %g", l.least)
	case l.most > 0:
		return fmt.Sprintf(", at most %g", l.most)
	}
	return ""
}

// checkBounds prints figures next to their bounds and counts those that miss them.
func checkBounds(results map[string]map[string][]float64, promises []bound) (missed int) {
	for _, l := range promises {
		list := results[l.of][l.metric]
		if len(list) == 0 {
			fmt.Printf("%-40s not measured\n", l.of)
			continue
		}
		got, mark := list[0], ""
		if got < l.least || l.most > 0 && got > l.most {
			mark = "  missed"
			missed++
		}
		fmt.Printf("%-40s %10.1f   %-34s%s\n", l.of, got, l.metric+l.describe(), mark)
	}
	return missed
}

// compare prints ratios and counts those over their limits.
func compare(results map[string]map[string][]float64, limits []limit) (over int) {
	fmt.Printf("%-40s %10s   %-34s %6s %6s\n", "benchmark", "figure", "against", "ratio", "most")
	for _, l := range limits {
		of, ok := best(results, l.of, l.metric)
		base, okBase := best(results, l.base, l.metric)
		if !ok || !okBase {
			fmt.Printf("%-40s not measured\n", l.of)
			continue
		}
		mark := ""
		switch {
		case l.most == 0:
			mark = "  " + l.known
		case of > l.most*base:
			mark = "  over: " + l.known
			if l.known == "" {
				over++
			}
		}
		fmt.Printf("%-40s %10.0f   %-34s %6.2f %6.2f%s\n", l.of, of, l.base, of/base, l.most, mark)
	}
	return over
}

func report(results map[string]map[string][]float64) error {
	over := compare(results, limits) + checkBounds(results, bounds)
	if allocs, ok := best(results, "BenchmarkChain/nodes=100", "allocs/op"); ok {
		fmt.Printf("%-40s %10.2f allocations per node, at most %d\n", "BenchmarkChain/nodes=100", allocs/100,
			mostAllocs)
		if allocs/100 > mostAllocs {
			over++
		}
	}
	return tooMany(over)
}
