// Command bench runs the engine's benchmarks and prints each as a ratio to the floors of the same run. It fails
// when a ratio is over its limit, so that nothing becomes slower unnoticed.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
)

// limit is a promise: of is at most most times what base is, in the given metric.
type limit struct {
	of, base, metric string
	most             float64
	known            string // why it is over, where that is understood and reported; it does not fail the run
}

var limits = []limit{
	{"BenchmarkChain/nodes=10", "BenchmarkFloorAppend", "ns/node", 4, ""},
	{"BenchmarkChain/nodes=100", "BenchmarkFloorAppend", "ns/node", 4, ""},
	{"BenchmarkChain/nodes=500", "BenchmarkFloorAppend", "ns/node", 4, ""},
	{"BenchmarkChain/nodes=10", "BenchmarkChain/nodes=500", "ns/node", 1.25, "a run costs about 2 us by itself, as much as four nodes"},
	{"BenchmarkChain/nodes=100", "BenchmarkChain/nodes=500", "ns/node", 1.25, ""},
	{"BenchmarkChain/nodes=5000", "BenchmarkChain/nodes=500", "ns/node", 1.4, ""},
	{"BenchmarkChain/nodes=100", "BenchmarkFloorChannel", "ns/node", 1, ""},
	{"BenchmarkFanOut/nodes=50", "BenchmarkFloorAppend", "ns/node", 6, ""},
	{"BenchmarkIteration/items=200", "BenchmarkChain/nodes=500", "ns/node", 1.5, ""},
	{"BenchmarkWaiting/joins=500", "BenchmarkChain/nodes=500", "ns/node", 3, ""},
	{"BenchmarkReferences/refs=1000", "BenchmarkFloorJoin", "ns/op", 2, ""},
	{"BenchmarkRunLog/nodes=100/log=memory", "BenchmarkRunLog/nodes=100/log=none", "ns/node", 1.5, ""},
	{"BenchmarkRunLog/nodes=100/log=file", "BenchmarkRunLog/nodes=100/log=none", "ns/node", 2, ""},
	{"js BenchmarkChain/nodes=100", "BenchmarkChain/nodes=100", "ns/node", 8, ""},
}

// allocations per node that a chain may make.
const mostAllocs = 10

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	results := map[string]map[string][]float64{}
	if err := measure(results, "", nil, "-bench", ".", "-count", "3"); err != nil {
		return err
	}
	js := []string{"GOOS=js", "GOARCH=wasm"}
	if _, err := exec.LookPath("node"); err != nil {
		fmt.Println("node is missing: the js/wasm figures are left out")
	} else if err := measure(results, "js ", js, "-bench", "Chain/nodes=100$", "-count", "3", "-exec", jsExec()); err != nil {
		return err
	}
	return report(results)
}

func jsExec() string {
	root, _ := exec.Command("go", "env", "GOROOT").Output()
	return string(bytes.TrimSpace(root)) + "/lib/wasm/go_js_wasm_exec"
}

var row = regexp.MustCompile(`^(Benchmark\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)
var figure = regexp.MustCompile(`([\d.]+) (\S+)`)

// measure runs benchmarks and collects every figure by name and metric.
func measure(results map[string]map[string][]float64, prefix string, env []string, args ...string) error {
	cmd := exec.Command("go", append([]string{"test", "./engine", "-run", "^$", "-benchmem", "-benchtime", "200ms"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
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

// best is the lowest figure: the run least disturbed by others on the machine.
func best(results map[string]map[string][]float64, name, metric string) (float64, bool) {
	list := results[name][metric]
	if len(list) == 0 {
		return 0, false
	}
	return slices.Min(list), true
}

func report(results map[string]map[string][]float64) error {
	over := 0
	fmt.Printf("%-40s %10s   %-34s %6s %6s\n", "benchmark", "figure", "against", "ratio", "most")
	for _, l := range limits {
		of, ok := best(results, l.of, l.metric)
		base, okBase := best(results, l.base, l.metric)
		if !ok || !okBase {
			fmt.Printf("%-40s not measured\n", l.of)
			continue
		}
		mark := ""
		if of > l.most*base {
			mark = "  over: " + l.known
			if l.known == "" {
				over++
			}
		}
		fmt.Printf("%-40s %10.0f   %-34s %6.2f %6.2f%s\n", l.of, of, l.base, of/base, l.most, mark)
	}
	if allocs, ok := best(results, "BenchmarkChain/nodes=100", "allocs/op"); ok {
		fmt.Printf("%-40s %10.2f allocations per node, at most %d\n", "BenchmarkChain/nodes=100", allocs/100, mostAllocs)
		if allocs/100 > mostAllocs {
			over++
		}
	}
	if over > 0 {
		return fmt.Errorf("%d figures are over their limit", over)
	}
	return nil
}
