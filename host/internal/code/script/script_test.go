package script

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/easel-canvas/easel/engine"
	"github.com/easel-canvas/easel/host/internal/code/worker"
	"github.com/easel-canvas/easel/host/internal/limit/memlimit"
)

// TestMain makes the test binary its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "script-worker" {
		if err := Work(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// patient is more time than a busy machine needs for a script.
const patient = 5 * time.Minute

// modes returns a runner for each way to run a script; both must give the same results.
func modes(t *testing.T, limits Limits) map[string]*Runner {
	self, err := os.Executable()
	require.NoError(t, err)
	return map[string]*Runner{
		"inside": {Limits: limits},
		"worker": {Limits: limits, Worker: []string{self, "script-worker"}},
	}
}

func call(script string) *engine.CodeCall {
	args, err := engine.ParseJSONText(`{"text": "grüß", "n": 2, "list": [1, {"a": null}], "big": 12345678901234567890}`)
	if err != nil {
		panic(err)
	}
	return &engine.CodeCall{Language: "javascript", Script: script, Arguments: args}
}

func TestScripts(t *testing.T) {
	for _, c := range []struct{ name, script, value, stdout, stderr string }{
		{"main takes one object", `function main({text, n}) { return text.toUpperCase() + n }`, `"GRÜSS2"`, "", ""},
		{
			"an object keeps its order", `function main(a) { return {z: a.list, a: 1.5, u: undefined, f() {}} }`,
			`{"z":[1,{"a":null}],"a":1.5}`, "", "",
		},
		{"an async main", `async function main() { await null; return [1, 2] }`, `[1,2]`, "", ""},
		{"a promise with a timer", `const main = () => new Promise(r => setTimeout(r, 5, "later"))`, `"later"`, "", ""},
		{
			"timers run in order",
			`const main = async () => { let s = ""; setTimeout(() => s += "b", 8); setTimeout(() => s += "a", 1); ` +
				`await new Promise(r => setTimeout(r, 12)); return s }`, `"ab"`, "", "",
		},
		{"timers fire in order, however slow the script is", `const main = async () => {
			let s = ""
			const busy = () => { for (const t = Date.now(); Date.now() - t < 30;); }
			setTimeout(() => { s += "b"; busy(); setTimeout(() => s += "c", 5) }, 8)
			busy()
			setTimeout(() => s += "a", 1)
			setTimeout(() => s += "d", 15)
			await new Promise(r => setTimeout(r, 20))
			return s
		}`, `"abcd"`, "", ""},
		{
			"a timer with a negative delay",
			`const main = async () => { let s = ""; setTimeout(() => s += "a", 0); setTimeout(() => s += "b", ` +
				`-1e300); await new Promise(r => setTimeout(r, 1)); return s }`, `"ab"`, "", "",
		},
		{
			"a cleared timer",
			`const main = () => new Promise(r => { clearTimeout(setTimeout(() => r(1), 1)); setTimeout(() => r(2), ` +
				`5) })`, `2`, "", "",
		},
		{"module.exports", `module.exports = { main: (a) => a.n + 1 }`, `3`, "", ""},
		{"module.exports as a function", `module.exports = () => true`, `true`, "", ""},
		{
			"printed text", `function main() { console.log("a", {b: [1]}, null); console.error("c") }`, `null`,
			"a {\"b\": [1]} null\n", "c\n",
		},
		{
			"dates and numbers", `function main() { return [new Date(0), 0/0, 1e21, -0, 2**53, new Number(4)] }`,
			`["1970-01-01T00:00:00.000Z",null,1e+21,0,9007199254740992,4]`, "", "",
		},
		{
			"a thrown error", `function main() { throw new Error("no luck") }`, `null`, "",
			"Error: no luck\n\tat main (script.js:1:25(3))\n",
		},
		{"a promise that throws a string", `async function main() { throw "no luck" }`, `null`, "", "no luck\n"},
		{"main is missing", `let x = 1`, `null`, "", "the script defines no function main(args)\n"},
		{"a cyclic result", `function main() { const a = []; a.push(a); return a }`, `error: holds itself`, "", ""},
		{"a promise that never settles", `const main = () => new Promise(() => {})`, `error: never settled`, "", ""},
	} {
		for mode, r := range modes(t, Limits{Time: patient}) {
			t.Run(c.name+" "+mode, func(t *testing.T) {
				res, err := r.RunCode(t.Context(), call(c.script))
				if want, ok := strings.CutPrefix(c.value, "error: "); ok {
					require.ErrorContains(t, err, want)
					return
				}
				require.NoError(t, err)
				require.Equal(t, c.value, res.Value.JSON())
				require.Equal(t, c.stdout, res.Stdout)
				require.Equal(t, c.stderr, res.Stderr)
			})
		}
	}
}

func TestUnsupportedFeatures(t *testing.T) {
	for _, c := range []struct{ name, script, stderr string }{
		{"modules", `const fs = require("fs"); function main() {}`, "scripts run without modules"},
		{"import", "import fs from 'fs'\nfunction main() {}", "import and export are not available"},
		{"export", "export function main() {}", "import and export are not available"},
		{"a syntax error", "function main( {", "SyntaxError"},
		{"infinite recursion", "function main() { return main() + 1 }", "RangeError"},
		{
			"infinite recursion through toString",
			"const o = { toString() { return '' + o } }; const main = () => '' + o",
			"RangeError",
		},
		{"Node.js globals", "function main() { return process.env }", "ReferenceError: process is not defined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := (&Runner{Limits: Limits{Time: patient}}).RunCode(t.Context(), call(c.script))
			require.NoError(t, err)
			require.Contains(t, res.Stderr, c.stderr)
			require.True(t, res.Value.IsNull())
		})
	}
}

