package script

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code/worker"
)

// hostile are scripts that allocate as much memory as possible, each in a different way.
var hostile = []struct{ name, script string }{
	{"array of strings", `function main() { const a = []; for (;;) a.push("x".repeat(100) + a.length) }`},
	{"array of numbers", `function main() { const a = []; for (;;) a.push(1.5) }`},
	{"nested arrays", `function main() { let a = []; for (;;) a = [a, [], []] }`},
	{"objects", `function main() { const a = []; for (;;) a.push({a: 1, b: 2}) }`},
	{"keys", `function main() { const o = {}; for (let i = 0; ; i++) o["key" + i] = i }`},
	{"string that doubles", `function main() { let s = "xy"; for (;;) s += s }`},
	{"wide string that doubles", `function main() { let s = "\u4e2d"; for (;;) s += s }`},
	{"repeat", `function main() { return "x".repeat(2 ** 30).length }`},
	{"repeat of a wide string", `function main() { return "\u4e2d".repeat(2 ** 29).length }`},
	{"padStart", `function main() { return "x".padStart(2 ** 30, "ab").length }`},
	{"padEnd, retained", `function main() { const a = []; for (let i = 0; ; i++) a.push("x".padEnd(2 ** 24, i)) }`},
	{"join", `function main() { return new Array(2 ** 20).fill("x".repeat(2 ** 12)).join("").length }`},
	{"join of holes", `function main() { return new Array(2 ** 28).join("abcd").length }`},
	{"replaceAll", `function main() { let s = "x".repeat(2 ** 16); return s.replaceAll("x", s).length }`},
	{"split", `function main() { return "x".repeat(2 ** 25).split("").length }`},
	{"concat", `function main() { let a = [1]; for (;;) a = a.concat(a) }`},
	{"spread", `function main() { let a = [1, 2]; for (;;) a = [...a, ...a] }`},
	{"spread into a call", `function main() { return Math.max(...new Array(2 ** 27).fill(1)) }`},
	{"Array.from", `function main() { return Array.from({length: 4e9}).length }`},
	{"Array.from with a function", `function main() { return Array.from({length: 1e9}, (_, i) => [i]).length }`},
	{"fill", `function main() { return new Array(2 ** 30).fill({}).length }`},
	{"flat", `function main() { let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return ` +
		`a.flat(Infinity).length }`},
	{"typed array", `function main() { return new Float64Array(2 ** 28).length }`},
	{"typed arrays, retained", `function main() { const a = []; for (;;) a.push(new Uint8Array(2 ** 20).fill(1)) }`},
	{"ArrayBuffer", `function main() { return new ArrayBuffer(2 ** 31 - 1).byteLength }`},
	{"Map", `function main() { const m = new Map(); for (let i = 0; ; i++) m.set(i, i) }`},
	{"Set of strings", `function main() { const m = new Set(); for (let i = 0; ; i++) m.add("key" + i) }`},
	{
		"WeakMap",
		`function main() { const m = new WeakMap(), a = []; for (;;) { const k = {}; a.push(k); m.set(k, [1]) } }`,
	},
	{"closures", `function main() { let f = () => 1; for (;;) { const g = f; f = () => g } }`},
	{"getters", `function main() { const o = {get more() { return {__proto__: o, data: new Array(100).fill(1), up: ` +
		`this} }}; let p = o; for (;;) p = p.more }`},
	{"generators", `function main() { function* g(x) { yield x }; const a = []; for (;;) { const i = g(a.length); ` +
		`i.next(); a.push(i) } }`},
	{"promises", `function main() { const a = []; for (;;) a.push(new Promise(r => a.push(r))) }`},
	{"timers", `async function main() { for (;;) setTimeout(() => 1, 1000) }`},
	{"symbols", `function main() { const o = {}; for (;;) o[Symbol("s")] = 1 }`},
	{"proxies", `function main() { let p = {}; for (;;) p = new Proxy(p, {}) }`},
	{"BigInt", `function main() { let n = 3n; for (;;) n = n * n }`},
	{"BigInt shifted", `function main() { return (1n << 4000000000n).toString().length }`},
	{
		"JSON.stringify of shared arrays",
		`function main() { let a = [1]; for (let i = 0; i < 40; i++) a = [a, a]; return JSON.stringify(a).length }`,
	},
	{"JSON.stringify with a gap", `function main() { let a = []; for (let i = 0; i < 2e4; i++) a = [a]; return ` +
		`JSON.stringify(a, null, "          ").length }`},
	{"JSON.parse", `function main() { return JSON.parse("[" + "[],".repeat(2 ** 23) + "0]").length }`},
	{"toJSON", `function main() { const o = {toJSON() { return {a: o, b: o} }}; return JSON.stringify(o) }`},
	{
		"error stacks",
		`function main() { const a = []; const f = n => n ? f(n - 1) : a.push(new Error("x")); for (;;) f(500) }`,
	},
	{"recursion with data", `function main(x) { const f = (n, s) => f(n + 1, s + s); return f(0, "ab") }`},
	{"recursion of a sort", `function main() { const f = () => [2, 1].sort(f); return f() }`},
	{"regular expression that collects", `function main() { return "x".repeat(2 ** 24).match(/x/g).length }`},
	{"regular expression with look-behind", `function main() { return "x".repeat(2 ** 22).replace(/(?<=x)/g, "$` + "`" +
		`").length }`},
	{"eval", `function main() { return eval("[" + "1,".repeat(2 ** 24) + "]").length }`},
	{
		"function with many arguments",
		`function main() { return Function(...new Array(2 ** 22).fill("a"), "return 1")() }`,
	},
	{"encodeURIComponent", `function main() { return encodeURIComponent("\u4e2d".repeat(2 ** 25)).length }`},
	{"normalize", `function main() { return "\ufdfa".repeat(2 ** 24).normalize("NFKD").length }`},
	{"console", `function main() { for (;;) console.log("x".repeat(2 ** 20)) }`},
	{
		"output of control characters",
		`function main() { const s = "\u0001".repeat(7e6); console.log(s); console.error(s); return s }`,
	},
	{"wide result", `function main() { let a = []; for (let i = 0; i < 9e5; i++) a.push({}); return a }`},
	{"template literal", "function main() { let s = \"x\"; for (;;) s = `${s}${s}` }"},
	{"toString with growing results", `function main() { let n = 0; const o = {toString() { return "x".repeat(2 ** ` +
		`(n++)) }}; let s = ""; for (;;) s += o }`},
}

