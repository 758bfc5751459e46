package failure_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine/enginetest/sketch"
	"github.com/easel-canvas/easel/host/internal/testing/servertest"
)

// greedyScripts allocate all the memory they can: in many small steps, in one large step, as stack,
// and as results.
var greedyScripts = map[string]string{
	"array":       `function main() { const a = []; for (;;) a.push("x".repeat(100) + a.length) }`,
	"doubling":    `function main() { let s = "xy"; for (;;) s += s }`,
	"one step":    `function main() { return "x".repeat(2 ** 30).length }`,
	"typed array": `function main() { const a = []; for (;;) a.push(new Uint8Array(2 ** 20).fill(1)) }`,
	"map":         `function main() { const m = new Map(); for (let i = 0; ; i++) m.set("key" + i, [i]) }`,
	"array from":  `function main() { return Array.from({length: 4e9}).length }`,
	"stack":       `const main = () => eval("(".repeat(250000) + "1" + ")".repeat(250000))`,
	"big integer": `function main() { return (1n << 4000000000n).toString().length }`,
	"output":      `function main() { const s = "\u4e2d".repeat(2.5e6); console.log(s); console.error(s); return s }`,
	"objects":     `function main() { return Array.from({length: 9e5}, () => ({})) }`,
}

// codeCanvas runs a script.
func codeCanvas(script string) string {
	params, err := json.Marshal(map[string]any{"lang": "javascript", "script": script})
	if err != nil {
		panic(err)
	}
	return sketch.Chain("begin Begin", "C CodeExec "+string(params), `M Message {"content":"{C@result}"}`)
}

// hostileScripts is the part of the greedy scripts that `make test` runs.
func hostileScripts(t *testing.T, bin programs) {
	runHostileScripts(t, bin, "doubling", "one step", "typed array", "output", "objects")
}

// runHostileScripts runs greedy scripts, all at once, on a host of 1 GiB. The host and the
// processes of the scripts stay within that together, every run ends with the code of a limit or
// succeeds, and another script is run in between.
func runHostileScripts(t *testing.T, bin programs, names ...string) {
	const memory = 1 << 30
	w := embedded(t, bin)
	h := w.start("a", "--memory", strconv.Itoa(memory))
	t.Logf("in a control group: %v", confine(t, h, memory))
	over, watched := make(chan struct{}), make(chan int64)
	go func() { watched <- peakWithChildren(h.PID(), over) }()
	w.runGreedyScripts(h, names)
	close(over)
	all, alone := <-watched, servertest.PeakMemory(t, h.PID())
	t.Logf("peak of the host %d MB, with its scripts %d MB", alone/1e6, all/1e6)
	require.Less(t, alone, int64(600e6))
	require.Less(t, all, int64(memory))
}

// runGreedyScripts runs greedy scripts and another script concurrently.
func (w *world) runGreedyScripts(h *hostProcess, names []string) {
	accepted := append([]string{"limit_reached"}, limitCodes...)
	var group sync.WaitGroup
	for _, name := range names {
		canvas := w.canvas(codeCanvas(greedyScripts[name]))
		group.Go(func() {
			end := w.end(w.run(h, canvas, "", "x"))
			if end.Status != "succeeded" && (end.Status != "failed" || !slices.Contains(accepted, end.Code)) {
				w.t.Errorf("script %q ended as %+v", name, end)
			}
		})
	}
	healthy := w.canvas(codeCanvas(`function main() { return "fine" }`))
	require.Equal(w.t, "succeeded", w.end(w.run(h, healthy, "", "x")).Status)
	group.Wait()
}

// peakWithChildren returns the most memory that a process and its children hold together until over
// is closed. The program itself, which all of them share, counts once.
func peakWithChildren(pid int, over <-chan struct{}) (peak int64) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		sum := statusField(strconv.Itoa(pid), "VmRSS") << 10
		all, _ := filepath.Glob("/proc/[0-9]*") // the pattern is right
		for _, dir := range all {
			if name := filepath.Base(dir); statusField(name, "PPid") == int64(pid) {
				sum += statusField(name, "RssAnon") << 10
			}
		}
		peak = max(peak, sum)
		select {
		case <-over:
			return peak
		case <-tick.C:
		}
	}
}

// statusField returns a number from the status of a process; 0 when the process has ended.
func statusField(pid, name string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%s/status", pid))
	if err != nil {
		return 0
	}
	_, rest, found := strings.Cut(string(text), "\n"+name+":")
	if !found {
		return 0
	}
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		return 0
	}
	return n
}