func TestLimits(t *testing.T) {
	limits := Limits{Time: patient, Memory: 32 << 20, Output: 1000}
	for _, c := range []struct{ name, script, want string }{
		{"an infinite loop", `function main() { for (;;) {} }`, "ran longer than 1s"},
		{"an infinite loop at the top level", `for (;;) {}`, "ran longer than 1s"},
		{
			"a timer beyond the time limit", `const main = () => new Promise(r => setTimeout(r, 1e6))`,
			"ran longer than 1s",
		},
		{
			"an array that grows without bound",
			`function main() { const a = []; for (;;) a.push("x".repeat(100) + a.length) }`,
			"more than 32 MB of memory",
		},
		{"a string that doubles", `function main() { let s = "xy"; for (;;) s += s }`, "more than 32 MB of memory"},
		{"a large result", `function main() { return "x".repeat(2000) }`, "larger than it may be"},
		{"a sparse array", `function main() { return new Array(4e9) }`, "larger than it may be"},
		{
			"few objects that expand to unbounded text",
			`function main() { let a = [1]; for (let i = 0; i < 50; i++) a = [a, a]; return a }`,
			"larger than it may be",
		},
	} {
		own := limits
		if strings.HasPrefix(c.want, "ran longer") {
			own.Time = time.Second
		}
		for mode, r := range modes(t, own) {
			t.Run(c.name+" "+mode, func(t *testing.T) {
				if !strings.HasSuffix(c.want, "memory") { // scripts that run concurrently share the measured memory
					t.Parallel()
				}
				_, err := r.RunCode(t.Context(), call(c.script))
				require.ErrorIs(t, err, engine.ErrLimit)
				require.ErrorContains(t, err, c.want)
			})
		}
	}
}

func TestOutputIsTruncated(t *testing.T) {
	r := &Runner{Limits: Limits{Time: patient, Output: 100}}
	res, err := r.RunCode(t.Context(),
		call(`function main() { for (let i = 0; i < 1000; i++) console.log("line " + i) }`))
	require.NoError(t, err)
	require.LessOrEqual(t, len(res.Stdout), 100+len(cutNote))
	require.True(t, strings.HasSuffix(res.Stdout, cutNote))
}