// TestHostileScriptsStayWithinMemory checks that no worker uses more memory than is reserved for
// it.
func TestHostileScriptsStayWithinMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux limits the memory of a process")
	}
	const memory = 64 << 20
	self, err := os.Executable()
	require.NoError(t, err)
	for _, c := range hostile {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var peak atomic.Int64
			r := &Runner{
				Limits: Limits{Time: 250 * time.Millisecond, Memory: memory}, Worker: []string{self, "script-worker"},
				started: func(pid int) { go watchPeak(pid, &peak) },
			}
			start := time.Now()
			result, err := r.RunCode(t.Context(), call(c.script))
			t.Logf("%d MB, %v, %v", peak.Load()>>20, time.Since(start), err)
			if err == nil { // a recursion can reach the limit of depth before its time is up
				require.Contains(t, result.Stderr, "RangeError: functions call each other deeper")
			} else {
				require.ErrorIs(t, err, engine.ErrLimit)
			}
			require.Less(t, peak.Load(), int64(memory+worker.Overhead))
		})
	}
}

// watchPeak stores the peak resident memory of a process until the process exits.
func watchPeak(pid int, peak *atomic.Int64) {
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		_, rest, found := strings.Cut(string(text), "\nVmHWM:")
		if err != nil || !found {
			return
		}
		kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil {
			return
		}
		peak.Store(kib << 10)
		time.Sleep(2 * time.Millisecond)
	}
}