// These scripts terminate their process, so they need a worker.
func TestCrashesAreConfinedToTheWorker(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"nested brackets", `const main = () => eval("(".repeat(1e6) + "1" + ")".repeat(1e6))`},
		{
			"JSON of a deeply nested array",
			`function main() { let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return JSON.stringify(a) }`,
		},
		{"a single step that exhausts memory", `function main() { return Array.from({length: 4e9}).length }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := modes(t, Limits{Time: time.Second, Memory: 64 << 20})["worker"]
			_, err := r.RunCode(t.Context(), call(c.script))
			require.ErrorIs(t, err, engine.ErrLimit)
		})
	}
}

func TestCancelStopsScript(t *testing.T) {
	for mode, r := range modes(t, Limits{}) {
		t.Run(mode, func(t *testing.T) {
			best := time.Hour
			for range 5 {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				start := time.Now()
				_, err := r.RunCode(ctx, call(`function main() { for (;;) {} }`))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				best = min(best, time.Since(start))
				cancel()
			}
			// The best of five, because the machine may be busy.
			require.Less(t, best, 900*time.Millisecond)
		})
	}
}

func TestMemoryWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := memlimit.New("scripts", 2*(worker.Arena+worker.Overhead))
		r := &Runner{Limits: Limits{Time: time.Second}, Memory: budget}
		holder := budget.Open()
		require.NoError(t, holder.Grow(worker.Arena+worker.Overhead))
		_, err := r.RunCode(t.Context(), call(`function main() { return 1 }`))
		require.NoError(t, err, "the budget fits two scripts")

		require.NoError(t, holder.Grow(1))
		ctx, cancel := context.WithCancel(t.Context())
		canceled, done := make(chan error, 1), make(chan error, 1)
		run := func(ctx context.Context, done chan error) {
			_, err := r.RunCode(ctx, call(`const main = () => new Promise(r => setTimeout(r, 900, 1))`))
			done <- err
		}
		go run(ctx, canceled)
		synctest.Wait()
		go run(t.Context(), done)
		time.Sleep(time.Minute)
		require.Empty(t, canceled)
		cancel()
		synctest.Wait()
		require.ErrorIs(t, <-canceled, context.Canceled, "a canceled script stops waiting")
		require.Empty(t, done)
		holder.Close()
		require.NoError(t, <-done, "waiting does not count toward the time limit")
		require.Zero(t, budget.Used())
	})
}

func TestLargeResultsAreRejected(t *testing.T) {
	for mode, r := range modes(t, Limits{Time: patient, Output: 10_000}) {
		if mode != "worker" {
			continue // only the results of a worker are encoded
		}
		_, err := r.RunCode(t.Context(),
			call(`function main() { const s = "\u0001".repeat(9000); console.log(s); return s }`))
		require.ErrorIs(t, err, engine.ErrLimit)
		require.ErrorContains(t, err, "the result is larger than it may be")
	}
}

// A failed worker is an error of the host, not a limit that the script exceeded.
func TestFailedWorkerIsNotALimit(t *testing.T) {
	r := &Runner{Worker: []string{"/bin/sh", "-c", "echo no such option >&2; exit 1"}}
	_, err := r.RunCode(t.Context(), call(`function main() { return 1 }`))
	require.ErrorContains(t, err, "no such option")
	require.NotErrorIs(t, err, engine.ErrLimit)
}

func TestWorkerSeesNoEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "secret")
	res, err := (&Runner{Worker: []string{
		"/bin/sh", "-c",
		`printf '{"Result":{"Value":null,"Stdout":"%s"}}' "$OPENAI_API_KEY"`,
	}}).RunCode(t.Context(), call(""))
	require.NoError(t, err)
	require.Empty(t, res.Stdout)
}

func TestOtherLanguagesAreRejected(t *testing.T) {
	_, err := (&Runner{}).RunCode(t.Context(), &engine.CodeCall{Language: "python", Script: "def main(): pass"})
	require.ErrorIs(t, err, ErrLanguage)
	require.ErrorIs(t, err, engine.ErrNoPort)
	require.ErrorContains(t, err, "runs javascript only")
}
